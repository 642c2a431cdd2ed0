"""INIT-5, INIT-6, INIT-7: however a job ends, it ends for all its processes, says why, and leaves nothing."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from job import RANK_SHELL, Job, Outcome, Program

# The bound that the project promises from the death of a process to the end of the job.
END_WITHIN_S = 10.0
DEATH = re.compile(r"(?i)\b(signal 9|killed|died|dead|SIGKILL)\b")


def assert_nothing_left(outcome: Outcome, shm_dir: Path) -> None:
    """Neither processes nor files."""
    assert not outcome.survivors, outcome.describe()
    assert list(shm_dir.iterdir()) == [], outcome.describe()


def assert_ended(outcome: Outcome) -> None:
    """By itself, and no process got beyond the fault."""
    assert outcome.status is not None, "the job did not end\n" + outcome.describe()
    assert not [line for line in outcome.stdout if "UNEXPECTED" in line], outcome.describe()


def assert_ended_with_failure(outcome: Outcome) -> None:
    """By itself, and not with 0."""
    assert_ended(outcome)
    assert outcome.status != 0, outcome.describe()


@pytest.mark.parametrize("case", ["success", "unreleased"])
@pytest.mark.parametrize("processes", [1, 3])
def test_orderly_end_leaves_nothing(program: Program, shm_dir: Path, case: str, processes: int) -> None:
    outcome = program.run(case, processes=processes, environment={"ARMCI_SHM_DIR": str(shm_dir)})
    assert outcome.status == 0, outcome.describe()
    assert outcome.library_lines() == [], outcome.describe()
    assert_nothing_left(outcome, shm_dir)


@pytest.mark.parametrize("waiting", ["barrier", "mutex", "notify", "receive", "compute", "transfer"])
def test_killed_process_ends_the_job(program: Program, shm_dir: Path, waiting: str) -> None:
    with program.start("victim", waiting, environment={"ARMCI_SHM_DIR": str(shm_dir)}) as job:
        job.send(job.ready_processes(3)[1], signal.SIGKILL)
        outcome = job.finish(END_WITHIN_S)
    assert_ended_with_failure(outcome)
    assert any(DEATH.search(line) for line in outcome.stderr + outcome.stdout), outcome.describe()
    assert_nothing_left(outcome, shm_dir)


# In place of RANK_SHELL: the shell outlives a killed rank and keeps its connection to the launcher open, so that the
# launcher does not notice.
_HIDDEN_FROM_LAUNCHER = """
"$0" "$@" 2>>"$FAULT_STDERR" &
wait $!
status=$?
if [ $status -eq 137 ]; then exec sleep 600; fi
exit $status
"""


@pytest.mark.parametrize("waiting", ["barrier", "mutex", "notify"])
def test_waiting_process_notices_the_death_itself(program: Program, shm_dir: Path, waiting: str) -> None:
    if program.mpi != "mpich":
        pytest.skip("the launcher of Open MPI notices a death in other ways")
    settings = {"ARMCI_SHM_DIR": str(shm_dir)}
    command = program.command(["victim", waiting], 3, settings)
    command[command.index(RANK_SHELL)] = _HIDDEN_FROM_LAUNCHER
    with Job(command, settings) as job:
        job.send(job.ready_processes(3)[1], signal.SIGKILL)
        outcome = job.finish(END_WITHIN_S)
    assert_ended_with_failure(outcome)
    lines = outcome.library_lines("process 1 died")
    assert lines and all(re.match(r"armci: rank [02]: .*\[INIT-7\]$", line) for line in lines), outcome.describe()
    assert_nothing_left(outcome, shm_dir)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stopped_launcher_leaves_nothing(program: Program, shm_dir: Path, number: signal.Signals) -> None:
    with program.start("victim", "barrier", environment={"ARMCI_SHM_DIR": str(shm_dir)}) as job:
        job.ready_processes(3)
        job.send(job.process.pid, number)
        outcome = job.finish(END_WITHIN_S)
    if program.mpi == "mpich":
        # Stopped by a signal, Hydra ends with 0 now and then, with any program (`sleep`: 1 of 60).
        assert_ended(outcome)
    else:
        assert_ended_with_failure(outcome)
    assert_nothing_left(outcome, shm_dir)


@pytest.mark.parametrize("case", ["abort", "exit_early", "cleanup"])
def test_failing_process_ends_the_job(program: Program, shm_dir: Path, case: str) -> None:
    outcome = program.run(case, environment={"ARMCI_SHM_DIR": str(shm_dir)})
    assert_ended_with_failure(outcome)
    assert_nothing_left(outcome, shm_dir)


def test_end_without_finalize_leaves_nothing(program: Program, shm_dir: Path) -> None:
    # Whether that is a success is up to MPI and its launcher.
    outcome = program.run("no_finalize", environment={"ARMCI_SHM_DIR": str(shm_dir)})
    assert outcome.status is not None, outcome.describe()
    assert_nothing_left(outcome, shm_dir)


@pytest.mark.parametrize("processes", [1, 3])
@pytest.mark.parametrize("code", [42, 0])
def test_error_prints_message_code_and_rank(program: Program, shm_dir: Path, processes: int, code: int) -> None:
    outcome = program.run("error", code, processes=processes, environment={"ARMCI_SHM_DIR": str(shm_dir)})
    assert_ended_with_failure(outcome)
    lines = [line for line in outcome.stderr if "the boiler is empty" in line]
    assert len(lines) == 1, outcome.describe()
    assert re.search(rf"\brank {processes - 1}\b", lines[0]), lines
    assert re.search(rf"\b{code}\b", lines[0]), lines
    assert_nothing_left(outcome, shm_dir)


def test_watchdog_ends_a_hanging_job(program: Program, shm_dir: Path) -> None:
    outcome = program.run("hang", environment={"ARMCI_SHM_DIR": str(shm_dir), "ARMCI_TIMEOUT": "2"})
    assert_ended_with_failure(outcome)
    assert outcome.library_lines("armci_notify_wait to process 2"), outcome.describe()
    for rank in range(3):
        assert outcome.library_lines(f"rank {rank}: stack of thread"), f"no stack of {rank}\n" + outcome.describe()
    assert_nothing_left(outcome, shm_dir)
