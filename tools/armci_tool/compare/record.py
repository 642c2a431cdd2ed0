"""A comparison as files for scripts: results.json, which has every sample and can be read again, and results.csv."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence

from armci_tool.compare import earlier, guidelines, standings
from armci_tool.compare.cells import Cell, Question, collect
from armci_tool.compare.noise import Noise
from armci_tool.compare.runner import Course
from armci_tool.compare.statistics import Interval
from armci_tool.errors import ToolError

SCHEMA = "armci-compare-1"
JSON_NAME, CSV_NAME = "results.json", "results.csv"
_CHANGES_ANYWAY = frozenset({"date", "commit"})
_CSV_HEADER = ("benchmark", "case", "size", "bytes", "placement", "processes", "contestant", "kind", "rounds", "value",
               "low", "high", "unit", "spread", "quiet_ns", "p99_ns", "gb_per_s", "over_fastest", "over_fastest_low",
               "over_fastest_high", "verdict", "baseline", "over_baseline", "over_baseline_low", "over_baseline_high")


@dataclass
class Comparison:
    """All that is known at the end; the reports show it."""

    environment: Mapping[str, str]
    plan: Mapping[str, Any]
    contestants: Sequence[Mapping[str, str]]
    noise_before: Noise
    noise_after: Noise
    course: Course
    remarks: Sequence[str] = ()
    changes: Sequence[earlier.Change] = ()
    agreements: Sequence[earlier.Agreement] = ()
    baseline: str = ""  # what the changes are against
    cells: list[Cell] = field(default_factory=list)
    standings: dict[Question, list[standings.Standing]] = field(default_factory=dict)
    checks: list[guidelines.Check] = field(default_factory=list)

    def conclude(self, others: Sequence[Cell] = ()) -> None:
        """Draws the conclusions from the runs; cells of `others` are from other places."""
        self.cells = collect(self.course.runs)
        self.standings = standings.standings(self.cells)
        places = {cell.question.placement for cell in self.cells}
        self.checks = guidelines.check(self.cells, others=[one for one in others if one.question.placement not in places])

    @property
    def violations(self) -> list[guidelines.Check]:
        """Of the guidelines."""
        return guidelines.violations(self.checks)

    @property
    def tallies(self) -> list[guidelines.Tally]:
        """Of each rule."""
        return guidelines.tally(self.checks)

    @property
    def kernels(self) -> set[str]:
        """The benchmarks whose cases are whole computations."""
        return {run["benchmark"] for run in self.course.runs if run["kernel"]}

    def as_json(self) -> dict[str, Any]:
        """With all samples."""
        return {"schema": SCHEMA, "environment": dict(self.environment), "plan": dict(self.plan),
                "contestants": list(self.contestants), "remarks": list(self.remarks),
                "noise": {"before": self.noise_before.as_json(), "after": self.noise_after.as_json()},
                "rounds": self.course.rounds, "seconds": round(self.course.seconds, 1), "baseline": self.baseline,
                "failures": [one.as_json() for one in self.course.failures],
                "violations": [one.as_json() for one in self.violations],
                "regressions": [one.as_json() for one in earlier.regressions(self.changes)],
                "agreements": [one.as_json() for one in self.agreements], "runs": self.course.runs}


def write(folder: Path, made: Comparison) -> list[Path]:
    """Both files."""
    written = [folder / JSON_NAME, folder / CSV_NAME]
    written[0].write_text(json.dumps(made.as_json(), separators=(",", ":")) + "\n")
    written[1].write_text(table(made))
    return written


@dataclass(frozen=True)
class Earlier:
    """What is kept of a comparison of before."""

    path: Path
    cells: Sequence[Cell]
    environment: Mapping[str, str]

    def title(self, now: Mapping[str, str]) -> str:
        """The file and its date, and what was another then."""
        others = [f"{name} {value}" for name, value in self.environment.items()
                  if name not in _CHANGES_ANYWAY and now.get(name) != value]
        return (f"{self.path} ({self.environment.get('date', 'no date')}, commit {self.environment.get('commit', 'none')}"
                + ("; different then: " + ", ".join(others) if others else "") + ")")


def read(path: Path) -> Earlier:
    """From a results.json. ToolError if it is none."""
    next_step = f"give the {JSON_NAME} of a report of tools/armci compare"
    try:
        document = json.loads(path.read_text())
    except OSError as error:
        raise ToolError(f"cannot read {path}", where=str(error), next_step=next_step) from error
    except (ValueError, RecursionError) as error:
        raise ToolError(f"{path} is no JSON", where=str(error), next_step=next_step) from error
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != SCHEMA:
        raise ToolError(f"{path} is no comparison", where=f"its schema is {schema}, not {SCHEMA}", next_step=next_step)
    try:
        earlier = Earlier(path, collect(document["runs"]), dict(document["environment"]))
        # Now, and not after all has been measured.
        if not all(math.isfinite(sample) for cell in earlier.cells for sample in cell.all_samples):
            raise ValueError("samples that are no numbers")
        return earlier
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ToolError(f"{path} is damaged", where=f"{type(error).__name__}: {error}", next_step=next_step) from error


def table(made: Comparison) -> str:
    """A line for each cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_CSV_HEADER)
    for answers in made.standings.values():
        for one in answers:
            writer.writerow(_row(one))
    return text.getvalue()


def _row(one: standings.Standing) -> list[object]:
    cell, asked = one.cell, one.cell.question
    row: list[object] = [asked.benchmark, asked.case, asked.size, asked.bytes, asked.placement, asked.processes,
                         cell.contestant, cell.kind, len(cell.medians), _digits(cell.value)]
    if cell.level is None:
        return [*row, *[""] * (len(_CSV_HEADER) - len(row))]
    row += [_digits(cell.level.low), _digits(cell.level.high), "ns", _digits(cell.spread), _digits(cell.quiet),
            _digits(cell.percentile_99), _digits(cell.rate)]
    return [*row, *_numbers(one.over_fastest), one.verdict, cell.baseline, *_numbers(cell.over_baseline)]


def _numbers(ratio: Optional[Interval]) -> list[str]:
    return [_digits(ratio.middle), _digits(ratio.low), _digits(ratio.high)] if ratio else [""] * 3


def _digits(value: Optional[float]) -> str:
    return f"{value:.5g}" if value is not None and math.isfinite(value) else ""
