"""What samples say. Times are in nanoseconds; pure functions.

Samples of one round share what the machine did meanwhile, so a round is one observation: its median. What is said of
several rounds is said of the logarithms of those medians, as noise multiplies, with Student's t at 95 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean, median, quantiles, stdev
from typing import Mapping, Optional, Sequence

from armci_tool.errors import ToolError

CONFIDENCE = 0.95
# An interval of a ratio that lies within this of 1 is no difference that anybody minds.
SAME = 0.02
# One that does not even exclude so much, in either direction, says nothing.
WIDE = 1.25

FASTER, SAME_SPEED, SLOWER, UNCLEAR = "faster", "same", "slower", "unclear"


@dataclass(frozen=True)
class Interval:
    """A value, and between what it lies; from one round alone that is anything."""

    low: float
    middle: float
    high: float

    @property
    def bounded(self) -> bool:
        """Whether there were rounds enough to tell."""
        return self.low > 0 and math.isfinite(self.high)

    def overlaps(self, other: "Interval") -> bool:
        """Whether both can be the same value."""
        return self.low <= other.high and other.low <= self.high

    def as_json(self) -> dict[str, Optional[float]]:
        """JSON has no infinity."""
        return {"low": self.low, "middle": self.middle, "high": self.high if math.isfinite(self.high) else None}


def require() -> None:
    """Raises ToolError when nothing can be concluded here; asked before anything that takes long."""
    # Not at the top: the verb that installs what is missing must start without it.
    try:
        import scipy.stats  # type: ignore[import]
    except ImportError as error:
        raise ToolError("intervals of confidence need python3-scipy", where=str(error),
                        next_step="run tools/armci setup") from error
    del scipy


@lru_cache(maxsize=None)
def _student(freedom: float) -> float:
    require()
    import scipy.stats
    return float(scipy.stats.t.ppf((1 + CONFIDENCE) / 2, freedom))


def spread(samples: Sequence[float]) -> float:
    """From the tenth to the ninetieth of a hundred samples, as a part of the median."""
    if len(samples) < 2:
        return 0.0
    tenths = quantiles(samples, n=10, method="inclusive")
    return (tenths[-1] - tenths[0]) / median(samples)


def percentile_99(samples: Sequence[float]) -> float:
    """What 99 of 100 samples stay below."""
    return quantiles(samples, n=100, method="inclusive")[-1] if len(samples) > 1 else samples[0]


def percentile_10(samples: Sequence[float]) -> float:
    """What the best tenth stays below."""
    return quantiles(samples, n=10, method="inclusive")[0] if len(samples) > 1 else samples[0]


def level(medians: Sequence[float]) -> Interval:
    """The time itself, from the medians of its rounds: their geometric mean."""
    return _interval([math.log(one) for one in medians])


def ratio(ours: Mapping[int, float], theirs: Mapping[int, float]) -> Optional[Interval]:
    """Our time over theirs, round by round; None where they have no round in common."""
    shared = sorted(set(ours) & set(theirs))
    return _interval([math.log(ours[one] / theirs[one]) for one in shared]) if shared else None


def ratio_apart(ours: Sequence[float], theirs: Sequence[float]) -> Interval:
    """The same for rounds that did not take turns, of two runs of the tool: by Welch's interval."""
    logs = [[math.log(one) for one in side] for side in (ours, theirs)]
    difference = fmean(logs[0]) - fmean(logs[1])
    if min(map(len, logs)) < 2:
        return _around(difference, math.inf)
    errors = [stdev(side) ** 2 / len(side) for side in logs]
    if sum(errors) == 0:
        return _around(difference, 0.0)
    freedom = sum(errors) ** 2 / sum(error ** 2 / (len(side) - 1) for error, side in zip(errors, logs))
    # Rounded down, so that few values of Student's t are asked for; that is on the safe side.
    return _around(difference, _student(max(1, math.floor(freedom))) * math.sqrt(sum(errors)))


def verdict(found: Interval) -> str:
    """What a ratio of times says of the first: the same where the interval contains 1, or is next to it; unclear where
    it contains 1 and much else."""
    if found.low <= 1 <= found.high:
        return SAME_SPEED if found.low > 1 / WIDE and found.high < WIDE else UNCLEAR
    if found.low >= 1 - SAME and found.high <= 1 + SAME:
        return SAME_SPEED
    return FASTER if found.high < 1 else SLOWER


def _interval(logs: Sequence[float]) -> Interval:
    if len(logs) < 2:
        return _around(logs[0], math.inf)
    return _around(fmean(logs), _student(len(logs) - 1) * stdev(logs) / math.sqrt(len(logs)))


def _around(middle: float, margin: float) -> Interval:
    if math.isinf(margin):
        return Interval(0.0, math.exp(middle), math.inf)
    return Interval(math.exp(middle - margin), math.exp(middle), math.exp(middle + margin))
