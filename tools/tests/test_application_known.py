"""Known failures of applications: they do not fail a run, and their file names only what exists."""

from __future__ import annotations

from pathlib import Path

import pytest
from armci_tool.applications import known, recipes, run
from armci_tool.applications.armci import BASELINE
from armci_tool.errors import ToolError
from armci_tool.placement import Placement
from armci_tool.results import FAILED, KNOWN, PASSED, Case

HERE = run.Where(4, "openmpi")
ENTRY = known.KnownFailure(application="app", programs=["a"], ticket="T-1", reason="r", evidence="e")
FAILURE, PASS = Case("a", FAILED, detail="status 1"), Case("a", PASSED)


def test_a_known_failure_does_not_count_and_a_listed_program_that_passes_does() -> None:
    assert known.judge(FAILURE, "app", "shmem", HERE, [ENTRY]).outcome == KNOWN
    passed = known.judge(PASS, "app", "shmem", HERE, [ENTRY])
    assert passed.outcome == FAILED and passed.detail.startswith("passes, but is listed as a known failure T-1: r (e)\nnext: ")
    sometimes = ENTRY.copy(update={"sometimes": True})
    assert known.judge(PASS, "app", "shmem", HERE, [ENTRY, sometimes]) == PASS


@pytest.mark.parametrize("condition, applies", [
    ({}, True), ({"shows": "status 1"}, True), ({"shows": "status 139"}, False), ({"application": "other"}, False), ({"programs": ["b"]}, False),
    ({"libraries": ["shmem", "ucx"]}, True), ({"libraries": ["ucx"]}, False), ({"mpi": ["openmpi"]}, True), ({"mpi": ["mpich"]}, False),
    ({"processes": [2, 4]}, True), ({"processes": [2]}, False), ({"place": ["nodes"]}, True), ({"place": ["machine", "simulated"]}, False)])
def test_an_entry_holds_under_its_conditions_only(condition: dict[str, object], applies: bool) -> None:
    two_nodes = run.Where(4, "openmpi", Placement(nodes=2))
    judged = known.judge(FAILURE, "app", "shmem", two_nodes, [ENTRY.copy(update=condition)])
    assert judged.outcome == (KNOWN if applies else FAILED)


def test_no_result_of_the_baseline_fails_the_run() -> None:
    unlisted = known.judge(FAILURE, "app", BASELINE, HERE, [])
    assert (unlisted.outcome, unlisted.detail) == (KNOWN, "the baseline fails: status 1")
    assert known.judge(FAILURE, "app", BASELINE, HERE, [ENTRY]).detail.startswith("known failure T-1: r (e)\n")
    assert known.judge(PASS, "app", BASELINE, HERE, [ENTRY]) == PASS


def test_each_entry_that_applies_to_a_failure_is_looked_at() -> None:
    other = ENTRY.copy(update={"shows": "status 139"})
    entries = [other, other.copy(update={"ticket": "T-2", "shows": "status 1"})]
    case = known.judge(FAILURE, "app", "shmem", HERE, entries)
    assert case.outcome == KNOWN and case.detail.startswith("known failure T-2")


@pytest.mark.parametrize("line, sentence", [
    ('application = "gaa"', "T-1 names the application 'gaa'"), ('libraries = ["shmen"]', "T-1 names the library 'shmen'"),
    ('libraries = ["OpenSHMEM"]', "T-1 names the library 'OpenSHMEM'"), ('mpi = ["mvapich"]', "T-1 names the MPI library 'mvapich'"),
    ('place = ["node"]', "known 1 place 1 is wrong")])
def test_a_known_failure_that_could_never_apply_is_refused(tmp_path: Path, line: str, sentence: str) -> None:
    entry = ['application = "ga"'] * (not line.startswith("application")) + [line]
    path = tmp_path / "known_failures.toml"
    path.write_text("\n".join(["[[known]]", *entry, 'programs = ["a"]', 'ticket = "T-1"', 'reason = "r"', 'evidence = "e"']))
    with pytest.raises(ToolError) as raised:
        known.read(path)
    assert sentence in raised.value.where


def test_a_known_failure_of_no_program_is_refused() -> None:
    entry = known.KnownFailure(application="ga", programs=["a", "tpyo"], ticket="T-1", reason="r", evidence="e")
    with pytest.raises(ToolError) as raised:
        known.require_programs(recipes.RECIPES["ga"], {"a", "typo"}, [entry])
    assert "T-1 names the program 'tpyo'" in raised.value.where
    known.require_programs(recipes.RECIPES["prk"], {"p2p"}, [entry])
