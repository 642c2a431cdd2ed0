"""Programs of applications that fail for a reason that is known.

integration/applications/known_failures.toml holds entries such as

    [[known]]
    application = "ga"
    programs = ["global/testing/nga-scatter"]
    libraries = ["armci-mpi"]           # conditions; each may be left out
    place = ["nodes"]
    mpi = ["openmpi"]
    processes = [2]
    ticket = "GA-1"
    reason = "what the program does wrong"
    evidence = "what is seen, in a line"
    sometimes = true                    # fails now and then: passing is no surprise
    shows = "status 139"                # words of the failure; one without them is another failure, and counts

A listed failure does not fail the run; a listed program that passes does. No result of ARMCI-MPI fails the run, since the run
tests our libraries: an entry for ARMCI-MPI only explains a failure.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Collection, Iterator, Sequence

from pydantic import Field

from armci_tool import data_files, known_failures, launch, repository
from armci_tool.applications.armci import BASELINE
from armci_tool.applications.recipe import Recipe
from armci_tool.applications.recipes import RECIPES
from armci_tool.applications.run import Where
from armci_tool.data_files import Entry, Text
from armci_tool.errors import ToolError
from armci_tool.known_failures import ListedFailure
from armci_tool.repository import ROOT
from armci_tool.results import FAILED, KNOWN, PASSED, Case

FILE = ROOT / "integration" / "applications" / "known_failures.toml"


class KnownFailure(ListedFailure):
    """An entry of the file."""

    application: Text
    programs: list[Text] = Field(min_items=1)
    libraries: list[Text] = []
    processes: list[int] = []

    def applies(self, application: str, program: str, library: str, where: Where) -> bool:
        """Whether the entry speaks of such a run."""
        return (self.application == application and program in self.programs and library in (self.libraries or [library])
                and self.holds(where.mpi, where.placement) and where.processes in (self.processes or [where.processes]))


class KnownFailures(Entry):
    """The file."""

    known: list[KnownFailure] = []


def read(path: Path = FILE) -> list[KnownFailure]:
    """The entries; raises ToolError on one that cannot be understood."""
    entries = data_files.read(path, KnownFailures, "the known failures of applications",
                              "write entries as tools/armci_tool/applications/known.py says").known
    _refuse(list(_unknown_names(entries)), path)
    return entries


def require_programs(recipe: Recipe, programs: Collection[str], entries: Sequence[KnownFailure]) -> None:
    """Raises ToolError where an entry speaks of a program that the application does not have: it would never apply."""
    _refuse([f"{entry.ticket} names the program {name!r} of {recipe.name}, which has none of that name"
             for entry in entries if entry.application == recipe.name for name in entry.programs if name not in programs], FILE)


def _unknown_names(entries: Sequence[KnownFailure]) -> Iterator[str]:
    implementations = [row.name for row in repository.implementation_table()]
    for entry in entries:
        models = RECIPES[entry.application].models if entry.application in RECIPES else ()
        for kind, names, known in (("application", [entry.application], list(RECIPES)), ("MPI library", entry.mpi, list(launch.MPI_LIBRARIES)),
                                   ("library", entry.libraries, [*implementations, BASELINE, *models])):
            for name in names:
                if name not in known:
                    yield f"{entry.ticket} names the {kind} {name!r}, which is none of {', '.join(known)}"


def _refuse(faults: Sequence[str], path: Path) -> None:
    if faults:
        raise ToolError(f"{path.name} names something that does not exist", where="; ".join(faults),
                        next_step=f"mend the name in {path}, or take the entry off")


def judge(case: Case, application: str, library: str, where: Where, entries: Sequence[KnownFailure]) -> Case:
    """The case with what is known taken into account. The baseline is not under test: its failures are shown, and do not count."""
    applying = [entry for entry in entries if entry.applies(application, case.name, library, where)]
    judged = known_failures.judge(case, applying, FILE)
    if library != BASELINE or judged.outcome != FAILED:
        return judged
    return case if case.outcome == PASSED else replace(case, outcome=KNOWN, detail=f"the baseline fails: {case.detail}")
