"""The report of a port: one page in Markdown for each library of a matrix, to be attached to a pull request.

The page says which level of conformance/levels.toml the library has reached, which tests keep it from the next one, and with
which versions, seeds and commands that was found.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, Sequence

from armci_tool import console, levels, pages
from armci_tool.matrix import NOT_COVERED, Matrix, first_line
from armci_tool.repository import ROOT
from armci_tool.results import FAILED, KNOWN, PASSED, SKIPPED

_CLAUSES = ROOT / "spec" / "semantics.md"
_WORST_FIRST = (FAILED, KNOWN, PASSED, SKIPPED)

Data = Mapping[str, Any]


@dataclass(frozen=True)
class LevelResult:
    """A level and its tests, in all runs of a library: a test counts once, by its worst outcome."""

    number: int
    title: str
    clauses: int
    counts: Mapping[str, int]
    # Clauses of the level without a test that passed, though it can be tested where the runs were.
    untested: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """In a word or two."""
        if self.counts[FAILED] or self.counts[KNOWN]:
            return "failed"
        return "not whole" if self.untested else "passed"


@dataclass(frozen=True)
class PortResult:
    """A library in all its runs."""

    name: str
    columns: tuple[Data, ...]
    levels: tuple[LevelResult, ...]
    # (test, its clauses, its level, outcome, first line, command)
    failures: tuple[tuple[str, str, int, str, str, str], ...]

    @property
    def reached(self) -> int:
        """The last of the levels that passed one after the other; 0 for none."""
        passed = 0
        for level in self.levels:
            if level.verdict != "passed":
                break
            passed = level.number
        return passed


def results(data: Data, table: levels.Levels) -> list[PortResult]:
    """One for each library, in the order of the columns."""
    names = dict.fromkeys(column["implementation"] for column in data["columns"])
    return [_result(name, data, table) for name in names]


def _result(name: str, data: Data, table: levels.Levels) -> PortResult:
    numbers = [number for number, column in enumerate(data["columns"]) if column["implementation"] == name]
    worst: dict[str, Data] = {}
    for test in data["tests"]:
        found = [test["results"][number] for number in numbers if test["results"][number]]
        if found:
            worst[test["name"]] = min(found, key=lambda one: _WORST_FIRST.index(one["outcome"]))
    clauses_of = {test["name"]: test["clauses"] for test in data["tests"]}
    level_of = {test: table.of_test(test, clauses_of[test]) for test in worst}
    made = [_level(level, data, numbers, {test: result for test, result in worst.items() if level_of[test] == level.number},
                   {test for test, result in worst.items() if result["outcome"] == PASSED and level_of[test] <= level.number})
            for level in table.level]
    failures = [(test, ", ".join(clauses_of[test]), level_of[test], result["outcome"], first_line(result.get("detail", "")),
                 result.get("rerun", "")) for test, result in worst.items() if result["outcome"] in (FAILED, KNOWN)]
    return PortResult(name, tuple(data["columns"][number] for number in numbers), tuple(made),
                      tuple(sorted(failures, key=lambda one: (one[2], one[0]))))


def _level(level: levels.Level, data: Data, numbers: Sequence[int], due: Mapping[str, Data], passed: set[str]) -> LevelResult:
    counts = {outcome: sum(result["outcome"] == outcome for result in due.values()) for outcome in _WORST_FIRST}
    untested = [row["id"] for row in data["clauses"] if row["id"] in level.clauses and not passed.intersection(row["tests"])
                and not _cannot_be_tested(row, numbers)]
    return LevelResult(level.number, level.title, len(level.clauses), counts, tuple(untested))


def _cannot_be_tested(row: Data, numbers: Sequence[int]) -> bool:
    """Whether no test names it, as for what takes nodes or is about time; or a test that failed names it, which counts there."""
    cells = [row["cells"][number] for number in numbers]
    return not row["tests"] or any(cell["verdict"] in (FAILED, KNOWN) for cell in cells)


def document(port: PortResult, data: Data) -> str:
    """The page."""
    fingerprint = hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
    first = data["columns"].index(port.columns[0])
    not_covered: dict[str, list[str]] = {}
    for row in data["clauses"]:
        if row["cells"][first]["verdict"] == NOT_COVERED:
            not_covered.setdefault(row["cells"][first]["reason"], []).append(row["id"])
    return pages.environment().get_template("port.md.j2").render(
        port=port, last=levels.LAST, environment=data["environment"], not_covered=not_covered, fingerprint=fingerprint,
        specification=hashlib.sha256(_CLAUSES.read_bytes()).hexdigest(), duration=console.duration, FAILED=FAILED, KNOWN=KNOWN, PASSED=PASSED,
        SKIPPED=SKIPPED)


def write(folder: Path, matrix: Matrix) -> list[Path]:
    """port-NAME.md for each library."""
    written = []
    for port in results(matrix.data, levels.read()):
        path = folder / f"port-{port.name}.md"
        path.write_text(document(port, matrix.data), encoding="utf-8")
        written.append(path)
    return written
