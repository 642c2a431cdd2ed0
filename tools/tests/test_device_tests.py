"""Tests of what runs where a verbs device is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from armci_tool import bazel, device_tests, process
from armci_tool.placement import Placement
from armci_tool.results import FAILED, PASSED

LABEL = "//impl/some:job"


@pytest.mark.parametrize("status, outcome", [(0, PASSED), (1, FAILED)])
def test_a_job_has_two_processes_on_two_nodes_and_its_status_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, status: int,
                                                                    outcome: str) -> None:
    started: list[Any] = []

    def run(line: list[str], **options: Any) -> process.Result:
        started.append((line, options["environment"]))
        return process.Result(tuple(line), status, "FAILED: put\n", 0.1)

    monkeypatch.setattr(process, "run", run)
    monkeypatch.setattr(bazel, "binary", lambda label, configuration: tmp_path / "job")
    monkeypatch.setattr(device_tests, "with_device", lambda where, device: where)
    case = device_tests.run_job(LABEL, bazel.Configuration(), tmp_path)
    (line, environment), = started
    assert line[-3:] == ["-n", "2", str(tmp_path / "job")]
    assert Placement(simulated_node_size=1).environment().items() <= environment.items()
    assert (case.name, case.outcome) == (LABEL, outcome)
    assert ("FAILED: put" in case.detail) == (outcome == FAILED)
