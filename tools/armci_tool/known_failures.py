"""Failures that are known: which, under which condition, why, and what shows it.

conformance/known_failures.toml holds entries such as

    [[known]]
    implementation = "mpi-rma"          # or the --name of a foreign library
    clause = "RMW-2"
    tests = ["RMW.RMW2_histories"]      # whole names
    ticket = "mpi-rma-7"                # of the library's tracker; a name of our own while it is not reported there
    reason = "what the library does wrong"
    evidence = "what the test sees, in a line"
    mpi = ["mpich"]                     # conditions; each may be left out
    np_min = 2                          # fewest and most processes
    np_max = 4
    place = ["machine", "nodes", "simulated"]
    config = ["asan"]
    quick = false
    sometimes = true                    # fails now and then: passing is no surprise
    shows = "torn"                      # words of the failure; one without them is another failure, and counts

A listed failure does not fail the run. A listed test that passes does, and so does one that the suite does not have:
the file never says more than is true.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Container, Literal, Optional, Sequence

from pydantic import Field, StrictBool, StrictInt, StrictStr

from armci_tool import data_files, traceability
from armci_tool.conformance import SuiteRun
from armci_tool.data_files import Entry, Text
from armci_tool.errors import ToolError
from armci_tool.placement import Placement
from armci_tool.repository import ROOT
from armci_tool.results import FAILED, KNOWN, PASSED, Case

KNOWN_FAILURES_FILE = ROOT / "conformance" / "known_failures.toml"


class ListedFailure(Entry):
    """The keys that entries of conformance tests and of programs of applications have in common. An empty condition is no
    condition."""

    ticket: Text
    reason: Text
    evidence: Text
    mpi: list[Text] = []
    place: list[Literal["machine", "nodes", "simulated"]] = []
    sometimes: StrictBool = False
    shows: StrictStr = ""

    def text(self) -> str:
        """One line for a report."""
        return f"known failure {self.ticket}: {self.reason} ({self.evidence})"

    def holds(self, mpi: str, placement: Placement) -> bool:
        """Whether the entry applies above this MPI library in this place."""
        return (not self.mpi or mpi in self.mpi) and (not self.place or placement.kind in self.place)


class KnownFailure(ListedFailure):
    """An entry of the file."""

    implementation: Text
    clause: Text
    tests: list[Text] = Field(min_items=1)
    np_min: StrictInt = 1
    np_max: StrictInt = sys.maxsize
    config: list[Text] = []
    quick: Optional[StrictBool] = None

    def applies(self, run: SuiteRun) -> bool:
        """Whether the entry speaks of such a run."""
        return (self.implementation == run.implementation
                and self.holds(run.mpi, run.placement)
                and self.np_min <= run.processes <= self.np_max
                and (not self.config or run.configuration.mode in self.config)
                and (self.quick is None or self.quick == run.selection.quick))

    def text(self) -> str:
        """One line for a report."""
        return f"known failure {self.ticket} of {self.clause}: {self.reason} ({self.evidence})"


class KnownFailures(Entry):
    """conformance/known_failures.toml."""

    known: list[KnownFailure] = []


def read(path: Path = KNOWN_FAILURES_FILE) -> list[KnownFailure]:
    """The entries; raises ToolError on one that cannot be understood."""
    what = "the known failures"
    help_text = "write entries as tools/armci_tool/known_failures.py says"
    entries = data_files.read(path, KnownFailures, what, help_text).known
    clauses = {clause.identifier for clause in traceability.read_clauses()}
    if stray := {entry.clause for entry in entries} - clauses:
        raise ToolError(f"cannot read {what}", where=f"{path}: there is no clause {', '.join(sorted(stray))}",
                        next_step="name the clause that the library breaks")
    matters = {(entry.ticket, entry.clause) for entry in entries}
    tickets = [ticket for ticket, _ in matters]
    if twice := {ticket for ticket in tickets if tickets.count(ticket) > 1}:
        raise ToolError(f"cannot read {what}", where=f"{path}: {', '.join(sorted(twice))} of two clauses",
                        next_step="give each matter a ticket of its own")
    return entries


def apply(run: SuiteRun, tests: Container[str], entries: Optional[Sequence[KnownFailure]] = None) -> SuiteRun:
    """The run with what is known taken into account; `tests` are those that the suite has."""
    applying = [entry for entry in (read() if entries is None else entries) if entry.applies(run)]
    judged = [judge(case, [entry for entry in applying if case.name in entry.tests], KNOWN_FAILURES_FILE) for case in run.cases]
    absent = {name: entry for entry in applying for name in entry.tests if name not in tests}
    judged += [Case(name, FAILED, detail=f"listed as a {absent[name].text()}, but there is no such test") for name in sorted(absent)]
    return replace(run, cases=tuple(judged))


def judge(case: Case, entries: Sequence[ListedFailure], file: Path) -> Case:
    """The case with the entries of `file` that apply to it taken into account. A failure is known by any of them, and a pass is no
    surprise if any of them says `sometimes`."""
    if case.outcome == FAILED:
        for entry in entries:
            if entry.shows in case.detail:
                return replace(case, outcome=KNOWN, detail=f"{entry.text()}\n{case.detail}")
    if case.outcome == PASSED and entries and not any(entry.sometimes for entry in entries):
        return replace(case, outcome=FAILED, detail=f"passes, but is listed as a {entries[0].text()}\n"
                       f"next: take it off {file.name}, or narrow its condition")
    return case
