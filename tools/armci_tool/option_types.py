"""Types of options, for argparse: what does not fit is told before anything runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from armci_tool.sharing import Share

SEED_MAX = 2**64 - 1
SECONDS_MAX = 1e7


def words(text: str) -> list[str]:
    """`a,b` as a list of at least one."""
    found = [part.strip() for part in text.split(",") if part.strip()]
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} names nothing")
    return found


def count(text: str) -> int:
    """A number of at least 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least 1")
    return number


def counts(text: str) -> list[int]:
    """`1,2,4` as a list of numbers of processes."""
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers like 1,2,4") from None
    if min(numbers) < 1:
        raise argparse.ArgumentTypeError("a job has at least 1 process")
    return numbers


def share(text: str) -> Share:
    """`2/4`: the second of four."""
    part, slash, parts = text.partition("/")
    if not slash or not part.isdecimal() or not parts.isdecimal() or not 1 <= int(part) <= int(parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not a share like 2/4, the second of four")
    return int(part), int(parts)


def seconds(text: str) -> float:
    """A time that is not zero."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= SECONDS_MAX:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0, at most {SECONDS_MAX:.0f}")
    return number


def seed(text: str) -> int:
    """What the suite takes as a seed."""
    if not text.isdecimal() or int(text) > SEED_MAX:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to {SEED_MAX}")
    return int(text)


def path(text: str) -> Path:
    """A file or folder, to be named."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return Path(text)
