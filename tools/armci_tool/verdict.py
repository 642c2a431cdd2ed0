"""When a run of the suite that claims to be in order is not: what the job printed, how it ended, what it left."""

from __future__ import annotations

import re
from typing import Sequence

# What the MPI libraries, the C and C++ run times and the sanitizers print when a process dies of an error. Tests that
# end a job on purpose keep the output of that job to themselves.
_ABORT_TEXTS = (
    r"MPI_ABORT was invoked", r"application called MPI_Abort", r"Abort\(\d+\) on node \d+",
    r"BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES", r"mpirun noticed that process rank",
    r"Primary job +terminated", r"\*\*\* Process received signal \*\*\*", r"\*\*\* An error occurred in MPI_",
    r"Fatal error in (?:internal_|P?MPI)", r"Assertion failed in file", r"Assertion [`'].*' failed",
    r"terminate called (?:after|without)", r"Segmentation fault", r"double free or corruption", r"corrupted size vs",
    r"malloc\(\): ", r"free\(\): invalid", r"munmap_chunk\(\): ", r"\*\*\* stack smashing detected",
    r"(?:ERROR|WARNING): (?:Address|Thread|Leak|Memory)Sanitizer", r": runtime error: ", r"Caught signal \d+ \(",
)
_ABORT = re.compile("|".join(_ABORT_TEXTS))


def is_abort_text(line: str) -> bool:
    """Whether a line of output tells of a process that died."""
    return _ABORT.search(line) is not None


def objections(status: int, some_failed: bool, abort_text: Sequence[str], left_behind: Sequence[str],
               contradictions: Sequence[str] = ()) -> list[str]:
    """What is wrong with a job whose suite came to its end, apart from its tests; `abort_text` are the lines of it that
    no test was running for. After a failed test some launchers say so much of any status but 0, which is no news."""
    found = [f"the suite contradicts itself, or the library speaks for it: {line}" for line in contradictions]
    if status not in (0, 1):
        found.append(f"the job ended with status {status} after the last test")
    elif status == 1 and not some_failed:
        found.append("the job ended with status 1, though no test failed")
    elif status == 0 and some_failed:
        found.append("the job ended with status 0, though a test failed")
    if not some_failed:
        found += [f"abort text: {line}" for line in abort_text]
    return found + [f"left behind: {item}" for item in left_behind]
