"""The matrix: what became of every clause in every run, a row per clause and a column per run.

Only data is made here; matrix_text, matrix_html and matrix_report write it down.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Iterable, Mapping, Optional, Sequence

from armci_tool import bazel
from armci_tool.conformance import SuiteRun
from armci_tool.errors import ToolError
from armci_tool.results import FAILED, KNOWN, PASSED, SKIPPED, Case, Step
from armci_tool.traceability import Clause

NOT_COVERED = "not covered"
# A cell has the first of these that one of its tests has.
VERDICTS = (FAILED, KNOWN, PASSED, SKIPPED)

MUTANTS_FILE = "mutants.json"
OUTCOME_CLASSES = ("acceptable", "interesting", "forbidden")
_OUTCOME_KEY = "outcome."


@dataclass(frozen=True)
class Cell:
    """One clause in one run. `reason` says why it was skipped or not covered."""

    verdict: str
    reason: str = ""
    cases: tuple[Case, ...] = ()

    @property
    def seconds(self) -> float:
        """Time of its tests."""
        return sum(case.seconds for case in self.cases)

    def with_outcome(self, outcome: str) -> list[Case]:
        """Its tests that ended that way."""
        return [case for case in self.cases if case.outcome == outcome]


@dataclass(frozen=True)
class Row:
    """One clause: the tests that name it, and a cell per run."""

    clause: Clause
    tests: tuple[str, ...]
    cells: tuple[Cell, ...]

    @property
    def ran(self) -> bool:
        """Whether any run has something to say about it."""
        return any(cell.cases for cell in self.cells)


@dataclass(frozen=True)
class OutcomeCount:
    """How often a litmus test saw one outcome, by run; None where the test did not report it."""

    test: str
    outcome_class: str
    text: str
    counts: tuple[Optional[int], ...]

    @property
    def seen(self) -> bool:
        """Whether it happened at all; a test may report 0."""
        return any(self.counts)


@dataclass(frozen=True)
class Mutant:
    """A library with one defect, and the tests that found it."""

    name: str
    clause: str
    description: str
    state: str
    killed_by: tuple[str, ...]

    @property
    def killed(self) -> bool:
        """Whether a test found it."""
        return self.state == "killed"


@dataclass(frozen=True)
class Mutation:
    """What the suite made of defective libraries; the score is the share that it found."""

    mutants: tuple[Mutant, ...]
    score: float
    # The sources, and the filter if not all mutants were run.
    commit: str = ""
    part: str = ""

    @property
    def killed(self) -> int:
        """How many it found."""
        return sum(mutant.killed for mutant in self.mutants)

    @property
    def perfect(self) -> bool:
        """All of them."""
        return self.killed == len(self.mutants)

    @property
    def text(self) -> str:
        """The score in words."""
        of_part = f" (only those of {self.part!r} were run)" if self.part else ""
        return f"{self.killed} of {len(self.mutants)} killed, score {self.score:.0%}{of_part}; commit {self.commit}"


@dataclass(frozen=True)
class Matrix:
    """All of it."""

    runs: tuple[SuiteRun, ...]
    rows: tuple[Row, ...]
    environment: Mapping[str, str]
    mutation: Optional[Mutation] = None

    def count(self, column: int, verdict: str) -> int:
        """Clauses with that verdict in a run."""
        return sum(row.cells[column].verdict == verdict for row in self.rows)

    @cached_property
    def results(self) -> list[dict[str, Case]]:
        """For each run, its cases by name."""
        return [{case.name: case for case in run.cases} for run in self.runs]

    @cached_property
    def outcomes(self) -> list[OutcomeCount]:
        """Litmus outcomes, in the order of the tests and of OUTCOME_CLASSES."""
        return _outcomes(self.runs)


def build(runs: Sequence[SuiteRun], clauses: Sequence[Clause], tests: Mapping[str, Sequence[str]],
          environment: Mapping[str, str], mutation: Optional[Mutation] = None) -> Matrix:
    """The matrix of `runs`; `tests` are the clauses that each test names."""
    by_clause: dict[str, list[str]] = {}
    for name, named in tests.items():
        for identifier in named:
            by_clause.setdefault(identifier, []).append(name)
    cases = [{case.name: case for case in run.cases} for run in runs]
    rows = []
    for clause in clauses:
        names = tuple(by_clause.get(clause.identifier, ()))
        rows.append(Row(clause, names, tuple(_cell(clause, names, results) for results in cases)))
    return Matrix(tuple(runs), tuple(rows), environment, mutation)


def _cell(clause: Clause, names: Sequence[str], results: Mapping[str, Case]) -> Cell:
    cases = tuple(results[name] for name in names if name in results)
    if not cases:
        if names:
            return Cell(NOT_COVERED, "none of its tests was chosen, or could be built for this library")
        if clause.measured:
            return Cell(NOT_COVERED, f"about time: the benchmark {clause.measured} judges it")
        needs = ", ".join(sorted(clause.needs))
        return Cell(NOT_COVERED, "no test names it" + (f": it can only be seen with {needs}" if needs else ""))
    outcomes = {case.outcome for case in cases}
    verdict = next(verdict for verdict in VERDICTS if verdict in outcomes)
    reasons = dict.fromkeys(first_line(case.detail) for case in cases if case.outcome == verdict)
    return Cell(verdict, "; ".join(reasons) if verdict == SKIPPED else "", cases)


def first_line(text: str) -> str:
    """What there is room for in a table."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def steps(runs: Iterable[SuiteRun]) -> list[Step]:
    """The runs as steps of a test report."""
    return [Step(f"conformance {run.name}", list(run.cases), run.seconds, run.rerun()) for run in runs]


def column_title(run: SuiteRun) -> str:
    """A run in few letters: `shmem/openmpi/4`, with what else sets it apart."""
    parts = [run.implementation, run.mpi, str(run.processes)]
    if run.configuration.mode != bazel.DEFAULT_MODE:
        parts.append(run.configuration.mode)
    return "/".join(parts + ([run.label] if run.label else []))


def flakiness(run: SuiteRun) -> str:
    """How many of its tests passed in some repeats and failed in others; empty when there were none."""
    if run.repeats == 1:
        return ""
    rate = len(run.flaky) / max(1, len(run.cases))
    return f"{len(run.flaky)} of {len(run.cases)} tests ({rate:.1%}) in {run.repeats} runs"


def _outcomes(runs: Sequence[SuiteRun]) -> list[OutcomeCount]:
    counts: dict[tuple[str, str, str], list[Optional[int]]] = {}
    for column, run in enumerate(runs):
        for case in run.cases:
            for key, value in case.facts:
                outcome_class, _, text = key.removeprefix(_OUTCOME_KEY).partition(".")
                if key.startswith(_OUTCOME_KEY) and value.isdigit():
                    row = counts.setdefault((case.name, outcome_class, text), [None] * len(runs))
                    row[column] = int(value)
    order = {name: number for number, name in enumerate(OUTCOME_CLASSES)}
    # The tests stay in the order of their first report; the sort is stable.
    tests = {test: number for number, test in enumerate(dict.fromkeys(test for test, _, _ in counts))}
    keys = sorted(counts, key=lambda key: (tests[key[0]], order.get(key[1], len(order)), key[2]))
    return [OutcomeCount(*key, tuple(counts[key])) for key in keys]


def read_mutation(folder: Path) -> Optional[Mutation]:
    """What the mutation run left in the folder of the report; None when it has not been there."""
    path = folder / MUTANTS_FILE
    if not path.exists():
        return None
    try:
        data = json.loads(path.read_text())
        return Mutation(tuple(_mutant(entry) for entry in data["mutants"]), float(data["score"]),
                        str(data["commit"]), str(data["part"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ToolError("cannot read the result of the mutation run", where=f"{path}: {error!r}",
                        next_step="run it again, or delete the file") from error


def _mutant(entry: Mapping[str, Any]) -> Mutant:
    return Mutant(str(entry["name"]), str(entry["clause"]), str(entry["description"]), str(entry["state"]),
                  tuple(map(str, entry["killed_by"])))
