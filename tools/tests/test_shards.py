"""A commit selects its shard of what takes too long."""

from __future__ import annotations

from itertools import product

import pytest
from armci_tool import git, shards

COMMITS = [f"{number:012x}" for number in range(200)]


def selected(monkeypatch: pytest.MonkeyPatch, items: str, topic: str) -> list[str]:
    """The item of each commit."""
    taken = []
    for commit in COMMITS:
        monkeypatch.setattr(git, "commit", lambda commit=commit: commit)
        taken.append("".join(shards.one_of_commit(items, topic)))
    return taken


def test_some_commit_selects_each_item(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(selected(monkeypatch, "abcd", "letters")) == set("abcd")


def test_shards_of_two_topics_make_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = set(zip(selected(monkeypatch, "abc", "letters"), selected(monkeypatch, "123", "digits")))
    assert pairs == set(product("abc", "123"))


def test_no_items_have_no_shard() -> None:
    assert not shards.one_of_commit([], "nothing")


def test_a_commit_has_the_same_shard_with_local_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for described in ("0123456789ab", "0123456789ab with local changes"):
        monkeypatch.setattr(git, "commit", lambda described=described: described)
        found.append(shards.of_commit(1000, "mutants"))
    assert found[0] == found[1]


def test_sources_without_history_have_a_shard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "commit", lambda: "none")
    assert shards.of_commit(4, "mutants") == (1, 4)
