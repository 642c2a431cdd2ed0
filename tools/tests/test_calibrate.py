"""Calibration of settings: what is measured, and what is advised."""

from __future__ import annotations

from typing import Optional

import pytest
from armci_tool import bench, calibrate
from armci_tool.errors import ToolError
from armci_tool.repository import ROOT

ROW = calibrate.Row("ARMCI_X", "2", ("1", "2", "4"), "messages", "")


def run(times: list[float], raw: float = 100.0, status: int = 0) -> bench.BenchRun:
    return bench.BenchRun("messages", status, "", {
        "cases": [{"armci_ns": one, "baseline_ns": raw} for one in times] + [{"value": 1.0}]})


@pytest.mark.parametrize("made, expected", [
    (run([50, 200]), 1.0), (run([100], raw=50), 2.0), (run([]), None), (run([50], status=1), None),
    (bench.BenchRun("messages", 0, "", None), None)])
def test_a_run_is_scored_by_its_cases_against_raw_calls(made: bench.BenchRun, expected: Optional[float]) -> None:
    assert calibrate.score(made) == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize("scores, advised", [
    ({"1": [2.0], "2": [1.0], "4": [1.5]}, "2"),
    ({"1": [0.5, 9.0, 0.6], "2": [1.0], "4": [1.5]}, "1"),  # by the median
    ({"1": [0.97], "2": [1.0], "4": [1.5]}, "2"),  # not worth it
    ({"1": [1.2], "2": [], "4": [1.5]}, "1"),  # the default fails
    ({"1": [], "2": [], "4": []}, "2"),
])
def test_a_value_is_advised_where_it_is_worth_it(scores: dict[str, list[float]], advised: str) -> None:
    assert calibrate.Trial(ROW, scores).advised == advised


def test_the_advice_is_for_a_shell() -> None:
    better = calibrate.Trial(ROW, {"1": [0.5], "2": [1.0], "4": [1.0]})
    assert calibrate.advice([better]) == "export ARMCI_X=1"
    assert "the defaults" in calibrate.advice([calibrate.Trial(ROW, {"1": [1.0], "2": [1.0], "4": [1.0]})])
    lines = calibrate.table([better]).splitlines()
    assert any("ARMCI_X" in line and "1" in line and "advised" in line for line in lines)


def test_rows_are_of_settings_with_their_defaults() -> None:
    rows = calibrate.rows("mpi-twosided")
    settings = (ROOT / "impl" / "mpi-twosided" / "settings.cc").read_text()
    for row in rows:
        [line] = [line for line in settings.splitlines() if f'"{row.setting}"' in line and "{" in line]
        assert f'"{row.default}"' in line
        assert row.default in row.values and row.benchmark in bench.names()


def test_an_implementation_without_rows_is_told() -> None:
    with pytest.raises(ToolError, match="no settings to calibrate"):
        calibrate.rows("shmem")
