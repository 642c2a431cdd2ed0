"""The libraries of applications: our installed library, which is exchanged when they start, and ARMCI-MPI, the baseline."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Mapping, Optional, Sequence

from armci_tool import bazel, launch, process, repository
from armci_tool.applications import sources
from armci_tool.applications.sources import Note
from armci_tool.errors import ToolError
from armci_tool.install import layout
from armci_tool.repository import ROOT

# The reference of a comparison. `reference` means numbers that an application has to print.
BASELINE = "armci-mpi"
BASELINE_PATTERN = "armci-mpi-*.tar.*"
# The name of our libraries as a whole: a program that was built on one runs on all.
OWN = "armci"
# Variables of the environment that configure, make or the compilers of MPI read. Those of a running make say nothing of what it builds.
_BUILD_VARIABLE = re.compile(r"(?!MAKE|MFLAGS)\w*FLAGS|LIBS|CPATH|\w+_INCLUDE_PATH|LIBRARY_PATH|(OMPI|MPICH)_(CC|CXX|FC|F77|F90|LIBS)|"
                             r"NWCHEM_\w+|USE_\w+")


@dataclass(frozen=True)
class Armci:
    """An installation that an application is built on: a folder with include/ and lib/."""

    name: str  # OWN or BASELINE
    prefix: Path
    mpi: str
    # Changes when programs have to be compiled anew.
    key: str

    @property
    def compilers(self) -> dict[str, str]:
        """Variables of configure and make: the MPI library's compilers."""
        names = {"CC": "mpicc", "MPICC": "mpicc", "F77": "mpif77", "MPIF77": "mpif77", "FC": "mpif90", "CXX": "mpicxx", "MPICXX": "mpicxx"}
        return {variable: f"{name}.{self.mpi}" for variable, name in names.items()}


@dataclass(frozen=True)
class Candidate:
    """A library that the programs of an application are run on."""

    name: str
    built_on: str
    folder: Optional[Path] = None  # holds the shared library

    def environment(self) -> dict[str, str]:
        """The variables by which a program gets this library and no other."""
        if self.folder is None:
            return {}
        path = os.pathsep.join([str(self.folder), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])
        return {"LD_LIBRARY_PATH": path, "ARMCI_VERBOSE": "1"} if self.built_on == OWN else {"LD_LIBRARY_PATH": path}


def _tools(mpi: str) -> str:
    """MPI library and compilers with their versions: objects of other ones do not fit."""
    commands = ([launch.mpi_library(mpi).launcher, "--version"], [f"mpicc.{mpi}", "--version"], [f"mpif90.{mpi}", "--version"])
    versions = [process.run(command, job=False) for command in commands]
    for command, result in zip(commands, versions):
        if not result.ok:
            raise ToolError(f"{shlex.join(command)} fails", where=result.tail(5),
                            next_step="run tools/armci setup, and unset variables that give MPI's compilers another compiler (OMPI_CC, MPICH_CC)")
    return "\n".join([mpi, *(result.output for result in versions)])


def flags(overridden: Sequence[str]) -> str:
    """Variables of the environment that change a build which sets those in `overridden` itself."""
    return "\n".join(sorted(f"{name}={value}" for name, value in os.environ.items()
                            if _BUILD_VARIABLE.fullmatch(name) and name not in overridden))


def own(configuration: bazel.Configuration, note: Note) -> Armci:
    """All implementations, installed in the cache."""
    root = sources.cache() / f"installed-{configuration.mpi}"
    layout.install(root, repository.implementations(), "", configuration, on_progress=note)
    headers = sorted((root / "include").glob("*.h"))
    exported = "".join((ROOT / "spec" / file).read_text() for file in ("api_table.h", "generate.py"))
    key = sources.digest(_tools(configuration.mpi), exported, *(header.read_text() for header in headers))
    return Armci(OWN, root / layout.CLASSIC / layout.USUAL_DEFAULT, configuration.mpi, key)


def baseline(mpi: str, source: Path, note: Note) -> Armci:
    """ARMCI-MPI, built as its own documents say, and optimised as ours is."""
    key = sources.digest(sources.content(Path(__file__)), _tools(mpi), flags(["CFLAGS"]), sources.content(source))

    def build(folder: Path) -> None:
        tree = folder / "source"
        sources.unpack(source, tree)
        sources.must(["autoreconf", "-fi"], tree, "cannot make ARMCI-MPI's configure", sources.stage("making the configure of ARMCI-MPI", note))
        compiler = launch.mpi_library(mpi).compiler
        sources.must([str(tree / "configure"), f"--prefix={folder}/prefix", "--enable-shared", "--disable-static", f"CC={compiler}",
                      f"MPICC={compiler}", "CFLAGS=-O2"], tree, "cannot configure ARMCI-MPI", sources.stage("configuring ARMCI-MPI", note))
        sources.must(["make", f"-j{os.cpu_count()}", "install"], tree, "cannot build ARMCI-MPI",
                     sources.stage("building ARMCI-MPI", note))
    return Armci(BASELINE, sources.once(f"{BASELINE}-{mpi}", key, build) / "prefix", mpi, key)


def root(one: Armci) -> Path:
    """The folder that holds all implementations, for an installation of ours."""
    return one.prefix.parents[1]


def candidates(names: Sequence[str], built: Mapping[str, Armci], others: Sequence[str]) -> list[Candidate]:
    """Our implementations of these names, the baseline if it was built, and what is built on no ARMCI."""
    own_root = root(built[OWN])
    made = [Candidate(name, OWN, own_root / layout.LIBRARIES / name) for name in names]
    if BASELINE in built:
        made.append(Candidate(BASELINE, BASELINE, built[BASELINE].prefix / "lib"))
    return made + [Candidate(name, name) for name in others]
