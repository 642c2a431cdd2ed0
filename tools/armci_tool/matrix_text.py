"""The matrix as text: for the screen after a run, and as matrix.txt with everything the page has."""

from __future__ import annotations

from itertools import groupby
from typing import Iterable, Sequence

from armci_tool import console
from armci_tool.matrix import NOT_COVERED, Matrix, Row, column_title, first_line, flakiness
from armci_tool.results import FAILED, KNOWN, PASSED, SKIPPED, Case

_WORDS = {PASSED: "ok", FAILED: "FAIL", KNOWN: "known", SKIPPED: "skip", NOT_COVERED: "-"}


def clause_table(matrix: Matrix, rows: Sequence[Row]) -> str:
    """A line per clause, and the numbers of tests."""
    lines = []
    for chapter, members in groupby(rows, key=lambda row: row.clause.chapter):
        for number, row in enumerate(members):
            lines.append([chapter if number == 0 else "", row.clause.identifier,
                          *[_WORDS[cell.verdict] for cell in row.cells]])
    for outcome in (PASSED, FAILED, KNOWN, SKIPPED):
        numbers = [sum(case.outcome == outcome for case in run.cases) for run in matrix.runs]
        if any(numbers) or outcome in (PASSED, FAILED):
            lines.append(["tests", outcome, *map(str, numbers)])
    header = ["chapter", "clause", *map(column_title, matrix.runs)]
    return console.table(header, lines, numeric_from=2)


def screen(matrix: Matrix) -> str:
    """What a user sees after a run: the clauses that something was run for."""
    return clause_table(matrix, [row for row in matrix.rows if row.ran])


def document(matrix: Matrix) -> str:
    """matrix.txt."""
    parts = [("Clauses", clause_table(matrix, matrix.rows)), ("Legend", _legend()), ("Runs", _runs(matrix)),
             ("Failed", _cases(matrix, FAILED)), ("Known failures", _cases(matrix, KNOWN)),
             ("Skipped", _cases(matrix, SKIPPED)), ("Not covered", _not_covered(matrix)),
             ("Litmus outcomes", _outcomes(matrix)), ("Mutants", _mutants(matrix)),
             ("Clause -> tests -> verdict", _traceability(matrix)), ("Environment", _environment(matrix))]
    return "\n\n".join(f"{title}\n{'=' * len(title)}\n{text}" for title, text in parts if text) + "\n"


def _legend() -> str:
    words = (("ok", "all its tests passed, or those that were not skipped"), ("FAIL", "a test of it failed"),
             ("known", "a test failed as the file of known failures says"),
             ("skip", "all its tests were skipped, with a reason"), ("-", "not covered: nothing of it was run"))
    return "\n".join(f"{word:5}  {text}" for word, text in words)


def _runs(matrix: Matrix) -> str:
    rows = [[column_title(run), console.duration(run.seconds), run.seed or "-", flakiness(run) or "-", run.rerun()]
            for run in matrix.runs]
    return console.table(["run", "time", "seed", "flaky", "rerun"], rows)


def _cases(matrix: Matrix, outcome: str) -> str:
    """Failures with all they said; of the others the reason."""
    lines: list[str] = []
    for run in matrix.runs:
        for case in run.cases:
            if case.outcome == outcome:
                lines += _case_lines(f"{column_title(run)}: {case.name}", case)
    return "\n".join(lines)


def _case_lines(title: str, case: Case) -> Iterable[str]:
    if case.outcome != FAILED:
        return [f"{title}: {first_line(case.detail) or 'no reason given'}"]
    return [title, *("    " + line for line in case.detail.strip().splitlines())]


def _not_covered(matrix: Matrix) -> str:
    lines = []
    for row in matrix.rows:
        reasons: dict[str, list[str]] = {}
        for run, cell in zip(matrix.runs, row.cells):
            if cell.verdict == NOT_COVERED:
                reasons.setdefault(cell.reason, []).append(column_title(run))
        lines += [f"{row.clause.identifier} ({', '.join(runs)}): {reason}" for reason, runs in reasons.items()]
    return "\n".join(lines)


def _outcomes(matrix: Matrix) -> str:
    rows = [[entry.test, entry.outcome_class, entry.text, *["-" if n is None else str(n) for n in entry.counts]]
            for entry in matrix.outcomes]
    header = ["test", "class", "outcome", *map(column_title, matrix.runs)]
    return console.table(header, rows, numeric_from=3) if rows else ""


def _mutants(matrix: Matrix) -> str:
    if matrix.mutation is None:
        return ""
    rows = [[mutant.name, mutant.clause, mutant.state, ", ".join(mutant.killed_by) or "-"]
            for mutant in matrix.mutation.mutants]
    return matrix.mutation.text + "\n\n" + console.table(["mutant", "clause", "state", "killed by"], rows)


def _traceability(matrix: Matrix) -> str:
    lines = []
    for row in matrix.rows:
        for number, test in enumerate(row.tests or ("(no test)",)):
            cases = [results.get(test) for results in matrix.results]
            lines.append([row.clause.identifier if number == 0 else "", test,
                          *[_WORDS[case.outcome] if case else "-" for case in cases]])
    return console.table(["clause", "test", *map(column_title, matrix.runs)], lines, numeric_from=2)


def _environment(matrix: Matrix) -> str:
    return "\n".join(f"{title:12}  {value}" for title, value in matrix.environment.items())
