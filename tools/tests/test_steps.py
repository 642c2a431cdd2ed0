"""The steps of the test run, and the files that they find."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from armci_tool import repository, tested_settings
from armci_tool.results import FAILED, PASSED
from armci_tool.testing import plan as test_plan
from armci_tool.testing import work
from armci_tool.testing.steps import Level

DIED = ('<testsuites><testsuite name="t" tests="1" failures="0" errors="1"><testcase name="impl/t" status="run">'
        '<error message="exited with error code 1"></error></testcase></testsuite></testsuites>')


def test_cases_of_a_bazel_test_carry_its_label(tmp_path: Path) -> None:
    (tmp_path / "impl" / "t").mkdir(parents=True)
    (tmp_path / "impl" / "t" / "test.xml").write_text(
        '<testsuites><testsuite name="S"><testcase name="a" classname="S"/></testsuite></testsuites>')
    [case] = work.bazel_cases("//impl:t", tmp_path)
    assert (case.name, case.outcome) == ("//impl:t S.a", PASSED)


def test_a_test_that_died_shows_the_end_of_its_log(tmp_path: Path) -> None:
    (tmp_path / "impl" / "t").mkdir(parents=True)
    (tmp_path / "impl" / "t" / "test.xml").write_text(DIED)
    (tmp_path / "impl" / "t" / "test.log").write_text("AddressSanitizer: heap-use-after-free\n")
    [case] = work.bazel_cases("//impl:t", tmp_path)
    assert case.outcome == FAILED
    assert "heap-use-after-free" in case.detail


def test_what_a_test_that_died_said_comes_first(tmp_path: Path) -> None:
    (tmp_path / "impl" / "t").mkdir(parents=True)
    (tmp_path / "impl" / "t" / "test.xml").write_text(DIED)
    (tmp_path / "impl" / "t" / "test.log").write_text("begins\narmci: rank 0: it hangs\nFAILED: all of it\n")
    [case] = work.bazel_cases("//impl:t", tmp_path)
    assert case.detail.splitlines()[0] == "exited with error code 1: armci: rank 0: it hangs"


def test_a_test_without_results_fails(tmp_path: Path) -> None:
    [case] = work.bazel_cases("//impl:t", tmp_path)
    assert case.outcome == FAILED


@pytest.mark.parametrize("level", Level)
def test_every_step_can_be_repeated_and_named(level: Level) -> None:
    plan = test_plan.plan_steps(level)
    assert len({step.name for step in plan}) == len(plan)
    assert all(step.rerun for step in plan)


@pytest.mark.parametrize("level", [Level.USUAL, Level.FULL])
def test_each_level_has_the_steps_of_the_one_before_and_more(level: Level) -> None:
    more, fewer = ([re.sub(", shard . of .", "", step.name) for step in test_plan.plan_steps(one)]
                   for one in (level, Level(level - 1)))
    assert 0 < len(fewer) < len(more)
    assert [name for name in more if name in fewer] == fewer


@pytest.mark.parametrize("name", repository.implementations())
def test_the_suite_is_run_under_settings_that_there_are(name: str) -> None:
    sources = [file for folder in ("runtime", name) for file in (repository.ROOT / "impl" / folder).rglob("*.cc")]
    known = set(re.findall(r'{"(ARMCI_[A-Z_]+)", ', "\n".join(file.read_text() for file in sources)))
    assert "ARMCI_VERBOSE" in known
    named = {key for tested in tested_settings.read(name) for key in tested.environment}
    assert {key for key in named if key.startswith("ARMCI_")} <= known
    # A variable that is not ours belongs to a layer below.
    assert all(key.startswith(("ARMCI_", "UCX_", "OMPI_")) for key in named)


def test_a_sanitized_implementation_between_nodes_runs_its_own_tests_and_the_suite() -> None:
    plan = test_plan.plan_steps(Level.USUAL)
    [tests] = [step.rerun for step in plan if step.name.startswith("tests of the libraries (asan-ubsan")]
    left_out = set(re.findall(r"except //impl/([^/]+)/[.][.][.]", tests))
    suites = {step.name.split()[1].rstrip(",") for step in plan
              if step.name.startswith("conformance") and "simulated (asan-ubsan" in step.name}
    assert len(suites) == 1
    spanning = {row.name for row in repository.implementation_table()
                if row.spans_nodes and not row.device and not row.test_only}
    assert left_out == spanning - suites
