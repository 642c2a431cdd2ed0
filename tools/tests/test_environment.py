"""The facts about the machine in a report."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from armci_tool import environment, git, launch


def test_facts_are_found() -> None:
    facts = environment.describe(launch.MPI_LIBRARIES)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", facts["date"])
    assert int(facts["cores"]) >= 1
    for name in launch.MPI_LIBRARIES:
        assert re.match(r"\d+\.\d+", facts[f"MPI: {name}"])
    assert all(facts.values())


def test_only_the_libraries_used_are_named_once() -> None:
    assert [title for title in environment.describe(["mpich", "mpich"]) if title.startswith("MPI")] == ["MPI: mpich"]


def test_sources_without_history_are_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert environment.describe([])["commit"] == "none"


def test_absent_commands_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    facts = environment.describe(["openmpi"])
    assert facts["compiler"] == facts["MPI: openmpi"] == "unknown"
    assert facts["commit"] == "none"
