"""Global Arrays, by its autotools build."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Mapping, Sequence

from armci_tool.applications import sources
from armci_tool.applications.recipe import Program, Recipe, Work, executables


def _build(work: Work) -> None:
    # Its autogen.sh would download.
    work.note("making the configure of Global Arrays")
    sources.must(["autoreconf", "-fi"], work.tree, "cannot make the configure of Global Arrays", work.note)
    work.folder.mkdir()
    armci = work.armci
    flags = {"CFLAGS": "-O2 -g", "FFLAGS": "-O2 -g -fallow-argument-mismatch", **armci.compilers}
    work.note("configuring Global Arrays")
    sources.must([str(work.tree / "configure"), f"--prefix={prefix(work.folder.parent)}", "--with-mpi", f"--with-armci={armci.prefix}",
                  "--enable-i8", "--with-blas4=-lopenblas", "--with-lapack=-lopenblas",
                  f"--with-scalapack=-lscalapack-{armci.mpi}", *(f"{name}={value}" for name, value in flags.items())],
                 work.folder, "cannot configure Global Arrays", work.note)
    for target in ("install", "checkprogs"):
        work.note(f"building Global Arrays: {target}")
        sources.must(["make", f"-j{os.cpu_count()}", target], work.folder, "cannot build Global Arrays", work.note,
                     LIBRARY_PATH=str(armci.prefix / "lib"))


def prefix(folder: Path) -> Path:
    """Where an application finds it installed: `folder` is what the recipe returned."""
    return folder / "prefix"


def _programs(folder: Path, built_on: str) -> Mapping[str, Sequence[Program]]:
    root = folder / "build"
    # Several folders have a program of one name. What is serial has no library below it.
    return {built_on: [Program(str(path.relative_to(root).with_suffix("")), path) for path in executables(root, "**/*.x")
                       if path.relative_to(root).parts[0] != "ma"]}


RECIPE = Recipe("ga", "Global Arrays", "ga-5*.tar.*", "2", _build, _programs, (2, 4, 5), 60.0, has_file="global/src")
