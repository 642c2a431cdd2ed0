"""How quiet the machine is: the same work over and over, which takes as long each time where nothing else runs."""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import asdict, dataclass
from statistics import median, quantiles

REPETITIONS = 400
# About a millisecond of work that stays in the nearest cache.
_WORK = bytes(16384)
_PASSES = 64
# What is beyond it a reader should know of before anything else.
QUIET = 1.1


@dataclass(frozen=True)
class Noise:
    """Of the repetitions, in microseconds; how many processes wanted a core in the last minute."""

    median_us: float
    percentile_90_us: float
    worst_us: float
    load: float

    @property
    def factor(self) -> float:
        """By how much the slowest tenth was slower than the middle, at least."""
        return self.percentile_90_us / self.median_us

    @property
    def text(self) -> str:
        """For a line of a report."""
        quiet = "quiet" if self.factor <= QUIET else "not quiet: other programs were running"
        return (f"the same work {REPETITIONS} times: median {self.median_us:.0f} us, one in ten above "
                f"{self.factor:.2f} times that, worst {self.worst_us / self.median_us:.1f} times; load {self.load:.1f} "
                f"({quiet})")

    def as_json(self) -> dict[str, float]:
        """For results.json."""
        return asdict(self)


def measure(repetitions: int = REPETITIONS) -> Noise:
    """Takes less than a second."""
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        for _ in range(_PASSES):
            hashlib.blake2b(_WORK).digest()
        times.append((time.perf_counter() - start) * 1e6)
    return Noise(median(times), quantiles(times, n=10)[-1], max(times), os.getloadavg()[0])
