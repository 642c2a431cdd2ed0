"""Which values of an implementation's settings are the best on this machine: for each setting the benchmark that shows
it, run under one value after another, in turns."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from statistics import geometric_mean, median
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence

from armci_tool import bench, console
from armci_tool.compare import statistics
from armci_tool.errors import ToolError
from armci_tool.repository import ROOT

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import]

# A value that is not better than the default by this is not advised.
WORTH = 0.05


@dataclass(frozen=True)
class Row:
    """A row of impl/NAME/tuning.json: a setting, its values to be tried, and the cases of a benchmark that show it. A
    threshold is shown by sizes that lie between its values: `full` has all of them. `least` are counted answers, and
    what they have to be: a value that is faster because it is unfair is not advised."""

    setting: str
    default: str
    values: Sequence[str]
    benchmark: str
    filters: Sequence[str]  # the cases, as --filter has them; each in a run of its own
    full: bool = False
    least: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Measured:
    """The results of a round for a value: the time of each case over that of its raw calls, or in nanoseconds where it
    has none; and the counts."""

    times: Mapping[str, float]
    counted: Mapping[str, float] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """Of all cases, the smaller the better."""
        return geometric_mean(self.times.values())


@dataclass
class Trial:
    """The measurements for a row: for each value its rounds."""

    row: Row
    rounds: dict[str, dict[int, Measured]] = field(default_factory=dict)

    @property
    def scores(self) -> DataFrame:
        """By value and round; a row of nothing where no round succeeded."""
        import pandas
        found = {value: {turn: one.score for turn, one in rounds.items()} for value, rounds in self.rounds.items()}
        return pandas.DataFrame.from_dict(found, orient="index").reindex(self.row.values).astype(float)

    @property
    def cases(self) -> DataFrame:
        """Medians by case and value, of the cases that every round of every value has."""
        import pandas
        found = {(value, turn): one.times for value, rounds in self.rounds.items() for turn, one in rounds.items()}
        made = pandas.DataFrame(found).dropna().T
        return made.groupby(level=0, sort=False).median().T if found else made

    def median_of(self, value: str) -> Optional[float]:
        """Of the scores; None where no round succeeded."""
        return median(one.score for one in self.rounds[value].values()) if self.rounds.get(value) else None

    def lacks(self, value: str) -> str:
        """The counter whose median is below the least that a valid run needs, as a sentence; empty if there is none."""
        for name, least in self.row.least.items():
            counted = [one.counted[name] for one in self.rounds.get(value, {}).values() if name in one.counted]
            if counted and median(counted) < least:
                return f"{name} {median(counted):.2g}, less than {least:g}"
        return ""

    @property
    def summary(self) -> DataFrame:
        """By value: the interval `ratio` of the time with it over that with the default, from the rounds in which both
        succeeded; whether it failed, what it lacks, and whether it is advised: the default, unless another value is
        better for certain, and by more than WORTH; the best of such. Where the default fails, the best that does not."""
        import numpy
        logs, default = numpy.log(self.scores), self.row.default
        made = statistics.intervals(logs - logs.loc[default])
        made["failed"], made["lacks"] = logs.isna().all(axis=1), [self.lacks(value) for value in logs.index]
        able = made[~made.failed & (made.lacks == "")]
        if default in able.index:
            able = able[(able.index == default) | ((able.ratio_high < 1) & (able.ratio < 1 - WORTH))]
        medians = self.scores.loc[able.index].median(axis=1)
        made["advised"] = made.index == (default if able.empty else medians.idxmin())
        return made

    @property
    def advised(self) -> str:
        """The value."""
        return str(self.summary.advised.idxmax())


def rows(implementation: str) -> list[Row]:
    """Of an implementation; ToolError if it has none."""
    path = ROOT / "impl" / implementation / "tuning.json"
    if not path.exists():
        raise ToolError(f"{implementation} has no settings to tune", where=f"there is no {path}",
                        next_step="see the settings it has: tools/armci info --impl " + implementation)
    return [Row(**one) for one in json.loads(path.read_text())]


def measured(runs: Sequence[bench.BenchRun]) -> Optional[Measured]:
    """Of the runs of a round, one for each filter; None if one failed, or nothing was timed."""
    if any(run.status != 0 or run.data is None for run in runs):
        return None
    cases = [case for run in runs for case in (run.data or {})["cases"]]
    times = {f"{case['name']}, {case['size']}": case["armci_ns"] / (_raw_ns(case) or 1)
             for case in cases if case.get("armci_ns", 0) > 0}
    return Measured(times, {case["name"]: case["value"] for case in cases if "value" in case}) if times else None


def _raw_ns(case: Mapping[str, Any]) -> float:
    """Of what the case is held against, if that is no other call of the library, which has the same settings."""
    layers = {series["name"]: series.get("layer") for series in case.get("series", [])}
    return float(case.get("baseline_ns", 0)) if layers.get(case.get("baseline"), "raw") == "raw" else 0.0


def table(trials: Sequence[Trial]) -> str:
    """A line for each value of each setting."""
    lines = []
    for trial in trials:
        for one in trial.summary.itertuples():
            is_default = one.Index == trial.row.default
            within = f"{one.ratio_low:.2f} to {one.ratio_high:.2f}" if one.ratio_low > 0 else "one round"
            over = "failed" if one.failed else "-" if math.isnan(one.ratio) else f"{one.ratio:.2f}"
            within = "" if math.isnan(one.ratio) or is_default else within
            marks = ["default"] * is_default + ["advised"] * one.advised + [one.lacks] * bool(one.lacks)
            lines.append([trial.row.setting, one.Index, over, within, ", ".join(marks)])
    return console.table(["setting", "value", "time / default's", "95 % within", ""], lines, numeric_from=2)


def advice(trials: Sequence[Trial]) -> str:
    """The settings, for a shell."""
    changed = [f"export {trial.row.setting}={trial.advised}" for trial in trials if trial.advised != trial.row.default]
    return "\n".join(changed) or "no value is better than its default for certain"


def environment_file(trials: Sequence[Trial], implementation: str, mpi: str, where: str) -> str:
    """For ARMCI_TUNING_FILE, or `. FILE`: every setting that was tried, with what was measured of each of its values: the score of each round,
    and each case. A setting whose default is as good as any is left as a comment."""
    lines = [f"# Settings of {implementation} above {mpi}, {where}: what tools/armci tune found best.",
             "# Behind each value the scores of the rounds, the smaller the better, and the median of each case: times over",
             "# those of raw calls, or nanoseconds where it has none.",
             f"# A value not better than the default for certain (95 %), and by {WORTH:.0%}, is not advised.", ""]
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
    found = trial.cases
    rows_made = [[case, *(f"{time:.3g}" for time in row)] for case, *row in found.itertuples(name=None)]
    lines = console.table(["case", *found.columns], rows_made).splitlines() if rows_made else []
    return ["#" + f"   {line}".rstrip() for line in ["", *lines]] if lines else []
