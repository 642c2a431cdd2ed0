"""Which values of an implementation's settings are the best on this machine: for each setting the benchmark that shows
it, run under one value after another, in turns."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from statistics import geometric_mean, median
from typing import Mapping, Optional, Sequence

from armci_tool import bench, console
from armci_tool.errors import ToolError
from armci_tool.repository import ROOT

# A value that is no better than the default by this is not advised.
WORTH = 0.05


@dataclass(frozen=True)
class Row:
    """A row of impl/NAME/calibration.json: a setting, its values to be tried, and the cases of a benchmark that show it."""

    setting: str
    default: str
    values: tuple[str, ...]
    benchmark: str
    filter: str


@dataclass
class Trial:
    """What was measured for a row: for each value a score of each round, the smaller the better."""

    row: Row
    scores: dict[str, list[float]] = field(default_factory=dict)

    def median_of(self, value: str) -> Optional[float]:
        """None where no round succeeded."""
        return median(self.scores[value]) if self.scores.get(value) else None

    @property
    def advised(self) -> str:
        """The default, unless another value is better by more than WORTH."""
        measured = {value: median(scores) for value, scores in self.scores.items() if scores}
        if not measured:
            return self.row.default
        best = min(measured, key=lambda value: measured[value])
        default = measured.get(self.row.default)
        return best if default is None or measured[best] < default * (1 - WORTH) else self.row.default


def rows(implementation: str) -> list[Row]:
    """Of an implementation; ToolError if it has none."""
    path = ROOT / "impl" / implementation / "calibration.json"
    if not path.exists():
        raise ToolError(f"{implementation} has no settings to calibrate", where=f"there is no {path}",
                        next_step="see the settings it has: tools/armci info --impl " + implementation)
    return [Row(one["setting"], one["default"], tuple(one["values"]), one["benchmark"], one["filter"])
            for one in json.loads(path.read_text())]


def score(run: bench.BenchRun) -> Optional[float]:
    """The geometric mean of what the cases took, each against its raw calls in the same run; None if nothing was timed."""
    ratios = [case["armci_ns"] / case["baseline_ns"] for case in (run.data or {}).get("cases", [])
              if case.get("armci_ns", 0) > 0 and case.get("baseline_ns", 0) > 0]
    return geometric_mean(ratios) if ratios and run.status == 0 else None


def table(trials: Sequence[Trial]) -> str:
    """A line for each value of each setting."""
    lines = []
    for trial in trials:
        for value in trial.row.values:
            middle = trial.median_of(value)
            marks = [mark for mark, given in (("default", value == trial.row.default), ("advised", value == trial.advised))
                     if given]
            lines.append([trial.row.setting, value, "failed" if middle is None else f"{middle:.2f}", ", ".join(marks)])
    return console.table(["setting", "value", "time / raw", ""], lines, numeric_from=2)


def advice(trials: Sequence[Trial]) -> str:
    """What to set, for a shell."""
    changed: Mapping[str, str] = {trial.row.setting: trial.advised for trial in trials
                                  if trial.advised != trial.row.default}
    if not changed:
        return f"the defaults are within {WORTH:.0%} of the best"
    return "\n".join(f"export {name}={value}" for name, value in changed.items())
