"""Shares of what takes too long to be done as a whole each time."""

from __future__ import annotations

from typing import Sequence, TypeVar

from armci_tool import environment

Share = tuple[int, int]  # (2, 4): the second of four
WHOLE: Share = (1, 1)

Item = TypeVar("Item")


def take(items: Sequence[Item], share: Share) -> list[Item]:
    """(2, 4): the second, the sixth... All shares together are all items."""
    part, parts = share
    return list(items[part - 1::parts])


def of_commit(parts: int) -> Share:
    """Another one for another commit, so that a few changes have them all."""
    commit = environment.commit()
    return (1 if commit == "none" else int(commit[:12], 16) % parts + 1), parts
