"""Tuning of settings: what is measured, and what is advised."""

from __future__ import annotations

import re
from typing import Optional

import pytest
from armci_tool import bench, repository, tune
from armci_tool.errors import ToolError
from armci_tool.repository import ROOT

ROW = tune.Row("ARMCI_X", "2", ("1", "2", "4"), "messages", ("",))
FAIR = tune.Row("ARMCI_X", "2", ("1", "2"), "contention", ("lock",), least={"fairness": 0.8})


def run(times: list[float], raw: float = 100.0, status: int = 0, name: str = "put") -> bench.BenchRun:
    return bench.BenchRun("messages", status, "", {
        "cases": [{"name": name, "size": f"{8 << k} B", "armci_ns": one, "baseline_ns": raw}
                  for k, one in enumerate(times)] + [{"name": "fairness", "size": "2 processes", "value": 1.0}]})


def trial(scores: dict[str, list[float]], row: tune.Row = ROW, fairness: float = 1.0) -> tune.Trial:
    return tune.Trial(row, {value: {turn: tune.Measured({"put, 8 B": one}, {"fairness": fairness if value == "1" else 1.0})
                                    for turn, one in enumerate(rounds)} for value, rounds in scores.items()})


@pytest.mark.parametrize("made, expected", [
    ([run([50, 200])], 1.0), ([run([100], raw=50)], 2.0), ([run([])], None), ([run([50], status=1)], None),
    ([bench.BenchRun("messages", 0, "", None)], None),
    ([run([50], name="put"), run([200], name="get")], 1.0), ([run([50]), run([50], status=1)], None)])
def test_a_round_is_scored_by_its_cases_against_raw_calls(made: list[bench.BenchRun], expected: Optional[float]) -> None:
    measured = tune.measured(made)
    assert (measured and measured.score) == (None if expected is None else pytest.approx(expected))


def test_what_is_held_against_another_call_of_the_library_is_scored_by_its_time() -> None:
    made = run([50], raw=100)
    assert made.data is not None
    case = made.data["cases"][0]
    for layer, expected in (("raw", 0.5), ("library", 50.0)):
        case.update(baseline="other", series=[{"name": "other", "layer": layer}])
        measured = tune.measured([made])
        assert measured is not None and measured.score == pytest.approx(expected)


@pytest.mark.parametrize("scores, advised", [
    ({"1": [2.0, 2.0], "2": [1.0, 1.0], "4": [1.5, 1.5]}, "2"),
    ({"1": [0.5, 0.51, 0.5], "2": [1.0, 1.01, 1.0], "4": [0.7, 0.7, 0.7]}, "1"),
    ({"1": [0.5], "2": [1.0], "4": [1.5]}, "2"),  # one round tells nothing
    ({"1": [0.5, 1.5, 0.6], "2": [1.0, 1.0, 1.0], "4": [1.5, 1.5, 1.5]}, "2"),  # better in most, but not for certain
    ({"1": [0.97, 0.97], "2": [1.0, 1.0], "4": [1.5, 1.5]}, "2"),  # not worth it
    ({"1": [1.2], "2": [], "4": [1.5]}, "1"),  # the default fails
    ({"1": [], "2": [], "4": []}, "2"),
])
def test_a_value_is_advised_where_it_is_worth_it(scores: dict[str, list[float]], advised: str) -> None:
    assert trial(scores).advised == advised


@pytest.mark.parametrize("fairness, advised", [(1.0, "1"), (0.85, "1"), (0.5, "2")])
def test_what_is_fast_and_unfair_is_not_advised(fairness: float, advised: str) -> None:
    made = trial({"1": [0.1, 0.1], "2": [1.0, 1.0]}, FAIR, fairness)
    assert made.advised == advised
    assert ("fairness 0.5, less than 0.8" in tune.table([made])) == (fairness == 0.5)


def test_the_advice_is_for_a_shell() -> None:
    better = trial({"1": [0.5, 0.5], "2": [1.0, 1.0], "4": [1.0, 1.0]})
    assert tune.advice([better]) == "export ARMCI_X=1"
    assert "no value" in tune.advice([trial({"1": [1.0], "2": [1.0], "4": [1.0]})])
    lines = tune.table([better]).splitlines()
    assert any("ARMCI_X" in line and "1" in line and "advised" in line for line in lines)


@pytest.mark.parametrize("implementation", repository.implementations())
def test_rows_are_of_settings_with_their_defaults(implementation: str) -> None:
    sources = [*(ROOT / "impl" / implementation).glob("*.cc"), *(ROOT / "impl" / "runtime").glob("*.cc"),
               *(ROOT / "impl" / "node").glob("*.cc")]
    settings = "\n".join(source.read_text() for source in sources)
    for row in tune.rows(implementation):
        found = re.findall(r'\{[^{}]*"%s",[^{}]*' % row.setting, settings)
        assert any(f'"{row.default}"' in one for one in found), (row.setting, found)
        assert row.default in row.values and row.benchmark in bench.names()


def test_what_was_measured_stays_beside_what_is_advised() -> None:
    better = trial({"1": [0.5, 0.6], "2": [1.0, 1.1], "4": []})
    text = tune.environment_file([better], "shmem", "openmpi", "this machine")
    assert "\nexport ARMCI_X=1\n" in text and "#   2: 1 1.1" in text and "#   4: failed" in text
    assert re.search(r"^#   put, 8 B +0\.55 +1\.05$", text, re.MULTILINE)
    same = trial({"1": [1.0], "2": [1.0], "4": [1.0]})
    lines = tune.environment_file([same], "shmem", "openmpi", "this machine").splitlines()
    assert "# (default) export ARMCI_X=2" in lines and not any(line.startswith("export") for line in lines)


def test_an_implementation_without_rows_is_reported() -> None:
    with pytest.raises(ToolError, match="no settings to tune"):
        tune.rows("loopback")
