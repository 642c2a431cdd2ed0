"""The recipe of an application, and its execution."""

from __future__ import annotations

import inspect
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Mapping, Optional, Sequence

from armci_tool.applications import armci, debian, sources
from armci_tool.applications.armci import Armci
from armci_tool.applications.sources import Note
from armci_tool.errors import ToolError

_NUMBER = re.compile(r"[-+]?\d+\.\d+(?:[eEdD][-+]?\d+)?")


@dataclass(frozen=True)
class Reference:
    """Numbers that a program has to print after a label, in the last line that has it."""

    label: str
    values: tuple[float, ...]
    tolerance: float

    def fault(self, output: str) -> str:
        """The fault of the printed values; empty when they are right. A program may print its input, which has the
        reference in a comment."""
        lines = [line for line in output.splitlines() if self.label in line and "#" not in line.partition(self.label)[0]]
        if not lines:
            return f"the program did not say {self.label!r}"
        found = [float(re.sub("[dD]", "e", text)) for text in _NUMBER.findall(lines[-1].partition(self.label)[2])]
        if len(found) == len(self.values) and all(abs(a - b) <= self.tolerance for a, b in zip(found, self.values)):
            return ""
        expected = " ".join(f"{value:.12g}" for value in self.values)
        return f"{lines[-1].strip()!r} is not {expected} within {self.tolerance:g}"


@dataclass(frozen=True)
class Program:
    """A program to start: its file, and the text that it prints when it is right, besides its status."""

    name: str
    path: Path
    arguments: tuple[str, ...] = ()
    says: str = ""
    # A regular expression for what it prints when it finds a wrong number, and ends with status 0 all the same.
    fails_if: str = ""
    references: tuple[Reference, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    # The program writes files. Each run gets a folder of its own, which is removed after the run.
    writes: bool = False
    # The program computes for minutes: its time limit is longer.
    is_long: bool = False
    # Where it finds its input, if that is not beside it.
    folder: Optional[Path] = None
    # The only number of processes that it takes.
    processes: Optional[int] = None
    # The output of the compiler if the build failed.
    refused: str = ""


@dataclass(frozen=True)
class Work:
    """Folders and library of one build."""

    tree: Path  # holds the unpacked source
    folder: Path  # empty; takes the build
    library: Armci
    below: Mapping[str, Path]  # folders of the applications that it needs, by name
    note: Note


@dataclass(frozen=True)
class Recipe:
    """An application."""

    name: str
    title: str
    # The archive has a name of this pattern; used where no archive is given.
    pattern: str
    # A change of the module of this function makes a build out of date.
    build: Callable[[Work], None]
    # This function takes a folder and the name of the library that it was built on. The programs are listed by what they are built on.
    programs: Callable[[Path, str], Mapping[str, Sequence[Program]]]
    process_counts: tuple[int, ...]
    # One program may take this long.
    time_limit_s: float
    # Files and folders of the unpacked source that the build needs. Another archive is noticed by their absence.
    has_files: tuple[str, ...]
    # The build sets these variables itself: their values in the environment have no effect.
    overridden: tuple[str, ...] = ()
    # False: the application is not built on the baseline.
    has_baseline: bool = True
    # The build compiles these sources of ours too.
    own_sources: tuple[Path, ...] = ()
    # The build needs the builds of these applications.
    needs: "tuple[Recipe, ...]" = ()
    # The source of this package of Debian is taken where there is no other.
    debian_package: str = ""
    # Programs are built on these besides ARMCI: messages of MPI, say.
    models: tuple[str, ...] = ()
    # The build takes many minutes.
    is_long_build: bool = False

    def find_sources(self, given: Optional[Path]) -> "dict[str, Optional[Path]]":
        """The sources of the application and of the applications below it, by name; None where Debian's is taken. ToolError if one is
        missing, or is none."""
        found: "dict[str, Optional[Path]]" = {}
        for needed in self.needs:
            try:
                found.update(needed.find_sources(None))
            except ToolError as error:
                raise type(error)(f"{self.title} needs {needed.title}: {error.what}", where=error.where,
                                  next_step=f"put one archive of {needed.title} into {sources.cache()}") from error
        try:
            found[self.name] = sources.find(self.pattern, given)
        except sources.NoSource:
            if not self.debian_package:
                raise
            found[self.name] = None
        if source := found[self.name]:
            sources.check(source, self.title, self.has_files)
        return found

    def key(self, library: Armci, found: "Mapping[str, Optional[Path]]") -> str:
        """Changes when the application has to be built anew."""
        source = found[self.name]
        return sources.digest(sources.content(Path(inspect.getfile(self.build))), library.key, armci.flags(self.overridden),
                              sources.content(source) if source else f"Debian {debian.version(self.debian_package)}",
                              *map(sources.content, self.own_sources), *(needed.key(library, found) for needed in self.needs))

    def build_name(self, library: Armci) -> str:
        """The name of the builds on this library."""
        return f"{self.name}-{library.name}-{library.mpi}"

    def is_built(self, library: Armci, found: "Mapping[str, Optional[Path]]") -> bool:
        """Whether `built_on` would build nothing."""
        return sources.is_built(self.build_name(library), self.key(library, found))

    def built_on(self, library: Armci, found: "Mapping[str, Optional[Path]]", note: Note) -> Path:
        """The folder of the application, which is built if it was not, as are the applications below it."""
        def report(text: str) -> None:
            note(f"on {library.name}: {text}")
        below = {needed.name: needed.built_on(library, found, note) for needed in self.needs}

        def build(folder: Path) -> None:
            source = found[self.name] or debian.source(self.debian_package, report)
            report(f"unpacking {source.name}")
            tree = folder / "source"
            sources.unpack(source, tree)
            (folder / "build").mkdir()
            self.build(Work(tree, folder / "build", library, below, report))
        return sources.once(self.build_name(library), self.key(library, found), build)


def executables(folder: Path, pattern: str) -> list[Path]:
    """The programs that can run there; ToolError if nothing can."""
    found = [path for path in folder.glob(pattern) if path.is_file() and os.access(path, os.X_OK)]
    if not found:
        raise ToolError(f"{folder} has no programs", where=f"looked for {pattern}", next_step=f"remove {folder} to build it anew")
    return sorted(found)
