"""Runs command blocks of the documentation against an installation.

A block of indented lines is run if a comment stands before it: `<!-- runnable: program.c -->`. The comment lists the files
that the commands expect in their folder (`program` is program.c, compiled); the blocks of a page share one folder. Two
blanks begin a remark."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Iterator, NamedTuple

from armci_tool import process, repository, scratch_folders
from armci_tool.installed import Place, case_of
from armci_tool.repository import ROOT, source_files
from armci_tool.results import Case

# The prefix that pages use.
_PREFIX = "/opt/armci"
_BLOCK = re.compile(r"^<!-- runnable:(.*) -->\n\n((?:    .*\n)+)", re.MULTILINE)
_FILES = {"program.c": ROOT / "examples" / "hello.c", "runtime.c": ROOT / "examples" / "transpose.c",
          "solver.f90": ROOT / "integration" / "clients" / "fortran_module.f90"}
_COMPILE = f"mpicc program.c -o program -I{_PREFIX}/include -L{_PREFIX}/lib -Wl,--enable-new-dtags,-rpath,{_PREFIX}/lib -larmci"
_TIME_LIMIT_S = 180.0


class Block(NamedTuple):
    """Commands to run, one after the other."""

    page: Path
    line: int
    files: tuple[str, ...]
    commands: str


def blocks(page: Path) -> list[Block]:
    """Those of a page that are marked."""
    text = page.read_text()
    return [Block(page, text.count("\n", 0, found.start(2)) + 1, tuple(found.group(1).split()),
                  "\n".join(re.split(r"(?<=\S)\s{2,}", line.strip())[0] for line in found.group(2).splitlines()))
            for found in _BLOCK.finditer(text)]


def run(place: Place, environment: dict[str, str]) -> Iterator[Case]:
    """A case for each block of each page."""
    for page in source_files(ROOT, ".md"):
        found = blocks(page)
        if not found:
            continue
        with scratch_folders.make() as folder:
            tools = _tools(folder / "bin", place)
            for block in found:
                compiled = "program" in block.files
                for name in block.files:
                    source = "program.c" if name == "program" else name
                    shutil.copy(_FILES[source], folder / source)
                commands = "\n".join([*([_COMPILE] if compiled else []), block.commands])
                made = process.run(["bash", "-ec", _of_the_installation(commands, place)], cwd=folder, timeout_s=_TIME_LIMIT_S,
                                   environment={**environment, "PATH": f"{tools}:/usr/local/bin:/usr/bin:/bin"})
                yield case_of(f"{page.relative_to(ROOT)}, commands at line {block.line}", made, made.ok)


def _of_the_installation(commands: str, place: Place) -> str:
    """With its prefix. The last implementation that is installed stands for each that is not."""
    missing = [name for name in repository.implementations() if name not in place.names]
    pattern = rf"\b({'|'.join(map(re.escape, missing))})\b" if missing else r"$^"
    return re.sub(pattern, place.names[-1], commands).replace(_PREFIX, str(place.root))


def _tools(folder: Path, place: Place) -> Path:
    """The commands of the MPI library of the installation, without its name."""
    folder.mkdir()
    for name in ("mpicc", "mpicxx", "mpif90", "mpirun"):
        # No link: MPICH's launcher looks for its other programs beside itself.
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec {shutil.which(f"{name}.{place.mpi}")} "$@"\n')
        script.chmod(0o755)
    return folder
