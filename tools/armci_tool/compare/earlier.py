"""This run against an earlier one: cell by cell, and whether the two say the same."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Iterator, Mapping, Sequence

from armci_tool.compare import statistics
from armci_tool.compare.cells import Cell, Question, by_question, libraries
from armci_tool.compare.statistics import Interval

# An interval of new over old that lies beyond it entirely is worth a look.
REGRESSION = 1.05


@dataclass(frozen=True)
class Change:
    """A cell that both runs have; the new time over the old one."""

    question: Question
    contestant: str
    old: Interval
    new: Interval
    ratio: Interval

    @property
    def agrees(self) -> bool:
        """Whether both may have measured the same."""
        return _contains_one(self.ratio)

    @property
    def is_regression(self) -> bool:
        """Slower for certain."""
        return self.ratio.bounded and self.ratio.low > REGRESSION

    @property
    def is_gain(self) -> bool:
        """Faster for certain."""
        return self.ratio.bounded and self.ratio.high < 1 / REGRESSION

    def as_json(self) -> dict[str, Any]:
        """For results.json."""
        return {"question": asdict(self.question), "contestant": self.contestant, "old_ns": self.old.as_json(),
                "new_ns": self.new.as_json(), "ratio": self.ratio.as_json()}


@dataclass(frozen=True)
class Agreement:
    """How many of the figures of two runs may be the same: the interval (Welch) of their ratio contains 1. One in twenty
    lies outside where nothing has changed."""

    what: str
    agreeing: int
    of: int

    @property
    def text(self) -> str:
        """For a line of its own."""
        return f"{self.agreeing} of {self.of} {self.what} agree within their intervals" + (
            f" ({100 * self.agreeing / self.of:.1f} %)" if self.of else "")

    def as_json(self) -> dict[str, Any]:
        """For results.json."""
        return asdict(self)


def agreements(old: Sequence[Cell], new: Sequence[Cell]) -> list[Agreement]:
    """Of the ratios of two libraries to the same question, of those to the raw layers in the same programs, and of the
    times: ratios are what survives another mood of the machine."""
    ratios = [statistics.ratio_apart(ours, theirs) for ours, theirs in _pairs_of_ratios(old, new)]
    over_raw = [statistics.ratio_apart(ours, theirs) for ours, theirs in _pairs_over_raw(old, new)]
    times = [one.ratio for one in changes(old, new) if one.ratio.bounded]
    return [Agreement(what, sum(_contains_one(one) for one in found), len(found)) for what, found in (
        ("ratios of two contestants", ratios), ("ratios to raw layers", over_raw), ("times", times))]


def _pairs_over_raw(old: Sequence[Cell], new: Sequence[Cell]) -> Iterator[tuple[list[float], list[float]]]:
    """Of each library and each raw layer that it is held against, by rounds, in the new run and in the old one."""
    before = {(cell.question, cell.contestant): cell for cell in libraries(old)}
    for cell in libraries(new):
        other = before.get((cell.question, cell.contestant))
        for name in sorted(cell.baselines & other.baselines) if other is not None and not cell.counted else ():
            ours = _ratios(cell.medians, cell.beside_medians(name))
            theirs = _ratios(other.medians, other.beside_medians(name)) if other is not None else []
            if min(len(ours), len(theirs)) > 1:
                yield ours, theirs


def _pairs_of_ratios(old: Sequence[Cell], new: Sequence[Cell]) -> Iterator[tuple[list[float], list[float]]]:
    """Of each pair of libraries, by rounds, in the new run and in the old one; not of one round, which says nothing."""
    before = by_question(libraries(old))
    for question, answers in by_question(libraries(new)).items():
        known = {cell.contestant: cell for cell in before.get(question, [])}
        shared = [cell for cell in answers if cell.contestant in known]
        for one, other in combinations(shared, 2):
            ours = _ratios(one.medians, other.medians)
            theirs = _ratios(known[one.contestant].medians, known[other.contestant].medians)
            if not one.counted and min(len(ours), len(theirs)) > 1:
                yield ours, theirs


def _ratios(ours: Mapping[int, float], theirs: Mapping[int, float]) -> list[float]:
    """Round by round."""
    return [ours[one] / theirs[one] for one in sorted(set(ours) & set(theirs)) if ours[one] > 0 and theirs[one] > 0]


def _contains_one(found: Interval) -> bool:
    # Equal values are 1 but for the rounding of a logarithm.
    return found.low <= 1 + 1e-12 and found.high >= 1 - 1e-12


def changes(old: Sequence[Cell], new: Sequence[Cell]) -> list[Change]:
    """Of the libraries, in the order of the new run."""
    before = {(cell.question, cell.contestant): cell for cell in libraries(old)}
    made = []
    for cell in libraries(new):
        other = before.get((cell.question, cell.contestant))
        if other is not None and other.level is not None and cell.level is not None:
            ratio = statistics.ratio_apart(list(cell.medians.values()), list(other.medians.values()))
            made.append(Change(cell.question, cell.contestant, other.level, cell.level, ratio))
    return made


def regressions(found: Sequence[Change]) -> list[Change]:
    """The worst first."""
    return sorted((one for one in found if one.is_regression), key=lambda one: -one.ratio.low)


def gains(found: Sequence[Change]) -> list[Change]:
    """The best first."""
    return sorted((one for one in found if one.is_gain), key=lambda one: one.ratio.high)
