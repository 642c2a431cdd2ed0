"""Which values of an implementation's settings are the best on this machine: for each setting the benchmark that shows
it, run under one value after another, in turns."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from statistics import geometric_mean, median
from typing import Any, Mapping, Optional, Sequence

from armci_tool import bench, console
from armci_tool.compare import statistics
from armci_tool.errors import ToolError
from armci_tool.repository import ROOT

# A value that is not better than the default by this is not advised.
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
    rounds: dict[str, dict[int, Measured]] = field(default_factory=dict)

    def median_of(self, value: str) -> Optional[float]:
        """Of the scores; None where no round succeeded."""
        return median(one.score for one in self.rounds[value].values()) if self.rounds.get(value) else None

    def median_of_case(self, value: str, case: str) -> float:
        """Of a value that was measured."""
        return median(one.times[case] for one in self.rounds[value].values())

    def lacks(self, value: str) -> str:
        """What it counts too little of; empty where it is not too little of anything."""
        for name, least in self.row.least:
            counted = [one.counted[name] for one in self.rounds.get(value, {}).values() if name in one.counted]
            if counted and median(counted) < least:
                return f"{name} {median(counted):.2g}, less than {least:g}"
        return ""

    @property
    def cases(self) -> list[str]:
        """Those that every round of every value has."""
        measured = [one for rounds in self.rounds.values() for one in rounds.values()]
        return [name for name in (measured[0].times if measured else ()) if all(name in one.times for one in measured)]

    def over_default(self, value: str) -> Optional[statistics.Interval]:
        """The time with it over that with the default, from the rounds in which both succeeded."""
        scores = [{turn: one.score for turn, one in self.rounds.get(name, {}).items()} for name in (value, self.row.default)]
        return statistics.ratio(*scores)

    @property
    def advised(self) -> str:
        """The default, unless another value is better for certain, and by more than WORTH; the best of such. Where the
        default fails, the best that does not."""
        able = [value for value in self.row.values if self.median_of(value) is not None and not self.lacks(value)]
        if self.row.default in able:
            able = [value for value in able if value == self.row.default or self._is_worth_it(value)]
        return min(able, key=lambda value: self.median_of(value) or 0.0) if able else self.row.default

    def _is_worth_it(self, value: str) -> bool:
        found = self.over_default(value)
        return found is not None and found.high < 1 and found.middle < 1 - WORTH


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
    times = {_title(case): case["armci_ns"] / (_raw_ns(case) or 1) for case in cases if case.get("armci_ns", 0) > 0}
    return Measured(times, {case["name"]: case["value"] for case in cases if "value" in case}) if times else None


def _raw_ns(case: Mapping[str, Any]) -> float:
    """Of what the case is held against, if that is no other call of the library, which has the same settings."""
    layer = next((series.get("layer") for series in case.get("series", []) if series["name"] == case.get("baseline")), "raw")
    return float(case.get("baseline_ns", 0)) if layer == "raw" else 0.0


def _title(case: Mapping[str, Any]) -> str:
    return f"{case.get('name', '')}, {case.get('size', '')}"


def table(trials: Sequence[Trial]) -> str:
    """A line for each value of each setting."""
    lines = []
    for trial in trials:
        for value in trial.row.values:
            marks = [mark for mark, given in (("default", value == trial.row.default), ("advised", value == trial.advised),
                                              (trial.lacks(value), True)) if given and mark]
            lines.append([trial.row.setting, value, *_over_default(trial, value), ", ".join(marks)])
    return console.table(["setting", "value", "time / default's", "95 % within", ""], lines, numeric_from=2)


def _over_default(trial: Trial, value: str) -> tuple[str, str]:
    if trial.median_of(value) is None:
        return "failed", ""
    found = trial.over_default(value)
    if found is None or value == trial.row.default:
        return ("-" if found is None else "1.00"), ""
    return f"{found.middle:.2f}", f"{found.low:.2f} to {found.high:.2f}" if found.bounded else "one round"


def advice(trials: Sequence[Trial]) -> str:
    """What to set, for a shell."""
    changed: Mapping[str, str] = {trial.row.setting: trial.advised for trial in trials
                                  if trial.advised != trial.row.default}
    if not changed:
        return "no value is better than its default for certain"
    return "\n".join(f"export {name}={value}" for name, value in changed.items())


def environment_file(trials: Sequence[Trial], implementation: str, mpi: str, where: str) -> str:
    """For `. FILE`: every setting that was tried, with what was measured of each of its values: the score of each round,
    and each case. A setting whose default is as good as any is left as a comment."""
    lines = [f"# Settings of {implementation} above {mpi}, {where}: what tools/armci tune found best.",
             "# Behind each value the scores of the rounds, the smaller the better, and the median of each case: times over",
             "# those of raw calls, or nanoseconds where it has none.",
             f"# What is not better than the default for certain (95 %), and by {WORTH:.0%}, is not advised.", ""]
    for trial in trials:
        lines.append(f"# {trial.row.setting}, by the benchmark {trial.row.benchmark}, cases with "
                     + " or ".join(f"'{one}'" for one in trial.row.filters))
        for value in trial.row.values:
            scores = " ".join(f"{one.score:.4g}" for one in trial.rounds.get(value, {}).values()) or "failed"
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
