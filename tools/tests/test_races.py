"""The benchmark of the detector of data races: what is read from the output of its job."""

from __future__ import annotations

import pytest
from armci_tool import races
from armci_tool.errors import ToolError
from armci_tool.results import FAILED

OUTPUT = """program: race: fence
armci: race 1 [LC-1], at byte 0 of region 3 of process 1
armci: data races: 1, each named above by its two calls
program: free: fence
armci: data races: 0
program: race: wait
armci: data races: 0
program: free: wait
armci: race 1 [LC-1], at byte 8 of region 3 of process 1
armci: data races: 1, each named above by its two calls
""".splitlines()


def test_each_program_has_a_verdict() -> None:
    verdicts = races.read(OUTPUT)
    assert [(each.name, each.has_race, each.right) for each in verdicts] == [
        ("fence", True, True), ("fence", False, True), ("wait", True, False), ("wait", False, False)]
    score = races.score(verdicts)
    assert (score.found, score.missed, score.false) == (1, 1, 1)
    assert score.precision == score.recall == 0.5


def test_wrong_verdicts_are_failures_that_show_what_was_said() -> None:
    failed = [case for case in races.cases(races.read(OUTPUT)) if case.outcome == FAILED]
    assert [case.name for case in failed] == ["race: wait", "free: wait"]
    assert "not found" in failed[0].detail and "byte 8" in failed[1].detail


def test_a_program_that_does_not_end_is_an_error() -> None:
    with pytest.raises(ToolError, match="'fence' did not end"):
        races.read(OUTPUT[:2])


def test_without_findings_precision_is_whole() -> None:
    assert races.score([]).precision == races.score([]).recall == 1.0
