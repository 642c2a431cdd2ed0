"""The matrix as one HTML page that needs no other file, no network and no script."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from armci_tool import console
from armci_tool.errors import ToolError
from armci_tool.matrix import NOT_COVERED, VERDICTS, Matrix, column_title, first_line, flakiness
from armci_tool.results import FAILED, KNOWN, PASSED, SKIPPED

if TYPE_CHECKING:
    import jinja2

TEMPLATES = Path(__file__).with_name("templates")
SLOWEST = 10

# A sign and a word for each verdict: colour alone tells nobody anything.
_SIGNS = {PASSED: ("✓", "pass"), FAILED: ("✗", "FAIL"), KNOWN: ("!", "known"), SKIPPED: ("–", "skip"),
          NOT_COVERED: ("·", "none")}
_CODE = re.compile(r"`([^`]+)`")


def require() -> None:
    """Raises ToolError when pages cannot be made here; asked before anything that takes long."""
    _environment()


def render(matrix: Matrix) -> str:
    """The page."""
    template = _environment().get_template("matrix.html.j2")
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


def _environment() -> "jinja2.Environment":
    # Not at the top: the verb that installs what is missing must start without it.
    try:
        import jinja2
        import markupsafe
    except ImportError as error:
        raise ToolError("the page of the report needs python3-jinja2", where=str(error),
                        next_step="run tools/armci setup") from error

    def code(text: str) -> markupsafe.Markup:
        """Clauses are written in Markdown; what they use of it is `code`."""
        return markupsafe.Markup(_CODE.sub(r"<code>\1</code>", str(markupsafe.escape(text))))

    made = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True,
                              lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    made.filters.update(code=code, duration=console.duration, first_line=first_line, flakiness=flakiness)
    return made
