"""CMPL-3, ERR-1, ERR-2, MUTEX-8: a stopped target, calls at the wrong time, and bad input to calls without a code."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from armci_tool import nodes, repository
from armci_tool.placement import Placement
from job import Outcome, Program

# Case -> what the line must say of the value; the program runs on 2 processes and process 1 makes the mistake.
BAD_CALLS = {
    "ARMCI_Lock.proc": r"proc = 2\b",
    "ARMCI_Lock.mutex": r"mutex = 2\b",
    "ARMCI_Lock.negative": r"mutex = -1\b",
    "ARMCI_Unlock.not_held": r"mutex.*\b1\b",
    "ARMCI_Unlock.mutex": r"mutex = 2\b",
    "ARMCI_Fence.proc": r"proc = 2\b",
    "ARMCI_Fence.negative": r"proc = -1\b",
    "ARMCI_GroupFence.null": r"group.*NULL",
    "ARMCI_Copy.null": r"src.*NULL",
    "ARMCI_Copy.negative": r"n = -1\b",
    "ARMCI_Access_begin.outside": r"ptr = 0x[0-9a-f]+",
    "ARMCI_Group_create.null": r"NULL",
    "ARMCI_Group_create.member": r"\b2\b",
    "ARMCI_Group_free.null": r"group.*NULL",
    "ARMCI_INIT_HANDLE.null": r"hdl.*NULL",
    "armci_msg_snd.proc": r"to = 2\b",
    "armci_msg_snd.null": r"buf.*NULL",
    "armci_msg_bcast.root": r"root = 2\b",
    "armci_msg_igop.operator": r"avg",
    "ARMCIX_Lock_hdl.null": r"hdl.*NULL",
}
INT_CALLS = 16
VOID_CALLS = ("ARMCI_Barrier", "ARMCI_AllFence", "ARMCI_Fence", "ARMCI_Lock", "ARMCI_Unlock", "armci_msg_barrier",
              "armci_msg_igop")
USAGE, RETURNED = 96, 98  # statuses of the fault programs
CRASH = re.compile(r"(?i)segmentation|signal 11\b|SIGSEGV|signal 6\b|SIGABRT|signal 7\b|signal 8\b|UNEXPECTED")


def assert_no_crash(outcome: Outcome) -> None:
    """Ended by the library, not by an accident."""
    assert outcome.status is not None, "the job did not end\n" + outcome.describe()
    assert not any(CRASH.search(line) for line in outcome.stdout + outcome.stderr), outcome.describe()
    assert not outcome.survivors, outcome.describe()


def error_lines(outcome: Outcome) -> list[str]:
    """The lines of the library, without the one with which ARMCI_Error ends the job."""
    return [line for line in outcome.library_lines() if not re.match(r"armci: rank \S+: fatal: ", line)]


def test_table_has_every_bad_call(program: Program) -> None:
    listed = subprocess.run([str(program.binary), "bad_calls"], capture_output=True, text=True, check=True)
    assert set(listed.stdout.split()) == set(BAD_CALLS)


@pytest.mark.parametrize("name", BAD_CALLS)
def test_bad_input_ends_the_job_with_one_line(program: Program, shm_dir: Path, name: str) -> None:
    outcome = program.run("bad_call", name, processes=2, environment={"ARMCI_SHM_DIR": str(shm_dir)})
    assert_no_crash(outcome)
    assert outcome.status != 0, outcome.describe()
    call = name.partition(".")[0]
    said = error_lines(outcome)
    assert len(said) == 1, outcome.describe()
    assert re.match(rf"armci: rank 1: {call}: .*\[[A-Z]+-\d+\]$", said[0]), said
    assert re.search(BAD_CALLS[name], said[0]), said
    assert list(shm_dir.iterdir()) == []


@pytest.mark.parametrize("case", ["before_mpi", "before_init", "after", "after_mpi"])
def test_int_calls_return_a_code(program: Program, case: str) -> None:
    outcome = program.run(case, processes=1)
    assert_no_crash(outcome)
    assert outcome.status == 0, outcome.describe()
    word = case.partition("_")[0].upper()
    calls = [line.split()[1:] for line in outcome.lines(word)]
    refused = {call for call, code in calls if code != "0"}
    assert len(refused) == INT_CALLS and ["ARMCI_Initialized", "0"] in calls, outcome.describe()
    for call in refused:
        said = outcome.library_lines(f" {call}: ")
        assert len(said) == 1 and re.search(r"\[(ERR-1|INIT-2)\]$", said[0]), f"{call}\n" + outcome.describe()


@pytest.mark.parametrize("call", VOID_CALLS)
@pytest.mark.parametrize("case", ["before_mpi", "before_init", "after", "after_mpi"])
def test_void_calls_end_the_job(program: Program, case: str, call: str) -> None:
    outcome = program.run(case, call, processes=1)
    assert_no_crash(outcome)
    assert outcome.status not in (0, USAGE, RETURNED), outcome.describe()
    said = error_lines(outcome)
    assert len(said) == 1, outcome.describe()
    assert re.match(rf"armci: rank (-|\d+): p?{call}: .*\[ERR-1\]$", said[0]), said


def on_nodes(implementation: str, node_size: int) -> dict[str, str]:
    if node_size == 0:
        return {}
    if implementation in ("shmem", "native-verbs"):
        pytest.skip("its nodes are this one, or need a device")
    return {"ARMCI_NODE_SIZE": str(node_size)}


@pytest.mark.parametrize("node_size", [0, 1, 2])
@pytest.mark.parametrize("case", ["no_finalize", "nested_no_finalize"])
def test_the_library_ends_with_mpi(program: Program, implementation: str, shm_dir: Path, case: str,
                                   node_size: int) -> None:
    settings = {"ARMCI_SHM_DIR": str(shm_dir), **on_nodes(implementation, node_size)}
    outcome = program.run(case, processes=3, environment=settings)
    assert_no_crash(outcome)
    assert outcome.status == 0 and outcome.lines("INITIALIZED") == ["INITIALIZED 0"] * 3, outcome.describe()
    said = outcome.library_lines(" MPI_Finalize: ")
    assert len(said) == 1 and "call ARMCI_Finalize before MPI_Finalize [INIT-5]" in said[0], outcome.describe()
    assert list(shm_dir.iterdir()) == []


@pytest.mark.parametrize("node_size", [0, 1])
@pytest.mark.parametrize(("size", "puts"), [(8, 40), (65536, 1)])
def test_a_put_returns_while_its_target_is_stopped(program: Program, implementation: str, size: int, puts: int,
                                                   node_size: int) -> None:
    outcome = program.run("stopped_target", size, puts, processes=3,
                          environment=on_nodes(implementation, node_size))
    assert_no_crash(outcome)
    assert outcome.status == 0 and outcome.lines("PUT") == [f"PUT {size * puts} of {size * puts}"], outcome.describe()


@pytest.mark.parametrize("node_size", [0, 1])
def test_first_requests_that_arrive_together_are_served(program: Program, implementation: str, node_size: int) -> None:
    assert_serves_first_requests(program.run("stopped_source", 40, processes=3,
                                             environment=on_nodes(implementation, node_size)))


@pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")
def test_first_requests_that_arrive_together_by_a_network_are_served(program: Program, implementation: str) -> None:
    on_nodes(implementation, 1)
    assert_serves_first_requests(program.run("stopped_source", 40, processes=3, placement=Placement(3)))


def assert_serves_first_requests(outcome: Outcome) -> None:
    assert_no_crash(outcome)
    assert outcome.status == 0 and outcome.lines("GET") == ["GET 320 of 320"], outcome.describe()


@pytest.mark.parametrize("node_size", [0, 1])
def test_finalize_after_that_of_mpi_is_refused(program: Program, implementation: str, shm_dir: Path,
                                               node_size: int) -> None:
    settings = {"ARMCI_SHM_DIR": str(shm_dir), **on_nodes(implementation, node_size)}
    outcome = program.run("late_finalize", processes=2, environment=settings)
    assert_no_crash(outcome)
    assert outcome.status == 0 and len(outcome.lines("LATE")) == 2, outcome.describe()
    said = outcome.library_lines(" ARMCI_Finalize: ")
    assert len(said) == 2 and all("before MPI_Finalize" in line for line in said), outcome.describe()
    assert list(shm_dir.iterdir()) == []


@pytest.mark.parametrize(("node_size", "processes"), [(1, 2), (2, 3)])
def test_shared_memory_over_several_nodes_is_refused(program: Program, implementation: str, shm_dir: Path,
                                                     node_size: int, processes: int) -> None:
    if implementation != "shmem":
        pytest.skip(f"{implementation} serves several nodes")
    settings = {"ARMCI_NODE_SIZE": str(node_size), "ARMCI_SHM_DIR": str(shm_dir)}
    assert_refused(program.run("init", processes=processes, environment=settings), processes)
    assert list(shm_dir.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")
def test_shared_memory_over_nodes_with_a_network_is_refused(program: Program, implementation: str) -> None:
    if implementation != "shmem":
        pytest.skip(f"{implementation} serves several nodes")
    outcome = program.run("init", processes=3, placement=Placement(2))
    assert_refused(outcome, 3)
    assert "this job has 2 nodes;" in outcome.library_lines("ARMCI_Init")[0], outcome.describe()
    assert not outcome.survivors and not [line for line in outcome.stderr if line.startswith(nodes.LEFT_BEHIND)]


def assert_refused(outcome: Outcome, processes: int) -> None:
    """Every rank got an error from ARMCI_Init that names the call to use instead."""
    assert_no_crash(outcome)
    assert outcome.status != 0, outcome.describe()
    lines = outcome.lines("INIT")
    assert len(lines) == processes, outcome.describe()
    assert all(re.fullmatch(r"INIT rank \d+ code [1-9]\d* initialized 0", line) for line in lines), outcome.describe()
    said = outcome.library_lines("ARMCI_Init")
    assert said, outcome.describe()
    *names, last = [row.name for row in repository.implementation_table() if row.spans_nodes and not row.test_only]
    assert f"; link {', '.join(names)} or {last}, which" in said[0], said


def test_simulated_node_that_holds_the_job_is_accepted(program: Program, shm_dir: Path) -> None:
    outcome = program.run("init", processes=2,
                          environment={"ARMCI_NODE_SIZE": "2", "ARMCI_SHM_DIR": str(shm_dir)})
    assert outcome.status == 0, outcome.describe()


@pytest.mark.parametrize(("name", "value"), [("ARMCI_TIMEOUT", "soon"), ("ARMCI_STATS", "-1"),
                                             ("ARMCI_SHM_RESERVE", "1parsec")])
def test_setting_that_does_not_parse_is_refused(program: Program, name: str, value: str) -> None:
    outcome = program.run("init", processes=2, environment={name: value})
    assert_no_crash(outcome)
    assert outcome.status != 0, outcome.describe()
    assert all("code 0" not in line for line in outcome.lines("INIT")), outcome.describe()
    assert any(name in line and value in line for line in outcome.library_lines("ARMCI_Init")), outcome.describe()


def test_unknown_setting_draws_one_warning(program: Program) -> None:
    outcome = program.run("init", processes=3, environment={"ARMCI_NO_SUCH_SETTING": "1"})
    assert outcome.status == 0, outcome.describe()
    assert len(outcome.library_lines("ARMCI_NO_SUCH_SETTING")) == 1, outcome.describe()
