"""The matrix as one HTML page that needs no other file, no network and no script."""

from __future__ import annotations

from itertools import groupby

from armci_tool import pages
from armci_tool.matrix import NOT_COVERED, VERDICTS, Matrix, column_title, first_line, flakiness
from armci_tool.results import FAILED, KNOWN, PASSED, SKIPPED

SLOWEST = 10

# A sign and a word for each verdict: colour alone tells nobody anything.
_SIGNS = {PASSED: ("✓", "pass"), FAILED: ("✗", "FAIL"), KNOWN: ("!", "known"), SKIPPED: ("–", "skip"),
          NOT_COVERED: ("·", "none")}


def require() -> None:
    """Raises ToolError when pages cannot be made here; asked before anything that takes long."""
    pages.environment()


def render(matrix: Matrix) -> str:
    """The page."""
    made = pages.environment()
    made.filters.update(first_line=first_line, flakiness=flakiness)
    template = made.get_template("matrix.html.j2")
    chapters = [(chapter, list(rows)) for chapter, rows in groupby(matrix.rows, key=lambda row: row.clause.chapter)]
    litmus = [(test, list(entries)) for test, entries in groupby(matrix.outcomes, key=lambda entry: entry.test)]
    failures = [(column, case, run.rerun_of(case.name)) for column, run in enumerate(matrix.runs)
                for case in run.cases if case.outcome in (FAILED, KNOWN)]
    failures.sort(key=lambda entry: entry[1].outcome != FAILED)
    slowest = sorted(((case.seconds, column, case) for column, run in enumerate(matrix.runs) for case in run.cases),
                     key=lambda entry: -entry[0])[:SLOWEST]
    return template.render(matrix=matrix, chapters=chapters, litmus=litmus, failures=failures, slowest=slowest,
                           failed=sum(case.outcome == FAILED for _, case, _ in failures),
                           titles=[column_title(run) for run in matrix.runs], verdicts=(*VERDICTS, NOT_COVERED),
                           signs=_SIGNS, FAILED=FAILED, KNOWN=KNOWN, PASSED=PASSED, SKIPPED=SKIPPED,
                           NOT_COVERED=NOT_COVERED)
