"""Shards: a commit runs a part of what takes too long to run as a whole."""

from __future__ import annotations

import hashlib
from typing import Sequence, TypeVar

from armci_tool import git

Shard = tuple[int, int]  # (2, 4): the second of four
WHOLE: Shard = (1, 1)

Item = TypeVar("Item")


def take(items: Sequence[Item], shard: Shard) -> list[Item]:
    """(2, 4): the second, the sixth... All shards together are all items."""
    part, parts = shard
    return list(items[part - 1::parts])


def of_commit(parts: int, topic: str) -> Shard:
    """The commit selects the shard, so that several commits run all shards. Shards of different topics are independent:
    otherwise every commit would combine the same pairs of them."""
    commit = git.commit()
    if commit == "none":
        return 1, parts
    digest = hashlib.sha256(f"{topic} {commit[:12]}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % parts + 1, parts


def one_of_commit(items: Sequence[Item], topic: str) -> list[Item]:
    """The item that the commit selects; an empty list for no items."""
    return take(items, of_commit(len(items), topic)) if items else []
