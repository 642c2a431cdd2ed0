"""Shares of what takes too long to be done as a whole each time."""

from __future__ import annotations

import hashlib
from typing import Sequence, TypeVar

from armci_tool import git

Share = tuple[int, int]  # (2, 4): the second of four
WHOLE: Share = (1, 1)

Item = TypeVar("Item")


def take(items: Sequence[Item], share: Share) -> list[Item]:
    """(2, 4): the second, the sixth... All shares together are all items."""
    part, parts = share
    return list(items[part - 1::parts])


def of_commit(parts: int, matter: str) -> Share:
    """Another one for another commit, so that all have been there after some changes. Turns of different matters have nothing
    to do with each other: else what two of them choose together would always be the same pairs."""
    commit = git.commit()
    if commit == "none":
        return 1, parts
    digest = hashlib.sha256(f"{matter} {commit[:12]}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % parts + 1, parts


def turn(items: Sequence[Item], matter: str) -> list[Item]:
    """One of them, or none of none: another one with another commit."""
    return take(items, of_commit(len(items), matter)) if items else []
