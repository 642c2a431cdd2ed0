"""This run against an earlier one, cell by cell."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Sequence

from armci_tool.compare import statistics
from armci_tool.compare.cells import Cell, Question, libraries
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
        return self.old.overlaps(self.new)

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
