"""The matrix: what became of every clause in every run, a row for each clause and a column for each run.

It is made once, as the data of matrix.json; matrix_report writes it down in every form.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterable, Mapping, Optional, Sequence

from pydantic import BaseModel, StrictStr

from armci_tool import bazel, data_files
from armci_tool.conformance import REST, SuiteRun
from armci_tool.results import FAILED, KNOWN, PASSED, SKIPPED, Case, Step
from armci_tool.traceability import Clause

# Raised when a reader of matrix.json would misunderstand what is written now.
JSON_FORMAT = 1
NOT_COVERED = "not covered"
# A cell has the first of these that one of its tests has.
VERDICTS = (FAILED, KNOWN, PASSED, SKIPPED)

MUTANTS_FILE = "mutants.json"
_OUTCOME_KEY = "outcome."
_OUTCOME_CLASSES = ("acceptable", "interesting", "forbidden")


class MutantResult(BaseModel):
    """A library with one defect, and the tests that found it."""

    name: StrictStr
    clause: StrictStr
    description: StrictStr
    state: StrictStr
    killed_by: tuple[StrictStr, ...]


class Mutation(BaseModel):
    """mutants.json: what the suite made of defective libraries; the score is the share that it found."""

    # The sources, and the filter if not all mutants were run.
    commit: StrictStr
    part: StrictStr
    mutants: tuple[MutantResult, ...]
    score: float

    @property
    def perfect(self) -> bool:
        """Whether it found all of them."""
        return all(mutant.state == "killed" for mutant in self.mutants)

    @property
    def text(self) -> str:
        """The score in words."""
        killed = sum(mutant.state == "killed" for mutant in self.mutants)
        of_part = f" (only those of {self.part!r} were run)" if self.part else ""
        return f"{killed} of {len(self.mutants)} killed, score {self.score:.0%}{of_part}; commit {self.commit}"


@dataclass(frozen=True)
class Matrix:
    """The runs, and what matrix.json says of them: lists named `cells`, `results` and `counts` have an entry for each
    column, in the order of `columns`."""

    runs: tuple[SuiteRun, ...]
    data: Mapping[str, Any]


def build(runs: Sequence[SuiteRun], clauses: Sequence[Clause], tests: Mapping[str, Sequence[str]],
          environment: Mapping[str, str], mutation: Optional[Mutation] = None) -> Matrix:
    """The matrix of `runs`; `tests` are the clauses that each test names."""
    by_clause: dict[str, list[str]] = {}
    for name, named in tests.items():
        for identifier in named:
            by_clause.setdefault(identifier, []).append(name)
    cases = [{case.name: case for case in run.cases} for run in runs]
    rows: list[dict[str, Any]] = [{
        "id": clause.identifier, "chapter": clause.chapter, "text": clause.text, "needs": sorted(clause.needs),
        "tests": by_clause.get(clause.identifier, []),
        "cells": [_cell(clause, by_clause.get(clause.identifier, []), found) for found in cases],
    } for clause in clauses]
    return Matrix(tuple(runs), {
        "format": JSON_FORMAT,
        "environment": dict(environment),
        "columns": [_column(run, [row["cells"][number]["verdict"] for row in rows]) for number, run in enumerate(runs)],
        "clauses": rows,
        "tests": [{"name": name, "clauses": list(tests.get(name, ())),
                   "results": [_result(run, found.get(name)) for run, found in zip(runs, cases)]}
                  for name in dict.fromkeys(name for found in cases for name in found)],
        "litmus": _litmus(runs),
        "mutation": mutation and {**mutation.dict(), "text": mutation.text},
    })


def _column(run: SuiteRun, verdicts: Sequence[str]) -> dict[str, Any]:
    return {"title": column_title(run), "implementation": run.implementation, "mpi": run.mpi,
            "build": run.configuration.mode, "processes": run.processes, "label": run.label,
            "quick": run.selection.quick, "seed": run.seed, "seconds": round(run.seconds, 3), "rerun": run.rerun(),
            "repeats": run.repeats, "tests": len(run.cases), "flaky": list(run.flaky),
            "verdicts": {verdict: verdicts.count(verdict) for verdict in (*VERDICTS, NOT_COVERED)}}


def _cell(clause: Clause, names: Sequence[str], results: Mapping[str, Case]) -> dict[str, Any]:
    cases = [results[name] for name in names if name in results]
    verdict = next((verdict for verdict in VERDICTS if any(case.outcome == verdict for case in cases)), NOT_COVERED)
    if verdict == NOT_COVERED:
        return {"verdict": NOT_COVERED, "seconds": 0.0, "reason": _why_not_covered(clause, names)}
    if REST in results and len(cases) < len(names) and verdict in (PASSED, SKIPPED):
        # A library that does not start passes the tests before init, and says little by that.
        return {"verdict": NOT_COVERED, "seconds": 0.0, "reason": "the run was given up before all its tests had run"}
    made = {"verdict": verdict, "seconds": round(sum(case.seconds for case in cases), 3)}
    reasons = dict.fromkeys(first_line(case.detail) for case in cases)
    return made | ({"reason": "; ".join(reasons)} if verdict == SKIPPED else {})


def _why_not_covered(clause: Clause, names: Sequence[str]) -> str:
    if names:
        return "none of its tests was chosen, or could be built for this library"
    if clause.measured:
        return f"about time: the benchmark {clause.measured} judges it"
    needs = ", ".join(sorted(clause.needs))
    return "no test names it" + (f": it can only be seen with {needs}" if needs else "")


def _result(run: SuiteRun, case: Optional[Case]) -> Optional[dict[str, Any]]:
    if case is None:
        return None
    made: dict[str, Any] = {"outcome": case.outcome, "seconds": case.seconds}
    made |= {"detail": case.detail} if case.detail else {}
    made |= {"facts": [list(fact) for fact in case.facts]} if case.facts else {}
    made |= {"program": case.program} if case.program else {}
    made |= {"no_program": case.no_program} if case.no_program else {}
    return made | ({"rerun": run.rerun_of(case.name)} if case.outcome in (FAILED, KNOWN) else {})


def _litmus(runs: Sequence[SuiteRun]) -> list[dict[str, Any]]:
    """How often litmus tests saw each outcome: by test as they report, and by class. A run that does not report an
    outcome has None."""
    counts: dict[str, dict[tuple[str, str], list[Optional[int]]]] = {}
    for column, run in enumerate(runs):
        for case in run.cases:
            for key, value in case.facts:
                outcome_class, _, text = key.removeprefix(_OUTCOME_KEY).partition(".")
                if key.startswith(_OUTCOME_KEY) and value.isdigit():
                    found = counts.setdefault(case.name, {}).setdefault((outcome_class, text), [None] * len(runs))
                    found[column] = int(value)

    def order(key: tuple[str, str]) -> tuple[bool, int, str]:
        known = key[0] in _OUTCOME_CLASSES
        return not known, _OUTCOME_CLASSES.index(key[0]) if known else 0, key[1]
    return [{"test": test, "class": key[0], "outcome": key[1], "counts": seen[key]} for test, seen in counts.items()
            for key in sorted(seen, key=order)]


def first_line(text: str) -> str:
    """The first line with text, for a table."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def steps(runs: Iterable[SuiteRun]) -> list[Step]:
    """The runs as steps of a test report."""
    return [Step(f"conformance {run.name}", list(run.cases), run.seconds, run.rerun()) for run in runs]


def column_title(run: SuiteRun) -> str:
    """A run in few letters: `shmem/openmpi/4`, with what else sets it apart."""
    mode = run.configuration.mode if run.configuration.mode != bazel.DEFAULT_MODE else ""
    return "/".join(part for part in (run.implementation, run.mpi, str(run.processes), mode, run.label) if part)


def read_mutation(folder: Path) -> Optional[Mutation]:
    """The result of the mutation run in the folder of the report; None without one."""
    path = folder / MUTANTS_FILE
    return data_files.read(path, Mutation, "the result of the mutation run",
                           "run it again, or delete the file") if path.exists() else None
