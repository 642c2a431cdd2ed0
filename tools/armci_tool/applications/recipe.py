"""What the recipe of an application says, and how it is followed."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Mapping, Optional, Sequence

from armci_tool.applications import sources
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
        """What is wrong with them; empty when nothing is."""
        lines = [line for line in output.splitlines() if self.label in line]
        if not lines:
            return f"it did not say {self.label!r}"
        found = [float(re.sub("[dD]", "e", text)) for text in _NUMBER.findall(lines[-1].partition(self.label)[2])]
        if len(found) == len(self.values) and all(abs(a - b) <= self.tolerance for a, b in zip(found, self.values)):
            return ""
        expected = " ".join(f"{value:.12g}" for value in self.values)
        return f"{lines[-1].strip()!r} is not {expected} within {self.tolerance:g}"


@dataclass(frozen=True)
class Program:
    """What is started: a file, and what it prints when it is right, besides its status."""

    name: str
    path: Path
    arguments: tuple[str, ...] = ()
    says: str = ""
    references: tuple[Reference, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    # It writes files: each run gets a folder of its own, which goes with it.
    writes: bool = False
    # What the compiler said where it could not be built.
    refused: str = ""


@dataclass(frozen=True)
class Work:
    """Folders and library of one build."""

    tree: Path  # of the source
    folder: Path  # to build in; not there yet
    armci: Armci
    below: Mapping[str, Path]  # folders of the applications that it needs, by name
    note: Note


@dataclass(frozen=True)
class Recipe:
    """An application."""

    name: str
    title: str
    # Of its archive, where it is not given.
    pattern: str
    # Changes when `build` does.
    version: str
    build: Callable[[Work], None]
    # Of a folder that was built on the one of that name: by what they are built on.
    programs: Callable[[Path, str], Mapping[str, Sequence[Program]]]
    process_counts: tuple[int, ...]
    # Of one program.
    time_limit_s: float
    # Whether it is built on the reference too.
    has_reference: bool = True
    # Sources of ours that are built with it.
    own_sources: tuple[Path, ...] = ()
    # Applications that are built first.
    needs: "tuple[Recipe, ...]" = ()
    # Gets the source where there is none.
    fetch: Optional[Callable[[Note], Path]] = None

    def find_sources(self, given: Optional[Path]) -> "dict[str, Optional[Path]]":
        """Of the application and of those that it needs, by name; None where the recipe gets it. ToolError if one is missing."""
        found = {name: path for needed in self.needs for name, path in needed.find_sources(None).items()}
        try:
            found[self.name] = sources.find(self.pattern, given)
        except sources.NoSource:
            if self.fetch is None:
                raise
            found[self.name] = None
        return found

    def built_on(self, armci: Armci, found: "Mapping[str, Optional[Path]]", note: Note) -> Path:
        """The folder of the application, which is built if it was not, as are those that it needs."""
        below = {needed.name: needed.built_on(armci, found, note) for needed in self.needs}
        source = found[self.name] or self.fetched(note)
        key = sources.digest(self.version, armci.key, sources.content(source), *map(sources.content, self.own_sources),
                             *(folder.name for folder in below.values()))

        def build(folder: Path) -> None:
            note(f"unpacking {source.name}")
            sources.unpack(source, folder / "source")
            self.build(Work(folder / "source", folder / "build", armci, below, note))
        return sources.once(f"{self.name}-{armci.name}-{armci.mpi}", key, build)

    def fetched(self, note: Note) -> Path:
        """The source that the recipe gets."""
        assert self.fetch is not None
        return self.fetch(note)


def executables(folder: Path, pattern: str) -> list[Path]:
    """What can be run there; ToolError if nothing can."""
    found = [path for path in folder.glob(pattern) if path.is_file() and os.access(path, os.X_OK)]
    if not found:
        raise ToolError(f"{folder} has no programs", where=f"looked for {pattern}", next_step=f"remove {folder} to build it anew")
    return sorted(found)
