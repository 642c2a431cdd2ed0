"""The Parallel Research Kernels: ours by ARMCI, and the originals beside."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Mapping, Sequence

from armci_tool.applications import sources
from armci_tool.applications.armci import root
from armci_tool.applications.recipe import Program, Recipe, Work
from armci_tool.repository import ROOT

PRK = ROOT / "integration" / "prk"
# Folder of the originals, and arguments that take seconds: of ours, and of the originals where theirs are others.
_KERNELS = {"p2p": ("Synch_p2p", ("20", "1024", "1024"), None), "stencil": ("Stencil", ("20", "1024"), None),
            "transpose": ("Transpose", ("20", "1024"), ("20", "1024", "32")), "random": ("Random", ("16", "4", "64"), ("4", "16")),
            "sparse": ("Sparse", ("20", "10", "4"), None)}
# The other versions in the archive, by folder: the title in the table.
_MODELS = {"MPI1": "MPI messages", "MPIRMA": "MPI one-sided", "SHMEM": "OpenSHMEM"}
_VALIDATES = "Solution validates"


def _build(work: Work) -> None:
    tree, folder, library, note = work.tree, work.folder, work.library, work.note
    shutil.copytree(PRK, folder, dirs_exist_ok=True)
    sources.must(["make", "-B", f"ARMCI={root(library)}", f"MPI={library.mpi}", "CFLAGS=-O2"], folder, "cannot build the kernels on ARMCI",
                 sources.stage("building the kernels on ARMCI", note))
    # Its own documents require this file.
    (tree / "common" / "make.defs").write_text(f"CC=gcc -std=c11\nMPICC=mpicc.{library.mpi}\nSHMEMCC=oshcc\nDEFAULT_OPT_FLAGS=-O2\n")
    for model in _MODELS:
        if model == "SHMEM" and library.mpi != "openmpi":
            continue  # OpenSHMEM comes with Open MPI
        for program, (kernel, _, _) in _KERNELS.items():
            if (tree / model / kernel).is_dir():
                sources.must(["make", "-B", program], tree / model / kernel, f"cannot build {model}/{kernel}",
                             sources.stage(f"building {model}/{kernel}", note))


def _programs(folder: Path, built_on: str) -> Mapping[str, Sequence[Program]]:
    made = {built_on: [Program(name, folder / "build" / name, arguments, _VALIDATES)
                       for name, (_, arguments, _) in _KERNELS.items()]}
    for model, title in _MODELS.items():
        made[title] = [Program(name, folder / "source" / model / kernel / name, theirs or arguments, _VALIDATES)
                       for name, (kernel, arguments, theirs) in _KERNELS.items() if (folder / "source" / model / kernel / name).is_file()]
    return made


RECIPE = Recipe("prk", "Parallel Research Kernels", "prk-*.tar.*", _build, _programs, (2, 4), 240.0, has_baseline=False,
                own_sources=(PRK,), models=tuple(_MODELS.values()), has_files=("MPI1", "common"),
                overridden=("CFLAGS",))
