"""Reports of a job that stands still: at a signal (ARMCI_REPORT_SIGNAL) and from the watchdog
(ARMCI_TIMEOUT), processes that wait for a debugger (ARMCI_FREEZE_ON_ERROR), what the levels of ARMCI_VERBOSE tell, and what
is reported where a process ends between nodes."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest

from armci_tool.placement import Placement
from armci_tool.repository import device_of
from job import Program

HELD = r"armci: rank 1: holds mutex 0 of process 0$"
WAITED_FOR = r"armci: rank 0: thread \d+ waits for mutex 0 of process 0(, held by process 1)?, for \d+ ms$"
PLACED = re.compile(r"armci: rank \d: process \d+ on \S+, node \d+ of \d+, may use \d+ CPUs$")


def test_signal_has_a_process_say_what_it_holds_and_waits_for(program: Program, shm_dir: Path) -> None:
    with program.start("victim", "mutex", environment={"ARMCI_SHM_DIR": str(shm_dir)}) as job:
        pids = job.ready_processes(3)
        job.rank_line(HELD, lambda: os.kill(pids[1], signal.SIGUSR1))
        # Process 0 may be on its way into the lock when it is asked first.
        job.rank_line(WAITED_FOR, lambda: os.kill(pids[0], signal.SIGUSR1))
        assert job.rank_line(r"armci: rank 0: holds ").endswith("holds no mutex")
        assert job.rank_line(r"armci: rank 0: 0 pending non-blocking operations$")
        assert job.rank_line(r"armci: rank 0: stores not fenced to: ")
        assert set(pids.values()) <= set(job.survivors())


def test_locks_between_nodes_are_told_too(program: Program, implementation: str) -> None:
    if implementation == "shmem" or device_of(implementation):
        pytest.skip("its nodes are this one, or need a device")
    with program.start("victim", "mutex", placement=Placement(simulated_node_size=1)) as job:
        pids = job.ready_processes(3)
        job.rank_line(HELD, lambda: os.kill(pids[1], signal.SIGUSR1))
        job.rank_line(WAITED_FOR, lambda: os.kill(pids[0], signal.SIGUSR1))


@pytest.mark.parametrize(("wait", "what"), [("barrier", "a barrier"), ("notify", "a notification")])
def test_signal_has_a_process_say_what_it_waits_for(program: Program, wait: str, what: str) -> None:
    with program.start("victim", wait) as job:
        pids = job.ready_processes(3)
        job.rank_line(rf"armci: rank 0: thread \d+ waits for {what}, for \d+ ms$", lambda: os.kill(pids[0], signal.SIGUSR1))
        # Its stack, with the rank on each line: those of several processes come mixed.
        assert job.rank_line(r"armci: rank 0:   #5 (\S+ )?\(\S+\+0x[0-9a-f]+\)$")


def test_watchdog_says_what_is_waited_for(program: Program) -> None:
    outcome = program.run("victim", "notify", environment={"ARMCI_TIMEOUT": "2"})
    assert outcome.status not in (None, 0), outcome.describe()
    assert any(re.search(r"rank 0: thread \d+ waits for a notification, for \d+ ms$", line) for line in outcome.stderr), outcome.describe()


def test_statistics_say_what_was_waited_for_and_how_long(program: Program) -> None:
    outcome = program.run("late", processes=2, environment={"ARMCI_STATS": "1"})
    assert outcome.status == 0, outcome.describe()
    for what in ("a barrier", "a notification"):
        assert any(re.search(rf"waited for {what}: [1-9]\d* times, \d+\.\d\d\d s, at most \d+\.\d\d\d s in a process$", line)
                   for line in outcome.library_lines()), outcome.describe()


def test_launcher_hands_the_signal_to_all(program: Program) -> None:
    if program.mpi == "mpich":
        pytest.skip("the launcher of MPICH keeps the signal")
    with program.start("victim", "mutex") as job:
        pids = job.ready_processes(3)
        job.rank_line(HELD, lambda: job.send(job.process.pid, signal.SIGUSR1))
        job.rank_line(r"armci: rank 2: holds no mutex")
        assert set(pids.values()) <= set(job.survivors())


def test_watchdog_has_processes_of_other_nodes_tell_as_well(program: Program, implementation: str) -> None:
    if implementation == "shmem" or device_of(implementation):
        pytest.skip("its nodes are this one, or need a device")
    # Process 1 holds the mutex and is inside no call: it would not speak by itself.
    outcome = program.run("victim", "mutex", environment={"ARMCI_TIMEOUT": "2"}, placement=Placement(simulated_node_size=1))
    assert outcome.status not in (None, 0), outcome.describe()
    for what in ("another process hangs", r"no thread is inside an ARMCI call", HELD):
        assert any(re.search(what, line) and "rank 1:" in line for line in outcome.stderr), outcome.describe()


def test_watchdog_says_who_holds_and_who_waits(program: Program, shm_dir: Path) -> None:
    outcome = program.run("victim", "mutex", environment={"ARMCI_SHM_DIR": str(shm_dir), "ARMCI_TIMEOUT": "2"})
    assert outcome.status not in (None, 0), outcome.describe()
    assert any(re.search(WAITED_FOR.replace("rank 0", "rank [02]"), line) for line in outcome.stderr), outcome.describe()
    assert any(re.search(HELD, line) for line in outcome.stderr), outcome.describe()


def test_signal_that_the_program_handles_stays_its_own(program: Program) -> None:
    outcome = program.run("own_signal", processes=2)
    assert outcome.status == 0, outcome.describe()
    assert len(outcome.lines("HANDLED")) == 4, outcome.describe()
    assert outcome.library_lines() == []


@pytest.mark.parametrize(("value", "says"), [("9", "no signal for reports"), ("11", "no signal for reports"),
                                             ("33", "no signal for reports"), ("65", "65")])
def test_signal_that_cannot_be_had_is_refused(program: Program, value: str, says: str) -> None:
    outcome = program.run("init", processes=2, environment={"ARMCI_REPORT_SIGNAL": value})
    assert outcome.status not in (None, 0), outcome.describe()
    assert any("ARMCI_REPORT_SIGNAL" in line and says in line for line in outcome.library_lines()), outcome.describe()


def test_no_signal_is_taken_when_none_is_wanted(program: Program) -> None:
    if program.mpi == "mpich":
        pytest.skip("MPICH handles the signal by itself: it ends no process")
    with program.start("victim", "mutex", environment={"ARMCI_REPORT_SIGNAL": "0"}) as job:
        job.send(job.ready_processes(3)[1], signal.SIGUSR1)
        outcome = job.finish()
    assert outcome.status not in (None, 0), outcome.describe()
    assert not outcome.library_lines("holds"), outcome.describe()


def test_process_that_fails_waits_for_a_debugger(program: Program, shm_dir: Path) -> None:
    with program.start("error", processes=2,
                       environment={"ARMCI_SHM_DIR": str(shm_dir), "ARMCI_FREEZE_ON_ERROR": "1"}) as job:
        frozen = re.search(r"rank 1: frozen .*gdb -p (\d+)$", job.rank_line(r"gdb -p \d+$"))
        assert frozen is not None
        assert int(frozen.group(1)) in job.survivors()
        assert job.rank_line(r"rank 1: fatal: the boiler is empty \(code 42\)")
        assert job.process.poll() is None


def test_a_process_that_exits_between_nodes_takes_its_threads_with_it(program: Program, implementation: str,
                                                                      shm_dir: Path) -> None:
    if implementation == "shmem" or device_of(implementation):
        pytest.skip("its nodes are this one, or need a device")
    outcome = program.run("exit_early", environment={"ARMCI_SHM_DIR": str(shm_dir)}, placement=Placement(simulated_node_size=1))
    assert outcome.status not in (None, 0), outcome.describe()
    assert not [line for line in outcome.stderr if re.search(r"(?i)signal 11|segmentation", line)], outcome.describe()
    assert not outcome.survivors and not list(shm_dir.iterdir()), outcome.describe()


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_each_level_tells_more(program: Program, level: int) -> None:
    outcome = program.run("success", processes=2, environment={"ARMCI_VERBOSE": str(level)})
    assert outcome.status == 0, outcome.describe()
    printed = "\n".join(outcome.library_lines())
    assert ("2 processes" in printed) == (level >= 1), outcome.describe()
    assert len([line for line in outcome.library_lines() if PLACED.match(line)]) == (2 if level >= 2 else 0)
    for what in (r"rank 0: allocated region \d+ of 2 processes, 32768 bytes", r"rank 0: frees region \d+$",
                 r"rank 0: made 4 mutexes of 2 processes, 2 here$", r"rank 0: made group \d+ of 2 processes on "):
        assert bool(re.search(what, printed, re.MULTILINE)) == (level >= 2), (what, outcome.describe())
    for rank in (0, 1):
        put = rf"rank {rank}: ARMCI_Put to process {1 - rank} begins$"
        end = rf"rank {rank}: ARMCI_Put ends after [\d.]+ us: 32768 bytes, process {1 - rank}$"
        for what in (put, end):
            assert bool(re.search(what, printed, re.MULTILINE)) == (level >= 3), (what, outcome.describe())
