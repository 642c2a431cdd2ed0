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
    """A row of impl/NAME/tuning.json: a setting, its values to be tried, and the cases of a benchmark that show it."""

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
    path = ROOT / "impl" / implementation / "tuning.json"
    if not path.exists():
        raise ToolError(f"{implementation} has no settings to tune", where=f"there is no {path}",
                        next_step="see the settings it has: tools/armci info --impl " + implementation)
    return [Row(one["setting"], one["default"], tuple(one["values"]), one["benchmark"], one["filter"])
            for one in json.loads(path.read_text())]


def score(run: bench.BenchRun) -> Optional[float]:
    """The geometric mean of what the cases took, each against its raw calls in the same run, in nanoseconds where it has
    none; None if nothing was timed."""
    times = [case["armci_ns"] / (case.get("baseline_ns", 0) or 1) for case in (run.data or {}).get("cases", [])
             if case.get("armci_ns", 0) > 0]
    return geometric_mean(times) if times and run.status == 0 else None


def table(trials: Sequence[Trial]) -> str:
    """A line for each value of each setting."""
    lines = []
    for trial in trials:
        default = trial.median_of(trial.row.default)
        for value in trial.row.values:
            middle = trial.median_of(value)
            marks = [mark for mark, given in (("default", value == trial.row.default), ("advised", value == trial.advised))
                     if given]
            shown = "failed" if middle is None else "-" if default is None else f"{middle / default:.2f}"
            lines.append([trial.row.setting, value, shown, ", ".join(marks)])
    return console.table(["setting", "value", "time / default's", ""], lines, numeric_from=2)


def advice(trials: Sequence[Trial]) -> str:
    """What to set, for a shell."""
    changed: Mapping[str, str] = {trial.row.setting: trial.advised for trial in trials
                                  if trial.advised != trial.row.default}
    if not changed:
        return f"the defaults are within {WORTH:.0%} of the best"
    return "\n".join(f"export {name}={value}" for name, value in changed.items())


def environment_file(trials: Sequence[Trial], implementation: str, mpi: str, where: str) -> str:
    """For `. FILE`: every setting that was tried, with what was measured of each of its values in each round. A setting
    whose default is as good as any is left as a comment."""
    lines = [f"# Settings of {implementation} above {mpi}, {where}: what tools/armci tune found best.",
             "# Scores of the rounds behind each value, the smaller the better: time of the benchmark's cases, against raw",
             f"# calls where it has any. What is better than the default by less than {WORTH:.0%} is not advised.", ""]
    for trial in trials:
        lines.append(f"# {trial.row.setting}, by the benchmark {trial.row.benchmark}, cases with '{trial.row.filter}'")
        for value in trial.row.values:
            scores = " ".join(f"{one:.4g}" for one in trial.scores.get(value, [])) or "failed"
            lines.append(f"#   {value}: {scores}")
        mark = "" if trial.advised != trial.row.default else "# (default) "
        lines += [f"{mark}export {trial.row.setting}={trial.advised}", ""]
    return "\n".join(lines)
