"""Counting cases, and JUnit in and out."""

from __future__ import annotations

from pathlib import Path

import pytest
from armci_tool import results
from armci_tool.errors import ToolError
from armci_tool.results import FAILED, PASSED, SKIPPED, Case, Step
from armci_tool.testing import run as test_run
from armci_tool.testing.steps import PlannedStep

STEPS = [Step("one", [Case("S.a", PASSED, 0.5), Case("S.b", FAILED, 1.0, "line 1\nline 2"),
                      Case("S.c", SKIPPED, detail="needs 4 processes")], 2.0, "rerun one"),
         Step("two", [Case("T.a", PASSED)], 1.0, "rerun two")]


def test_counts_line_has_the_agreed_form() -> None:
    assert results.counts_line(STEPS) == "2 passed, 1 failed, 1 skipped"
    assert results.counts_line([]) == "0 passed, 0 failed, 0 skipped"


def test_a_step_without_cases_is_not_ok() -> None:
    assert not Step("empty").ok
    assert STEPS[1].ok
    assert not STEPS[0].ok


def test_junit_survives_the_round_trip(tmp_path: Path) -> None:
    file = tmp_path / "r.xml"
    results.write_junit(file, STEPS)
    read = results.read_junit(file)
    assert [(case.name, case.outcome, case.seconds) for case in read] == [
        ("S.a", PASSED, 0.5), ("S.b", FAILED, 1.0), ("S.c", SKIPPED, 0.0), ("T.a", PASSED, 0.0)]
    assert read[1].detail == "line 1\nline 2"
    assert read[2].detail == "needs 4 processes"


def test_facts_survive_the_round_trip(tmp_path: Path) -> None:
    facts = (("outcome.acceptable.r1=1 r2=1", "12"), ("place", "a <b> & \"c\""))
    file = tmp_path / "r.xml"
    results.write_junit(file, [Step("s", [Case("S.a", PASSED, facts=facts), Case("S.b", FAILED, 0.0, "why", facts)])])
    assert [case.facts for case in results.read_junit(file)] == [facts, facts]


def test_bytes_that_xml_forbids_do_not_spoil_the_file(tmp_path: Path) -> None:
    file = tmp_path / "r.xml"
    results.write_junit(file, [Step("s", [Case("S.a", FAILED, detail="a\x01b\x1b[0m")])])
    assert results.read_junit(file)[0].detail == "a?b?[0m"


def test_googletest_cases_that_did_not_run_count_as_skipped(tmp_path: Path) -> None:
    file = tmp_path / "g.xml"
    file.write_text('<testsuites><testsuite name="S"><testcase name="a" status="notrun" classname="S"/>'
                    '<testcase name="b" status="run" classname="S" time="0.1"/></testsuite></testsuites>')
    assert [case.outcome for case in results.read_junit(file)] == [SKIPPED, PASSED]


def test_unreadable_results_are_a_failure(tmp_path: Path) -> None:
    broken = tmp_path / "b.xml"
    broken.write_text("<testsuites>")
    for file in (broken, tmp_path / "absent.xml"):
        [case] = results.read_junit(file)
        assert case.outcome == FAILED


def test_a_step_that_cannot_run_or_runs_nothing_fails(capsys: pytest.CaptureFixture[str], tmp_path: Path,
                                                      monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_run, "REPORT", tmp_path)

    def broken(_note: object) -> list[Case]:
        raise ToolError("no such thing", next_step="make it")

    def empty(_note: object) -> list[Case]:
        return []

    def good(_note: object) -> list[Case]:
        return [Case("G.a", PASSED)]

    plan = [PlannedStep("broken", broken, "rerun b"), PlannedStep("empty", empty, "rerun e"),
            PlannedStep("good", good, "rerun g")]
    steps = test_run.run_steps(plan)
    test_run.print_report(steps)
    out = capsys.readouterr().out
    assert [step.ok for step in steps] == [False, False, True]
    assert "no such thing" in out
    assert "rerun b" in out and "rerun e" in out and "rerun g" not in out
    assert out.splitlines()[-1] == "1 passed, 2 failed, 0 skipped"
