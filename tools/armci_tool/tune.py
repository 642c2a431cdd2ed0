"""Which values of an implementation's settings are the best on this machine: for each setting the benchmark that shows
it, run under one value after another, in turns."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from statistics import geometric_mean, median
from typing import Any, Mapping, Optional, Sequence

from armci_tool import bench, console
from armci_tool.errors import ToolError
from armci_tool.repository import ROOT

# A value that is no better than the default by this is not advised.
WORTH = 0.05


@dataclass(frozen=True)
class Row:
    """A row of impl/NAME/tuning.json: a setting, its values to be tried, and the cases of a benchmark that show it. A
    threshold is shown by sizes that lie between its values: `full` has all of them. `least` are counted answers, and
    what they have to be: a value that is faster because it is unfair is not advised."""

    setting: str
    default: str
    values: tuple[str, ...]
    benchmark: str
    filters: tuple[str, ...]  # the cases, as --filter has them; each in a run of its own
    full: bool = False
    least: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Measured:
    """What a round said of a value: the time of each case over that of its raw calls, or in nanoseconds where it has
    none; and what was counted."""

    times: Mapping[str, float]
    counted: Mapping[str, float] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """Of all cases, the smaller the better."""
        return geometric_mean(self.times.values())


@dataclass
class Trial:
    """What was measured for a row: for each value its rounds."""

    row: Row
    rounds: dict[str, list[Measured]] = field(default_factory=dict)

    def median_of(self, value: str) -> Optional[float]:
        """Of the scores; None where no round succeeded."""
        return median(one.score for one in self.rounds[value]) if self.rounds.get(value) else None

    def median_of_case(self, value: str, case: str) -> float:
        """Of a value that was measured."""
        return median(one.times[case] for one in self.rounds[value])

    def lacks(self, value: str) -> str:
        """What it counts too little of; empty where it is not too little of anything."""
        for name, least in self.row.least:
            counted = [one.counted[name] for one in self.rounds.get(value, []) if name in one.counted]
            if counted and median(counted) < least:
                return f"{name} {median(counted):.2g}, less than {least:g}"
        return ""

    @property
    def cases(self) -> list[str]:
        """Those that every round of every value has."""
        measured = [one for rounds in self.rounds.values() for one in rounds]
        return [name for name in (measured[0].times if measured else ()) if all(name in one.times for one in measured)]

    @property
    def advised(self) -> str:
        """The default, unless another value is better by more than WORTH."""
        scores = {value: self.median_of(value) for value in self.row.values}
        measured = {value: one for value, one in scores.items() if one is not None and not self.lacks(value)}
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
    return [Row(one["setting"], one["default"], tuple(one["values"]), one["benchmark"], tuple(one["filters"]),
                bool(one.get("full")), tuple(one.get("least", {}).items()))
            for one in json.loads(path.read_text())]


def measured(runs: Sequence[bench.BenchRun]) -> Optional[Measured]:
    """Of the runs of a round, one for each filter; None if one failed, or nothing was timed."""
    if any(run.status != 0 or run.data is None for run in runs):
        return None
    cases = [case for run in runs for case in (run.data or {})["cases"]]
    times = {_title(case): case["armci_ns"] / (case.get("baseline_ns", 0) or 1)
             for case in cases if case.get("armci_ns", 0) > 0}
    return Measured(times, {case["name"]: case["value"] for case in cases if "value" in case}) if times else None


def _title(case: Mapping[str, Any]) -> str:
    return f"{case.get('name', '')}, {case.get('size', '')}"


def table(trials: Sequence[Trial]) -> str:
    """A line for each value of each setting."""
    lines = []
    for trial in trials:
        default = trial.median_of(trial.row.default)
        for value in trial.row.values:
            middle = trial.median_of(value)
            marks = [mark for mark, given in (("default", value == trial.row.default), ("advised", value == trial.advised),
                                              (trial.lacks(value), True)) if given and mark]
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
    """For `. FILE`: every setting that was tried, with what was measured of each of its values: the score of each round,
    and each case. A setting whose default is as good as any is left as a comment."""
    lines = [f"# Settings of {implementation} above {mpi}, {where}: what tools/armci tune found best.",
             "# Behind each value the scores of the rounds, the smaller the better, and the median of each case: times over",
             "# those of raw calls, or nanoseconds where it has none.",
             f"# What is better than the default by less than {WORTH:.0%} is not advised.", ""]
    for trial in trials:
        lines.append(f"# {trial.row.setting}, by the benchmark {trial.row.benchmark}, cases with "
                     + " or ".join(f"'{one}'" for one in trial.row.filters))
        for value in trial.row.values:
            scores = " ".join(f"{one.score:.4g}" for one in trial.rounds.get(value, [])) or "failed"
            lines.append(f"#   {value}: {scores}" + (f"  ({trial.lacks(value)})" if trial.lacks(value) else ""))
        lines += _cases(trial)
        mark = "" if trial.advised != trial.row.default else "# (default) "
        lines += [f"{mark}export {trial.row.setting}={trial.advised}", ""]
    return "\n".join(lines)


def _cases(trial: Trial) -> list[str]:
    """A table as comments: a line for each case, a column for each value."""
    values = [value for value in trial.row.values if trial.rounds.get(value)]
    rows_made = [[case, *(f"{trial.median_of_case(value, case):.3g}" for value in values)] for case in trial.cases]
    if not rows_made:
        return []
    return ["#", *(f"#   {line}".rstrip() for line in console.table(["case", *values], rows_made).splitlines())]
