"""Statistics of samples. Times are in nanoseconds; pure functions of pandas' tables.

Samples of one round share what the machine did meanwhile, so a round is one observation: its median. What is said of
several rounds is said of the logarithms of those medians, as noise multiplies, with Student's t at 95 %. A table of
logarithms has a column for each round, and nothing where a round is missing. An interval NAME is three columns: NAME,
NAME_low and NAME_high; from one round alone it reaches from 0 to infinity.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import TYPE_CHECKING, Any, Optional

from armci_tool.errors import ToolError

if TYPE_CHECKING:
    from pandas import DataFrame, Series  # type: ignore[import]

CONFIDENCE = 0.95
# An interval of a ratio within this of 1 counts as no difference.
SAME = 0.02
# One that does not even exclude so much, in either direction, says nothing.
WIDE = 1.25

FASTER, SAME_SPEED, SLOWER, UNCLEAR = "faster", "same", "slower", "unclear"


def require(what: str = "intervals of confidence", *modules: str) -> None:
    """Raises ToolError when something cannot be made here; called before anything that takes long. Modules are imported
    late, as the command that installs what is missing must start without them."""
    for name in modules or ("pandas", "scipy"):
        try:
            import_module(name)
        except ImportError as error:
            raise ToolError(f"{what} need python3-{name}", where=str(error),
                            next_step="run tools/armci setup") from error


def intervals(logs: DataFrame, name: str = "ratio") -> DataFrame:
    """Of each row: the geometric mean of its rounds."""
    rounds = logs.count(axis=1)
    margin = _student(rounds - 1) * logs.std(axis=1) / rounds ** 0.5
    return _around(logs.mean(axis=1), margin.where(rounds > 1, math.inf), name)


def welch(ours: DataFrame, theirs: DataFrame) -> DataFrame:
    """Of each row of ours over that row of theirs, whose rounds did not take turns: they are of two runs of the tool."""
    sides = [side.reset_index(drop=True) for side in (ours, theirs)]
    rounds = [side.count(axis=1) for side in sides]
    errors = [side.var(axis=1) / count for side, count in zip(sides, rounds)]
    total = errors[0] + errors[1]
    freedom = total ** 2 / sum(error ** 2 / (count - 1) for error, count in zip(errors, rounds))
    # Rounded down, which is on the safe side; but not what is a whole number, up to the rounding of its parts.
    margin = (_student((freedom + 1e-9) // 1) * total ** 0.5).where(total > 0, 0.0)
    enough = (rounds[0] > 1) & (rounds[1] > 1)
    return _around(sides[0].mean(axis=1) - sides[1].mean(axis=1), margin.where(enough, math.inf), "ratio")


def bounded(table: DataFrame, name: str = "ratio") -> Series:
    """Of each row: whether there were enough rounds for an interval."""
    return (table[f"{name}_low"] > 0) & (table[f"{name}_high"] < math.inf)


def verdicts(table: DataFrame, name: str = "ratio") -> Any:
    """The verdict of a ratio of times on the first: the same where the interval contains 1, or is next to it; unclear
    where it contains 1 and much else; nothing where there is none."""
    import numpy
    low, high = table[f"{name}_low"], table[f"{name}_high"]
    contains = (low <= 1) & (high >= 1)
    return numpy.select([low.isna(), contains & (low > 1 / WIDE) & (high < WIDE), contains,
                         (low >= 1 - SAME) & (high <= 1 + SAME), high < 1],
                        ["", SAME_SPEED, UNCLEAR, SAME_SPEED, FASTER], SLOWER)


def text(row: Any, name: str = "ratio") -> str:
    """`1.23 (1.10 to 1.38)`; a question mark where one round says nothing for certain."""
    middle, low, high = (getattr(row, name + end) for end in ("", "_low", "_high"))
    if math.isnan(middle):
        return "-"
    return f"{middle:.2f} " + (f"({low:.2f} to {high:.2f})" if low > 0 and math.isfinite(high) else "(?)")


def as_json(row: Any, name: str = "ratio") -> dict[str, Optional[float]]:
    """JSON has no infinity."""
    middle, low, high = (getattr(row, name + end) for end in ("", "_low", "_high"))
    return {"low": low, "middle": middle, "high": high if math.isfinite(high) else None}


def _student(freedom: Series) -> Any:
    import scipy.stats  # type: ignore[import]
    return scipy.stats.t.ppf((1 + CONFIDENCE) / 2, freedom)


def _around(middle: Series, margin: Series, name: str) -> DataFrame:
    import numpy
    import pandas
    return numpy.exp(pandas.DataFrame({name: middle, f"{name}_low": middle - margin, f"{name}_high": middle + margin}))
