"""The conformance result as a table: a row per clause, a column per run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Mapping, Sequence

from armci_tool import console, results
from armci_tool.conformance import SuiteRun
from armci_tool.results import FAILED, PASSED, SKIPPED, Step
from armci_tool.traceability import Clause

_CELLS = {PASSED: "ok", FAILED: "FAIL", SKIPPED: "skip"}


def clause_outcome(run: SuiteRun, clause: str, tests: Mapping[str, Sequence[str]]) -> str:
    """Failed if one of its tests failed, else passed if one passed, else skipped; empty when none ran."""
    outcomes = {case.outcome for case in run.cases if clause in tests.get(case.name, ())}
    for outcome in (FAILED, PASSED, SKIPPED):
        if outcome in outcomes:
            return outcome
    return ""


def render(runs: Sequence[SuiteRun], clauses: Sequence[Clause], tests: Mapping[str, Sequence[str]]) -> str:
    """Text table with a line of totals."""
    rows = []
    chapter = ""
    for clause in clauses:
        outcomes = [clause_outcome(run, clause.identifier, tests) for run in runs]
        if any(outcomes):
            first = clause.chapter if clause.chapter != chapter else ""
            rows.append([first, clause.identifier, *[_CELLS.get(outcome, "-") for outcome in outcomes]])
            chapter = clause.chapter
    header = ["chapter", "clause", *[f"{run.implementation}/{run.mpi}/{run.processes}" for run in runs]]
    for outcome in (PASSED, FAILED, SKIPPED):
        rows.append(["tests", outcome, *[str(step.count(outcome)) for step in steps(runs)]])
    return console.table(header, rows, numeric_from=2)


def steps(runs: Sequence[SuiteRun]) -> list[Step]:
    """The runs as steps of a test report."""
    return [Step(f"conformance {run.name}", list(run.cases), run.seconds, run.rerun()) for run in runs]


def write_report(folder: Path, runs: Sequence[SuiteRun], clauses: Sequence[Clause],
                 tests: Mapping[str, Sequence[str]]) -> list[Path]:
    """conformance.txt, .json and .xml (JUnit) in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    text, data, junit = (folder / f"conformance.{suffix}" for suffix in ("txt", "json", "xml"))
    text.write_text(render(runs, clauses, tests) + "\n")
    data.write_text(json.dumps(_as_json(runs, clauses, tests), indent=1) + "\n")
    results.write_junit(junit, steps(runs))
    return [text, data, junit]


def _as_json(runs: Sequence[SuiteRun], clauses: Sequence[Clause], tests: Mapping[str, Sequence[str]]) -> object:
    return [{
        "implementation": run.implementation,
        "mpi": run.mpi,
        "processes": run.processes,
        "seed": run.seed,
        "seconds": round(run.seconds, 3),
        "clauses": {c.identifier: clause_outcome(run, c.identifier, tests) or "not run" for c in clauses},
        "tests": [{"name": case.name, "clauses": list(tests.get(case.name, ())), "outcome": case.outcome,
                   "seconds": case.seconds, "detail": case.detail} for case in run.cases],
    } for run in runs]
