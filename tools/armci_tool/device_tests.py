"""Unit tests that need a verbs device: built here, and run in a guest unless this machine has such a device."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import Callable, Sequence

from armci_tool import bazel, process, results, sanitizers, scratch_folders
from armci_tool.errors import ToolError
from armci_tool.placement import VERBS_DEVICES
from armci_tool.rdma import nodes
from armci_tool.results import FAILED, Case

TESTS = "attr(tags, verbs_device, tests(//...))"
_TEST_S = 300.0


def run(configuration: bazel.Configuration, note: Callable[[str], None]) -> Sequence[Case]:
    """All of them; their cases."""
    labels = bazel.query(TESTS)
    if not labels:
        raise ToolError("there are no tests that need a verbs device", where=f"bazel query '{TESTS}' is empty",
                        next_step="check out the whole repository")
    bazel.build(labels, configuration, on_progress=note)
    cases: list[Case] = []
    with scratch_folders.make() as scratch:  # which a guest may write
        for label in labels:
            note(label)
            cases += _run_one(label, configuration, scratch)
    return cases


def _run_one(label: str, configuration: bazel.Configuration, scratch: Path) -> list[Case]:
    binary = bazel.binary(label, configuration)
    verdicts = scratch / f"{binary.name}.xml"
    line = [str(binary), f"--gtest_output=xml:{verdicts}"]
    if not glob.glob(VERBS_DEVICES):
        line = nodes.command_line(1, line)
    result = process.run(line, cwd=scratch, environment=configuration.environment(),
                         timeout_s=_TEST_S * sanitizers.deadline_factor(configuration.mode))
    if not verdicts.exists():
        return [Case(label, FAILED, detail=f"ended with status {result.status} without verdicts\n{result.tail(20)}")]
    return results.read_junit(verdicts)
