"""Writes a matrix down: for the screen, and as a folder in which matrix.txt, matrix.json, junit.xml and index.html say
the same. The page needs no other file, no network and no script."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Iterator, Mapping, Sequence

from armci_tool import console, pages, results
from armci_tool.matrix import NOT_COVERED, VERDICTS, Matrix, first_line, steps
from armci_tool.results import FAILED, KNOWN, PASSED, SKIPPED

SLOWEST = 10

_WORDS = {PASSED: "ok", FAILED: "FAIL", KNOWN: "known", SKIPPED: "skip", NOT_COVERED: "-"}
_MEANINGS = {PASSED: "all its tests passed, or those that were not skipped", FAILED: "a test of it failed",
             KNOWN: "a test failed as the file of known failures says",
             SKIPPED: "all its tests were skipped, with a reason", NOT_COVERED: "not covered: nothing of it was run"}
# A sign and a word for each verdict: readers may not see colours.
_SIGNS = {PASSED: ("✓", "pass"), FAILED: ("✗", "FAIL"), KNOWN: ("!", "known"), SKIPPED: ("–", "skip"),
          NOT_COVERED: ("·", "none")}

Data = Mapping[str, Any]


def write(folder: Path, matrix: Matrix) -> list[Path]:
    """The files written."""
    folder.mkdir(parents=True, exist_ok=True)
    text, data, junit, page = (folder / name for name in ("matrix.txt", "matrix.json", "junit.xml", "index.html"))
    text.write_text(document(matrix))
    data.write_text(json.dumps(matrix.data, indent=1) + "\n")
    results.write_junit(junit, steps(matrix.runs))
    page.write_text(html(matrix), encoding="utf-8")
    return [text, data, junit, page]


def html(matrix: Matrix) -> str:
    """The page."""
    results_by_test = {test["name"]: test["results"] for test in matrix.data["tests"]}

    def results_of(row: Data, column: int, outcome: str) -> list[tuple[str, Data]]:
        found = ((test, results_by_test[test][column]) for test in row["tests"] if test in results_by_test)
        return [(test, result) for test, result in found if result and result["outcome"] == outcome]

    made = pages.environment()
    made.filters.update(first_line=first_line, flakiness=_flakiness)
    failed = list(_results(matrix.data, FAILED))
    by_time = sorted(_results(matrix.data, *VERDICTS), key=lambda one: -float(one[2]["seconds"]))
    return made.get_template("matrix.html.j2").render(
        **matrix.data, failed=len(failed), failures=[*failed, *_results(matrix.data, KNOWN)],
        slowest=by_time[:SLOWEST], results=results_by_test, results_of=results_of, meanings=_MEANINGS, signs=_SIGNS,
        verdicts=(*VERDICTS, NOT_COVERED), FAILED=FAILED, KNOWN=KNOWN, PASSED=PASSED, SKIPPED=SKIPPED,
        NOT_COVERED=NOT_COVERED)


def screen(matrix: Matrix) -> str:
    """The table that a user sees after a run: the clauses that tests were run for."""
    return _clause_table(matrix.data, [row for row in matrix.data["clauses"]
                                       if any(cell["verdict"] != NOT_COVERED for cell in row["cells"])])


def document(matrix: Matrix) -> str:
    """matrix.txt."""
    data = matrix.data
    parts = {"Clauses": _clause_table(data, data["clauses"]),
             "Legend": "\n".join(f"{_WORDS[verdict]:5}  {meaning}" for verdict, meaning in _MEANINGS.items()),
             "Runs": console.table(["run", "time", "seed", "flaky", "rerun"], [
                 [run["title"], console.duration(run["seconds"]), run["seed"] or "-", _flakiness(run) or "-",
                  run["rerun"]] for run in data["columns"]]),
             "Failed": _cases(data, FAILED), "Known failures": _cases(data, KNOWN), "Programs": _programs(data), "Skipped": _cases(data, SKIPPED),
             "Not covered": "\n".join(_not_covered(data)), "Litmus outcomes": _litmus(data), "Mutants": _mutants(data),
             "Clause -> tests -> verdict": _traceability(data),
             "Environment": "\n".join(f"{title:12}  {value}" for title, value in data["environment"].items())}
    return "\n\n".join(f"{title}\n{'=' * len(title)}\n{text}" for title, text in parts.items() if text) + "\n"


def _titles(data: Data) -> list[str]:
    return [run["title"] for run in data["columns"]]


def _flakiness(run: Data) -> str:
    """How many tests of a column passed in some repeats and failed in others; empty when there were none."""
    flaky, tests, repeats = len(run["flaky"]), run["tests"], run["repeats"]
    return f"{flaky} of {tests} tests ({flaky / max(1, tests):.1%}) in {repeats} runs" if repeats > 1 else ""


def _results(data: Data, *outcomes: str) -> Iterator[tuple[Data, str, Data]]:
    """(column, test, result) of those that ended so."""
    for number, column in enumerate(data["columns"]):
        for test in data["tests"]:
            result = test["results"][number]
            if result and result["outcome"] in outcomes:
                yield column, test["name"], result


def _clause_table(data: Data, rows: Sequence[Data]) -> str:
    """A line for each clause, and the numbers of tests."""
    lines, chapter = [], ""
    for row in rows:
        lines.append(["" if row["chapter"] == chapter else row["chapter"], row["id"],
                      *[_WORDS[cell["verdict"]] for cell in row["cells"]]])
        chapter = row["chapter"]
    for outcome in (PASSED, FAILED, KNOWN, SKIPPED):
        counts = [sum(found is column for found, _, _ in _results(data, outcome)) for column in data["columns"]]
        if any(counts) or outcome in (PASSED, FAILED):
            lines.append(["tests", outcome, *map(str, counts)])
    return console.table(["chapter", "clause", *_titles(data)], lines, numeric_from=2)


def _cases(data: Data, outcome: str) -> str:
    """Failures with all they said; of the others the reason."""
    lines: list[str] = []
    for column, name, result in _results(data, outcome):
        title, detail = f"{column['title']}: {name}", result.get("detail", "")
        if outcome == FAILED:
            lines += [title, *("    " + line for line in detail.strip().splitlines())]
        else:
            lines.append(f"{title}: {first_line(detail) or 'no reason given'}")
    return "\n".join(lines)


def _programs(data: Data) -> str:
    """The program of each failure, or the reason why there is none; empty where none was to be made."""
    lines = [f"{column['title']}: {name}: {result.get('program') or 'none: ' + result['no_program']}"
             for column, name, result in _results(data, FAILED, KNOWN) if "program" in result or "no_program" in result]
    shown = sum(": none: " not in line for line in lines)
    return "\n".join([f"{shown} of {len(lines)} failures have a program", *lines]) if lines else ""


def _not_covered(data: Data) -> Iterator[str]:
    for row in data["clauses"]:
        reasons: dict[str, list[str]] = {}
        for title, cell in zip(_titles(data), row["cells"]):
            if cell["verdict"] == NOT_COVERED:
                reasons.setdefault(cell["reason"], []).append(title)
        yield from (f"{row['id']} ({', '.join(titles)}): {reason}" for reason, titles in reasons.items())


def _litmus(data: Data) -> str:
    rows = [[entry["test"], entry["class"], entry["outcome"], *["-" if n is None else str(n) for n in entry["counts"]]]
            for entry in data["litmus"]]
    return console.table(["test", "class", "outcome", *_titles(data)], rows, numeric_from=3) if rows else ""


def _mutants(data: Data) -> str:
    if data["mutation"] is None:
        return ""
    rows = [[mutant["name"], mutant["clause"], mutant["state"], ", ".join(mutant["killed_by"]) or "-"]
            for mutant in data["mutation"]["mutants"]]
    return f"{data['mutation']['text']}\n\n" + console.table(["mutant", "clause", "state", "killed by"], rows)


def _traceability(data: Data) -> str:
    results_of = {test["name"]: test["results"] for test in data["tests"]}
    lines = []
    for row in data["clauses"]:
        for number, test in enumerate(row["tests"] or ["(no test)"]):
            found = results_of.get(test, [None] * len(data["columns"]))
            words = [_WORDS[one["outcome"]] if one else "-" for one in found]
            lines.append(["" if number else row["id"], test, *words])
    return console.table(["clause", "test", *_titles(data)], lines, numeric_from=2)
