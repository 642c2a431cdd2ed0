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

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Container, Optional, Sequence

from armci_tool import traceability
from armci_tool.conformance import SuiteRun
from armci_tool.errors import ToolError
from armci_tool.repository import ROOT
from armci_tool.results import FAILED, KNOWN, PASSED, Case

if TYPE_CHECKING:
    from armci_tool.suite_files import KnownFailure

KNOWN_FAILURES_FILE = ROOT / "conformance" / "known_failures.toml"


def read(path: Path = KNOWN_FAILURES_FILE) -> list[KnownFailure]:
    """The entries; raises ToolError on one that cannot be understood."""
    from armci_tool import suite_files
    what = "the known failures"
    help_text = "write entries as tools/armci_tool/known_failures.py says"
    entries = suite_files.read(path, suite_files.KnownFailures, what, help_text).known
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
    known: dict[str, KnownFailure] = {}
    for entry in read() if entries is None else entries:
        if entry.applies(run):
            # Of two entries for a test, the one that lets it pass decides whether it may.
            known.update({name: entry for name in entry.tests if name not in known or entry.sometimes})
    judged = [_judge(case, known.get(case.name)) for case in run.cases]
    judged += [Case(name, FAILED, detail=f"listed as a {known[name].text()}, but there is no such test")
               for name in sorted(known) if name not in tests]
    return replace(run, cases=tuple(judged))


def _judge(case: Case, entry: Optional[KnownFailure]) -> Case:
    if entry is None:
        return case
    if case.outcome == FAILED and entry.shows in case.detail:
        return replace(case, outcome=KNOWN, detail=f"{entry.text()}\n{case.detail}")
    if case.outcome == PASSED and not entry.sometimes:
        return replace(case, outcome=FAILED, detail=f"passes, but is listed as a {entry.text()}\n"
                       f"next: take it off {KNOWN_FAILURES_FILE.name}, or narrow its condition")
    return case
