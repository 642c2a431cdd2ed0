"""Which share of what takes too long a commit has."""

from __future__ import annotations

from itertools import product

import pytest
from armci_tool import git, sharing

COMMITS = [f"{number:012x}" for number in range(200)]


def turns(monkeypatch: pytest.MonkeyPatch, items: str, matter: str) -> list[str]:
    """Of each commit."""
    taken = []
    for commit in COMMITS:
        monkeypatch.setattr(git, "commit", lambda commit=commit: commit)
        taken.append("".join(sharing.turn(items, matter)))
    return taken


def test_everything_has_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(turns(monkeypatch, "abcd", "letters")) == set("abcd")


def test_turns_of_two_matters_make_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = set(zip(turns(monkeypatch, "abc", "letters"), turns(monkeypatch, "123", "digits")))
    assert pairs == set(product("abc", "123"))


def test_nothing_has_no_turn() -> None:
    assert not sharing.turn([], "nothing")


def test_a_commit_has_the_same_share_with_local_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = []
    for told in ("0123456789ab", "0123456789ab with local changes"):
        monkeypatch.setattr(git, "commit", lambda told=told: told)
        shares.append(sharing.of_commit(1000, "mutants"))
    assert shares[0] == shares[1]


def test_sources_without_history_have_a_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "commit", lambda: "none")
    assert sharing.of_commit(4, "mutants") == (1, 4)
