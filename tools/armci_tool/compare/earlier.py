"""This run against an earlier one: cell by cell, and whether the two say the same."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Sequence

from armci_tool.compare import statistics
from armci_tool.compare.cells import CELL, QUESTION, Cells

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import]

# An interval of new over old that lies beyond it entirely is worth a look.
REGRESSION = 1.05
# Equal values are 1 but for the rounding of a logarithm.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Agreement:
    """How many of the figures of two runs may be the same: the interval (Welch) of their ratio contains 1. Where nothing
    has changed, one in twenty lies outside."""

    what: str
    agreeing: int
    of: int

    @property
    def text(self) -> str:
        """For a line of its own."""
        return f"{self.agreeing} of {self.of} {self.what} agree within their intervals" + (
            f" ({100 * self.agreeing / self.of:.1f} %)" if self.of else "")


def changes(old: Cells, new: Cells) -> list[Any]:
    """Of the libraries, in the order of the new run: the columns of a cell, the intervals old, new and ratio, and
    whether the two agree."""
    both = _in_both(old, new)
    made = both[CELL].copy()
    for name, side, numbers in (("old", old, both.cell_old), ("new", new, both.cell)):
        level = statistics.intervals(side.logs.loc[numbers], name)
        made[list(level.columns)] = level.to_numpy()
    ratio = statistics.welch(new.logs.loc[both.cell], old.logs.loc[both.cell_old])
    return list(made.join(ratio.assign(agrees=_contains_one(ratio))).itertuples(index=False))


def regressions(found: Sequence[Any]) -> list[Any]:
    """Slower for certain, the worst first."""
    return sorted((one for one in found if one.ratio_low > REGRESSION and one.ratio_high < math.inf),
                  key=lambda one: -float(one.ratio_low))


def gains(found: Sequence[Any]) -> list[Any]:
    """Faster for certain, the best first."""
    return sorted((one for one in found if one.ratio_low > 0 and one.ratio_high < 1 / REGRESSION),
                  key=lambda one: float(one.ratio_high))


def as_json(one: Any) -> dict[str, Any]:
    """Of a change, for results.json."""
    return {"question": {name: getattr(one, name) for name in QUESTION}, "contestant": one.candidate,
            "old_ns": statistics.as_json(one, "old"), "new_ns": statistics.as_json(one, "new"),
            "ratio": statistics.as_json(one)}


def agreements(old: Cells, new: Cells) -> list[Agreement]:
    """Of the ratios of two libraries to the same question, of those to the raw layers in the same programs, and of the
    times: ratios are what survives another mood of the machine. A single round says nothing."""
    both = _in_both(old, new)
    pairs = both.merge(both, on=QUESTION, suffixes=("", "_other"))
    pairs = pairs[pairs.cell < pairs.cell_other]
    layers = new.raw.index.to_frame(index=False).merge(both[["cell", "cell_old"]]).merge(
        old.raw.index.to_frame(index=False).rename(columns={"cell": "cell_old"}))

    def of_pairs(side: Cells, cell: str) -> DataFrame:
        return side.logs.loc[pairs[cell]] - side.logs.loc[pairs[f"{cell}_other"]].to_numpy()

    def over_raw(side: Cells, cell: str) -> DataFrame:
        return side.logs.loc[layers[cell]] - side.raw.reindex(layers[[cell, "beside"]]).to_numpy()

    made = []
    for what, ours, theirs in (
            ("ratios of two candidates", of_pairs(new, "cell"), of_pairs(old, "cell_old")),
            ("ratios to raw layers", over_raw(new, "cell"), over_raw(old, "cell_old")),
            ("times", new.logs.loc[both.cell], old.logs.loc[both.cell_old])):
        ratios = statistics.welch(ours, theirs)
        known = ratios[statistics.bounded(ratios)]
        made.append(Agreement(what, int(_contains_one(known).sum()), len(known)))
    return made


def _in_both(old: Cells, new: Cells) -> DataFrame:
    return new.timed.merge(old.timed[[*CELL, "cell"]], on=CELL, suffixes=("", "_old"))


def _contains_one(ratios: DataFrame) -> Any:
    return (ratios.ratio_low <= 1 + _ROUNDING) & (ratios.ratio_high >= 1 - _ROUNDING)
