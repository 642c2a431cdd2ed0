"""How quiet the machine is: the same work over and over, which takes as long each time where nothing else runs."""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median, quantiles

REPETITIONS = 400
# About a millisecond of work that stays in the nearest cache.
_WORK = bytes(16384)
_PASSES = 64
# A reader should know of a larger factor before anything else.
QUIET = 1.1
# So many of the cores may be taken by others.
OTHERS_MOST = 1 / 8
_LOAD = Path("/proc/loadavg")
# Between looks at what else is running.
_LOOK = 20


@dataclass(frozen=True)
class Noise:
    """Of the repetitions, in microseconds; how many processes wanted a core in the last minute, and how many others did
    meanwhile."""

    median_us: float
    percentile_90_us: float
    worst_us: float
    load: float
    others: float = 0.0
    cores: int = 1

    @property
    def factor(self) -> float:
        """By how much the slowest tenth was slower than the middle, at least."""
        return self.percentile_90_us / self.median_us

    @property
    def is_quiet(self) -> bool:
        """Whether small differences can be believed. The load is no sign of it: a build of before is in it, or what was
        measured."""
        return self.factor <= QUIET and self.others <= OTHERS_MOST * self.cores

    @property
    def text(self) -> str:
        """For a line of a report."""
        quiet = "quiet" if self.is_quiet else "not quiet: other programs were running"
        if self.is_quiet and self.load > self.cores:
            quiet = "quiet now, but not in the last minute, unless that was a build or what was measured"
        return (f"the same work {REPETITIONS} times: median {self.median_us:.0f} us, one in ten above "
                f"{self.factor:.2f} times that, worst {self.worst_us / self.median_us:.1f} times; {self.others:.1f} others "
                f"wanted a core meanwhile, load {self.load:.1f} on {self.cores} cores ({quiet})")


def measure(repetitions: int = REPETITIONS) -> Noise:
    """Takes less than a second."""
    times, others = [], []
    for number in range(repetitions):
        if number % _LOOK == 0:
            others.append(_others())
        start = time.perf_counter()
        for _ in range(_PASSES):
            hashlib.blake2b(_WORK).digest()
        times.append((time.perf_counter() - start) * 1e6)
    return Noise(median(times), quantiles(times, n=10)[-1], max(times), os.getloadavg()[0], fmean(others),
                 os.cpu_count() or 1)


def _others() -> int:
    """Processes that run, or could, besides this one; 0 where the system does not say."""
    try:
        return max(0, int(_LOAD.read_text().split()[3].split("/")[0]) - 1)
    except (OSError, IndexError, ValueError):
        return 0
