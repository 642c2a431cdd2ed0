"""Known failures: they do not fail a run, and the file never says more than is true."""

from __future__ import annotations

from pathlib import Path
from typing import Collection

import pytest
from armci_tool import bazel, known_failures
from armci_tool.conformance import Selection, SuiteRun
from armci_tool.errors import ToolError
from armci_tool.known_failures import KnownFailure
from armci_tool.results import FAILED, KNOWN, PASSED, SKIPPED, Case

ENTRY = KnownFailure(implementation="lib", clause="ORD-1", tests=["A.a"], ticket="lib-1", reason="its fault",
                     evidence="reads 0")
TESTS = ("A.a", "A.b", "A.c")
TEXT = """
[[known]]
implementation = "lib"
clause = "ORD-1"
tests = ["A.a", "A.b"]
ticket = "lib-1"
reason = "its fault"
evidence = "reads 0"
mpi = ["mpich"]
np_min = 2
np_max = 4
place = ["machine"]
config = ["opt", "asan"]
quick = true
sometimes = true
"""


def run(*cases: Case, mpi: str = "openmpi", processes: int = 4, quick: bool = False) -> SuiteRun:
    return SuiteRun("lib", bazel.Configuration(mpi), processes, cases, 1.0, "7", Selection(quick=quick))


def outcomes(made: SuiteRun, *entries: KnownFailure, tests: Collection[str] = TESTS) -> dict[str, str]:
    judged = known_failures.apply(made, tests, entries)
    return {case.name: case.outcome for case in judged.cases}


def test_a_listed_failure_is_known_and_others_are_not() -> None:
    assert outcomes(run(Case("A.a", FAILED), Case("A.b", FAILED), Case("A.c", PASSED)), ENTRY) == {
        "A.a": KNOWN, "A.b": FAILED, "A.c": PASSED}


def test_reason_and_evidence_come_before_what_was_seen() -> None:
    [case] = known_failures.apply(run(Case("A.a", FAILED, 0.0, "line")), TESTS, [ENTRY]).cases
    assert case.detail == "known failure lib-1 of ORD-1: its fault (reads 0)\nline"


def test_an_unexpected_pass_fails() -> None:
    assert outcomes(run(Case("A.a", PASSED)), ENTRY) == {"A.a": FAILED}


def test_what_fails_now_and_then_may_pass() -> None:
    sometimes = ENTRY.copy(update={"sometimes": True})
    assert outcomes(run(Case("A.a", PASSED)), sometimes) == {"A.a": PASSED}
    assert outcomes(run(Case("A.a", FAILED)), sometimes) == {"A.a": KNOWN}
    assert outcomes(run(Case("A.a", PASSED)), ENTRY, sometimes) == {"A.a": PASSED}


def test_a_failure_that_shows_something_else_is_not_the_known_one() -> None:
    torn = ENTRY.copy(update={"sometimes": True, "shows": "torn"})
    assert outcomes(run(Case("A.a", FAILED, detail="x\ntorn flag")), torn) == {"A.a": KNOWN}
    assert outcomes(run(Case("A.a", FAILED, detail="the job hung")), torn) == {"A.a": FAILED}


def test_a_failure_is_known_by_any_of_its_entries() -> None:
    torn = ENTRY.copy(update={"sometimes": True, "shows": "torn"})
    assert outcomes(run(Case("A.a", FAILED, detail="the job hung")), torn, ENTRY.copy(update={"shows": "hung"})) == {"A.a": KNOWN}


def test_a_skipped_test_stays_skipped() -> None:
    assert outcomes(run(Case("A.a", SKIPPED)), ENTRY) == {"A.a": SKIPPED}


def test_an_entry_for_no_test_fails_the_run() -> None:
    assert outcomes(run(Case("A.b", PASSED)), ENTRY, tests=["A.b"]) == {"A.a": FAILED, "A.b": PASSED}


def test_what_was_left_out_or_not_reached_is_no_failure() -> None:
    assert outcomes(run(Case("A.b", PASSED)), ENTRY) == {"A.b": PASSED}


@pytest.mark.parametrize("condition", [{"implementation": "other"}, {"mpi": ("mpich",)}, {"np_min": 5},
                                       {"np_max": 3}, {"place": ("nodes", "simulated")}, {"config": ("asan",)},
                                       {"quick": True}])
def test_an_entry_holds_under_its_condition_only(condition: dict[str, object]) -> None:
    entry = ENTRY.copy(update=condition)
    assert outcomes(run(Case("A.a", FAILED)), entry) == {"A.a": FAILED}


def test_every_condition_of_the_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text(TEXT)
    [entry] = known_failures.read(path)
    assert entry == ENTRY.copy(update={
        "tests": ["A.a", "A.b"], "mpi": ["mpich"], "np_min": 2, "np_max": 4, "place": ["machine"],
        "config": ["opt", "asan"], "quick": True, "sometimes": True})
    assert outcomes(run(Case("A.a", FAILED), mpi="mpich", processes=2, quick=True), entry) == {
        "A.a": KNOWN}


@pytest.mark.parametrize("old, new, complaint", [
    ('reason = "its fault"', "", "reason is missing"),
    ('mpi = ["mpich"]', 'mpl = ["mpich"]', "mpl"),
    ("np_min = 2", 'np_min = "2"', "np_min"),
    ('ticket = "lib-1"', "", "ticket is missing"),
    ("quick = true", 'quick = "yes"', "quick"),
    ("[[known]]", "[[unknown]]", "unknown"),
    ("[[known]]", "[[known", "known.toml"),
])
def test_a_mistake_in_the_file_is_reported(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    path = tmp_path / "known.toml"
    path.write_text(TEXT.replace(old, new))
    with pytest.raises(ToolError) as raised:
        known_failures.read(path)
    assert complaint in raised.value.where


def test_a_ticket_is_about_one_matter(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text(TEXT + TEXT.replace("ORD-1", "ORD-2"))
    with pytest.raises(ToolError, match="known failures") as raised:
        known_failures.read(path)
    assert "lib-1" in raised.value.where


def test_a_clause_that_does_not_exist_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text(TEXT.replace("ORD-1", "ORD-77"))
    with pytest.raises(ToolError) as raised:
        known_failures.read(path)
    assert "no clause ORD-77" in raised.value.where


def test_a_file_that_is_no_text_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_bytes(b"\xff\xfe[[known]]")
    with pytest.raises(ToolError, match="known failures"):
        known_failures.read(path)


def test_the_file_of_this_repository_can_be_read() -> None:
    assert known_failures.read()
