"""The libraries for the conformance suite and the benchmarks: the implementations of this repository, and an
installed ARMCI that is not ours (see third_party/foreign)."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Iterator, Optional, Sequence, Union

from armci_tool import bazel, conformance, launch, repository
from armci_tool.errors import ToolError

FOREIGN_SUITE = "//conformance:suite_foreign"
DEFAULT_NAME = "foreign"
DEFAULT_LIBS = "-larmci"
# A library that hangs in many tests must not take long. Tests that declare a longer deadline scale along.
FOREIGN_DEADLINE_S = 10.0
FOREIGN_TIME_LIMIT_S = 1800.0


@dataclass(frozen=True)
class OwnLibrary:
    """An implementation of this repository."""

    name: str
    time_limit_s: Optional[float] = None

    @property
    def suite(self) -> str:
        """The label of the suite linked with it."""
        return conformance.suite_label(self.name)

    def configuration(self, base: bazel.Configuration) -> bazel.Configuration:
        """How to build it."""
        return base

    def words(self) -> str:
        """The options of `conformance` that name it."""
        return f"--impl {self.name}"

    def deadline_s(self, _processes: int) -> float:
        """The default time limit of a test."""
        return conformance.DEFAULT_DEADLINE_S


@dataclass(frozen=True)
class LinkedSuite(OwnLibrary):
    """A suite that is linked already, or a script that starts one: nothing is built."""

    file: Path = Path()
    is_own: bool = True

    def words(self) -> str:
        """The options of `conformance` that name it."""
        return f"--suite {shlex.quote(str(self.file))} {'--impl' if self.is_own else '--name'} {self.name}"


@dataclass(frozen=True)
class ForeignLibrary:
    """An installed library. In `libs`, {mpi} stands for the name of the MPI library."""

    prefix: Path
    libs: str = DEFAULT_LIBS
    name: str = DEFAULT_NAME
    time_limit_s: Optional[float] = FOREIGN_TIME_LIMIT_S

    @property
    def suite(self) -> str:
        """The label of the suite linked with it."""
        return FOREIGN_SUITE

    def configuration(self, base: bazel.Configuration) -> bazel.Configuration:
        """`base` with the library as the repository @foreign_armci."""
        if not (self.prefix / "include" / "armci.h").is_file():
            raise ToolError(f"there is no ARMCI in {self.prefix}", where=f"{self.prefix}/include/armci.h is missing",
                            next_step="give --prefix the folder that holds include/ and lib/")
        libs = self.libs.replace("{mpi}", base.mpi)
        return replace(base, repository_environment=(
            ("ARMCI_FOREIGN_PREFIX", str(self.prefix.resolve())),
            ("ARMCI_FOREIGN_LIBS", libs),
            ("ARMCI_FOREIGN_COMPILER", launch.mpi_library(base.mpi).compiler),
            ("ARMCI_FOREIGN_STAMP", self._stamp(libs)),
        ))

    def words(self) -> str:
        """The options of `conformance` that name it."""
        return f"--prefix {self.prefix} --libs '{self.libs}' --name {self.name}"

    def deadline_s(self, processes: int) -> float:
        """The default time limit of a test: more where processes share cores, as most libraries spin."""
        return FOREIGN_DEADLINE_S * max(1.0, processes / (os.cpu_count() or 1))

    def _stamp(self, libs: str) -> str:
        """Changes when the installation does."""
        times = [file.stat().st_mtime_ns for file in self._files(libs) if file.is_file()]
        return f"{len(times)}-{max(times)}"

    def _files(self, libs: str) -> Iterator[Path]:
        yield from (self.prefix / "include").glob("armci*.h")
        for folder in (self.prefix / "lib", self.prefix / "lib64"):
            yield from folder.glob("libarmci*")
            yield from folder.glob("*/libarmci*")
        yield from (Path(word) for word in libs.split() if not word.startswith("-"))


Library = Union[OwnLibrary, ForeignLibrary]


def require_name(name: str) -> None:
    """Raises ToolError if no file could be called so."""
    if not re.fullmatch(r"[\w.+-]+", name) or name.startswith("."):
        raise ToolError(f"{name!r} is no name for a library", next_step="use letters, digits, - and _")


def linked(file: Path, names: Sequence[str], foreign_name: str) -> LinkedSuite:
    """A suite that is there already, of the one implementation named, else of a library that is not of ours."""
    if names:
        [name, *more] = [one for choice in names for one in repository.choose_implementations(choice)]
        if more:
            raise ToolError("a suite is linked with one library", next_step="name one with --impl")
        return LinkedSuite(name, file=file)
    require_name(foreign_name)
    return LinkedSuite(foreign_name, FOREIGN_TIME_LIMIT_S, file, is_own=False)


def installed(name: str, prefix: Path, mpi: str) -> ForeignLibrary:
    """An installation whose library has the usual name, or that name with the MPI library's."""
    require_name(name)
    usual = (DEFAULT_LIBS, f"{DEFAULT_LIBS}-{mpi}")
    folders = [folder for lib in ("lib", "lib64") for folder in (prefix / lib, *(prefix / lib).glob("*/"))]
    for libs in usual:
        if any(any(folder.glob(f"lib{libs.removeprefix('-l')}.*")) for folder in folders):
            return ForeignLibrary(prefix, libs, name)
    raise ToolError(f"there is no ARMCI for {mpi} in {prefix}",
                    where=f"no {' or '.join(libs.replace('-l', 'lib') + '.*' for libs in usual)} in {prefix}/lib",
                    next_step="give the folder that holds include/ and lib/; for a library of another name use --prefix and "
                    "--libs")


def foreign(prefix: Optional[Path], libs: str, name: str) -> Optional[ForeignLibrary]:
    """From the options; None where they name no library."""
    require_name(name)
    if not prefix and (libs, name) != (DEFAULT_LIBS, DEFAULT_NAME):
        raise ToolError("--libs and --name are of a library that is not of this repository",
                        next_step="say where it is installed: --prefix DIR")
    return ForeignLibrary(prefix, libs, name) if prefix else None
