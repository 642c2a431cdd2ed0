"""The samples of all runs, by what was asked of whom: a cell is one case of one benchmark, in one place, with one
contestant.

A program measures the library that it is linked with and the raw layers below; each series says which ("layer").
Libraries are contestants; so is each raw layer, with the samples of all programs, for it is the same in all. What a
program measures of its own library in another way (row by row, in place of one strided call) is a case of that library.
The raw side of a kernel is a whole computation, whose time depends on where its loops lie in the program: it is no
contestant, and each library is held against the one in its own program.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import median
from typing import Any, Iterable, Mapping, Optional, Sequence

from armci_tool.compare import statistics

LIBRARY, RAW = "library", "raw"

_UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_SIZE = re.compile(r"^(?:(\d+)(?: rows| segments)? ?x )?(\d+) (B|KiB|MiB|GiB)$")


@dataclass(frozen=True, order=True)
class Question:
    """What is asked of every contestant."""

    benchmark: str
    case: str
    size: str
    placement: str  # its label, empty on one node
    processes: int

    @property
    def bytes(self) -> Optional[int]:
        """Of the size, rows and segments together; None where it is no amount of bytes."""
        return bytes_of(self.size)

    @property
    def title(self) -> str:
        """`rma: put, 8 B`."""
        return f"{self.benchmark}: {self.case}" + (f", {self.size}" if self.size not in ("", "-") else "")


@dataclass
class Cell:
    """The answer of a contestant: samples of each round. Counted answers have one value in each, and no unit."""

    question: Question
    contestant: str
    kind: str = LIBRARY
    counted: bool = False
    moved: float = 0.0  # bytes in an iteration, where the program asks for rates
    samples: dict[int, list[float]] = field(default_factory=dict)
    # Of a library: the raw layers in its own programs, in the same moments; and which of them it is held against.
    beside: dict[str, dict[int, list[float]]] = field(default_factory=dict)
    baselines: set[str] = field(default_factory=set)

    @cached_property
    def medians(self) -> dict[int, float]:
        """Of each round."""
        return _medians(self.samples)

    @cached_property
    def level(self) -> Optional[statistics.Interval]:
        """The time itself; None of what is counted."""
        return None if self.counted or not self.medians else statistics.level(list(self.medians.values()))

    @property
    def value(self) -> float:
        """The time, or what was counted."""
        return self.level.middle if self.level else median(self.medians.values())

    @cached_property
    def all_samples(self) -> list[float]:
        """Of all rounds."""
        return [one for samples in self.samples.values() for one in samples]

    @property
    def percentile_99(self) -> float:
        """What 99 of 100 samples stay below; a sample of short calls is the mean of many."""
        return statistics.percentile_99(self.all_samples)

    @property
    def quiet(self) -> float:
        """What the best tenth of the best round stays below: other programs on the machine enter it least."""
        return min(statistics.percentile_10(one) for one in self.samples.values())

    @property
    def spread(self) -> float:
        """Of the samples inside of a round, as a part of its median; the median of the rounds."""
        return median(statistics.spread(one) for one in self.samples.values())

    @property
    def rate(self) -> Optional[float]:
        """Bytes per nanosecond, that is GB/s; None where nothing is said to move."""
        moved = self.moved or self.question.bytes or 0
        return moved / self.value if moved and not self.counted and self.value > 0 else None

    @cached_property
    def baseline(self) -> str:
        """The fastest of the raw layers that it is held against; empty where there is none."""
        held = {name: median(_medians(self.beside[name]).values()) for name in self.baselines}
        return min(held, key=lambda name: held[name]) if held else ""

    @property
    def baseline_value(self) -> float:
        """The time of that."""
        return statistics.level(list(_medians(self.beside[self.baseline]).values())).middle

    @cached_property
    def over_baseline(self) -> Optional[statistics.Interval]:
        """Its time over that of the raw layer."""
        return self.over(_medians(self.beside[self.baseline])) if self.baseline else None

    def beside_medians(self, name: str) -> dict[int, float]:
        """Of each round, of a raw layer in its own programs."""
        return _medians(self.beside[name])

    def over(self, medians: Mapping[int, float]) -> Optional[statistics.Interval]:
        """Its time over others of the same rounds."""
        return None if self.counted else statistics.ratio(self.medians, medians)


def bytes_of(size: str) -> Optional[int]:
    """`8 B`, `64 KiB`, `16 x 1 KiB`, `64 rows x 1 KiB`."""
    found = _SIZE.match(size)
    return int(found.group(1) or 1) * int(found.group(2)) * _UNITS[found.group(3)] if found else None


def collect(runs: Iterable[Mapping[str, Any]]) -> list[Cell]:
    """From runs as results.json keeps them (see record), in the order in which they were met."""
    made: dict[tuple[Question, str], Cell] = {}
    for run in runs:
        for case in _once(run):
            question = Question(run["benchmark"], case["name"], case["size"], run["placement"], run["processes"])
            _add(made, question, run, case)
    return list(made.values())


def by_question(cells: Sequence[Cell]) -> dict[Question, list[Cell]]:
    """Contestants together."""
    made: dict[Question, list[Cell]] = {}
    for cell in cells:
        made.setdefault(cell.question, []).append(cell)
    return made


def libraries(cells: Iterable[Cell]) -> list[Cell]:
    """Without the raw layers."""
    return [cell for cell in cells if cell.kind == LIBRARY]


def _once(run: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The cases of a run. A kernel may measure the same twice: `SpMV, aggregated` has nothing that `SpMV` has not."""
    cases: list[Mapping[str, Any]] = (run["data"] or {}).get("cases", [])
    if not run.get("kernel"):
        return cases
    return [case for case in cases if not any(_has_all_of(other, case) for other in cases)]


def _has_all_of(other: Mapping[str, Any], case: Mapping[str, Any]) -> bool:
    ways = [{series["name"] for series in one.get("series", ())} for one in (case, other)]
    return case["name"].startswith(other["name"] + ", ") and case["size"] == other["size"] and bool(ways[0]) \
        and ways[0] <= ways[1]


def _add(made: dict[tuple[Question, str], Cell], question: Question, run: Mapping[str, Any],
         case: Mapping[str, Any]) -> None:
    def cell(asked: Question, contestant: str, kind: str, counted: bool = False) -> Cell:
        return made.setdefault((asked, contestant), Cell(asked, contestant, kind, counted, float(case.get("bytes", 0))))

    if "value" in case:
        cell(question, run["contestant"], LIBRARY, counted=True).samples[run["round"]] = [float(case["value"])]
        return
    kept = [series for series in case["series"]
            if series["samples_ns"] and min(series["samples_ns"]) > 0 and series["role"] != "allowance"]
    raw = [series for series in kept if not _is_own(series)]
    for series in kept:
        if not _is_own(series):
            if not run.get("kernel"):
                at = cell(question, series["name"], RAW)
                at.samples.setdefault(run["round"], []).extend(series["samples_ns"])
            continue
        asked = question if series["role"] == "subject" else replace(question, case=f"{question.case}, {series['name']}")
        at = cell(asked, run["contestant"], LIBRARY)
        at.samples.setdefault(run["round"], []).extend(series["samples_ns"])
        for one in raw:
            at.beside.setdefault(one["name"], {})[run["round"]] = one["samples_ns"]
            if one["role"] == "baseline":
                at.baselines.add(one["name"])


def _is_own(series: Mapping[str, Any]) -> bool:
    """Whether it is of the library. In files of before the layer was told, what is not the subject is taken for raw."""
    return series["role"] == "subject" or series.get("layer") == LIBRARY


def _medians(samples: Mapping[int, Sequence[float]]) -> dict[int, float]:
    return {one: median(values) for one, values in samples.items() if values}
