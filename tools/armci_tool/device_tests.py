"""Unit tests that need a verbs device: built here, and run in a guest unless this machine has such a device."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import Callable, Sequence

from armci_tool import bazel, launch, process, results, sanitizers, scratch_folders
from armci_tool.errors import ToolError
from armci_tool.placement import VERBS_DEVICES, Placement, with_device
from armci_tool.rdma import nodes
from armci_tool.results import FAILED, PASSED, Case

TESTS = "attr(tags, verbs_device, tests(//...))"
# Programs that are jobs of two processes, each on a node of its own.
JOBS = "attr(tags, verbs_device, kind(cc_binary, //...))"
_TEST_S = 300.0


def run(configuration: bazel.Configuration, note: Callable[[str], None]) -> Sequence[Case]:
    """All of them; their cases."""
    labels, jobs = bazel.query(TESTS), bazel.query(JOBS)
    if not labels or not jobs:
        raise ToolError("there are no tests that need a verbs device", where=f"bazel query '{TESTS}' or '{JOBS}' is empty",
                        next_step="check out the whole repository")
    bazel.build([*labels, *jobs], configuration, on_progress=note)
    cases: list[Case] = []
    with scratch_folders.make() as scratch:  # which a guest may write
        for label in labels:
            note(label)
            cases += _run_one(label, configuration, scratch)
        for label in jobs:
            note(label)
            cases.append(run_job(label, configuration, scratch))
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


def run_job(label: str, configuration: bazel.Configuration, scratch: Path) -> Case:
    """One of JOBS; it passes when it ends with status 0 in time."""
    job = launch.Launch((str(bazel.binary(label, configuration)),), 2, configuration.mpi,
                        placement=with_device(Placement(simulated_node_size=1), "verbs"))
    result = process.run(job.command_line(), cwd=scratch, environment={**configuration.environment(), **job.settings()},
                         timeout_s=_TEST_S * sanitizers.deadline_factor(configuration.mode))
    if result.ok:
        return Case(label, PASSED)
    return Case(label, FAILED, detail=f"status {result.status}\n{result.tail(40)}")
