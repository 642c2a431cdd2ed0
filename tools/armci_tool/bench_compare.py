"""Two libraries under the same benchmarks: their programs take turns, and each case is compared by its medians."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import Any, Iterable, Optional, Sequence

from armci_tool import bench, console

# Nearer to each other than this is the same.
SAME = 0.05


@dataclass
class Cell:
    """A case: the medians that the runs of each library reported, in nanoseconds, those of the raw calls beside, and what
    the best tenth of each run's samples stayed below."""

    benchmark: str
    case: str
    size: str
    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)
    our_raw: list[float] = field(default_factory=list)
    their_raw: list[float] = field(default_factory=list)
    our_best: list[float] = field(default_factory=list)
    their_best: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> Optional[float]:
        """Our time over theirs; None where one has none."""
        return _ratio(self.ours, self.theirs)

    @property
    def raw_ratio(self) -> Optional[float]:
        """The same of the raw calls in the same runs, which know of neither: what is not 1 here is noise, or the way in
        which a library has started MPI."""
        return _ratio(self.our_raw, self.their_raw)

    @property
    def quiet_ratio(self) -> Optional[float]:
        """The same of the best that was seen of each: other programs on the machine enter it least."""
        return min(self.our_best) / min(self.their_best) if self.our_best and self.their_best else None

    @property
    def verdict(self) -> str:
        """`faster`, `same`, `slower` are said of ours, by the medians."""
        return _verdict(self.ratio)

    @property
    def quiet_verdict(self) -> str:
        """The same by the best."""
        return _verdict(self.quiet_ratio)

    def as_json(self) -> dict[str, Any]:
        """With all medians."""
        return {"benchmark": self.benchmark, "case": self.case, "size": self.size, "ratio": self.ratio,
                "quiet_ratio": self.quiet_ratio, "raw_ratio": self.raw_ratio, "verdict": self.verdict,
                "quiet_verdict": self.quiet_verdict, "ours_ns": self.ours, "theirs_ns": self.theirs,
                "our_raw_ns": self.our_raw, "their_raw_ns": self.their_raw, "our_best_ns": self.our_best,
                "their_best_ns": self.their_best}


def cells(ours: Sequence[bench.BenchRun], theirs: Sequence[bench.BenchRun]) -> list[Cell]:
    """The timed cases of all runs, in the order in which they were met."""
    made: dict[tuple[str, str, str], Cell] = {}
    for runs, is_ours in ((ours, True), (theirs, False)):
        for run in runs:
            for case in (run.data or {}).get("cases", []):
                if case.get("armci_ns", 0) <= 0:
                    continue
                key = (run.name, case["name"], case["size"])
                cell = made.setdefault(key, Cell(*key))
                (cell.ours if is_ours else cell.theirs).append(case["armci_ns"])
                (cell.our_best if is_ours else cell.their_best).extend(
                    one["p10_ns"] for one in case["series"] if one["role"] == "subject")
                if case["baseline_ns"] > 0:
                    (cell.our_raw if is_ours else cell.their_raw).append(case["baseline_ns"])
    return list(made.values())


def table(compared: Sequence[Cell], our_name: str, their_name: str) -> str:
    """A line for each case."""
    rows = [[cell.benchmark, cell.case, cell.size, _time(cell.ours), _time(cell.theirs), _number(cell.ratio),
             _number(cell.quiet_ratio), _number(cell.raw_ratio), cell.verdict] for cell in compared]
    header = ["benchmark", "case", "size", our_name, their_name, "ratio", "quiet", "raw", "verdict"]
    return console.table(header, rows, numeric_from=3)


def counts(verdicts: Iterable[str]) -> dict[str, int]:
    """How often each was given."""
    given = list(verdicts)
    return {verdict: given.count(verdict) for verdict in ("faster", "same", "slower", "alone")}


def _verdict(ratio: Optional[float]) -> str:
    if ratio is None:
        return "alone"
    if ratio > 1 + SAME:
        return "slower"
    return "faster" if ratio < 1 / (1 + SAME) else "same"


def _ratio(ours: Sequence[float], theirs: Sequence[float]) -> Optional[float]:
    return median(ours) / median(theirs) if ours and theirs else None


def _time(nanoseconds: Sequence[float]) -> str:
    return bench.time_text(median(nanoseconds)) if nanoseconds else "-"


def _number(value: Optional[float]) -> str:
    return f"{value:.2f}" if value is not None else "-"
