"""An application that was built on ours, and on the baseline: its programs, and the libraries to run them on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Mapping, Optional, Sequence

from armci_tool import bazel, repository
from armci_tool.applications import armci
from armci_tool.applications.armci import Armci, Candidate
from armci_tool.applications.recipe import Program, Recipe
from armci_tool.applications.sources import Note
from armci_tool.errors import ToolError
from armci_tool.placement import Placement


# Names in the message of a filter that chooses none.
_SOME = 8


@dataclass(frozen=True)
class Built:
    """The results of `build`, by the name of the library that they were built on."""

    recipe: Recipe
    libraries: Mapping[str, Armci]
    folders: Mapping[str, Path]

    def all_programs(self) -> dict[str, Sequence[Program]]:
        """All programs, by the library that they were built on."""
        return {name: programs for built_on, folder in self.folders.items()
                for name, programs in self.recipe.programs(folder, built_on).items()}

    @property
    def names(self) -> set[str]:
        """Names of all programs on all libraries."""
        return {program.name for programs in self.all_programs().values() for program in programs}

    def programs(self, pattern: str = "", *, short: bool = False) -> dict[str, list[Program]]:
        """Those whose name has the regular expression, by what they were built on; `short`: without those that compute for minutes."""
        all_programs = self.all_programs()
        expression = expression_of(pattern)
        chosen = {name: [program for program in programs if expression.search(program.name) and not (short and program.is_long)]
                  for name, programs in all_programs.items()}
        if not any(chosen.values()):
            if left_out := sorted(name for name in self.names if expression.search(name)):
                raise ToolError(f"--short leaves out each program that matches --filter {pattern!r}", where=", ".join(left_out),
                                next_step="give no --short")
            some = sorted(self.names)[:_SOME]
            raise ToolError(f"no program of {self.recipe.title} matches --filter {pattern!r}",
                            where=f"{self.recipe.title} has {', '.join(some)}{' and others' if len(self.names) > _SOME else ''}",
                            next_step="give a part of such a name")
        return chosen

    def candidates(self, names: Sequence[str], programs: Mapping[str, Sequence[Program]]) -> list[Candidate]:
        """Our implementations of these names, the baseline if it was built, and what is built on no ARMCI."""
        others = [built_on for built_on, found in programs.items() if built_on not in self.folders and found]
        return armci.candidates(names, self.libraries, others)

    @property
    def profiler(self) -> Path:
        """armci-prof of the installation."""
        return armci.root(self.libraries[armci.OWN]) / "bin" / "armci-prof"


def expression_of(pattern: str) -> "re.Pattern[str]":
    """The regular expression of --filter."""
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ToolError(f"--filter {pattern!r} is no regular expression", where=str(error),
                        next_step="give a part of a program's name") from error


def build(recipe: Recipe, found: "Mapping[str, Optional[Path]]", mpi: str, baseline: Optional[Path], note: Note) -> Built:
    """`found`: sources by name; `baseline`: the source of the baseline, or none. The caller holds the lock."""
    libraries = [armci.own(bazel.Configuration(mpi), note)]
    if baseline:
        libraries.append(armci.baseline(mpi, baseline, note))
    return Built(recipe, {one.name: one for one in libraries}, {one.name: recipe.built_on(one, found, note) for one in libraries})


def usual(where: Placement) -> list[str]:
    """Implementations that run there without a device, which those that need one need between nodes."""
    return [row.name for row in repository.implementation_table()
            if not row.test_only and (where.kind == "machine" or row.spans_nodes and not row.device)]
