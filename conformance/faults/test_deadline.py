"""A passed deadline of the suite prints for every rank the test, the call it is inside of, pending operations, stacks."""

from __future__ import annotations

import tempfile

import pytest

from armci_tool.launch import SHARED_MEMORY, mpi_library
from job import Outcome, Program

# Rank -> what its lines say; 1 waits for the mutex that 0 keeps, 2 for a notification, 3 for the others.
INSIDE = {0: "inside WaitUntil: what never comes", 1: "inside ARMCI_Lock of mutex 1 at rank 2",
          3: "inside meeting of all ranks, conformance/faults/stuck_test.cc:"}


def run(stuck: Program, test: str, *words: object, processes: int) -> Outcome:
    """The end of a job that runs this test."""
    # A rank that ends at its deadline leaves the shared memory files of the MPI library behind.
    with tempfile.TemporaryDirectory(prefix="armci-fault-", dir=SHARED_MEMORY) as folder:
        environment = {name: folder for name in mpi_library(stuck.mpi).backing_folder_settings}
        return stuck.run("--filter", test, *words, processes=processes, environment=environment)


@pytest.fixture(scope="module")
def outcome(stuck: Program) -> Outcome:
    """The end of a job in which every rank is stuck in another way."""
    return run(stuck, "every_rank_is_stuck", "--deadline", 2, processes=4)


@pytest.fixture(scope="module")
def child(stuck: Program) -> Outcome:
    """The end of a job that waits for another one, which is stuck."""
    return run(stuck, "job_of_its_own_is_stuck", processes=1)


def of_rank(outcome: Outcome, rank: int) -> list[str]:
    """The lines of a rank about itself, without the rank."""
    beginnings = (f"conformance: rank {rank}: ", f"conformance: rank {rank} ", f"rank {rank} ")
    return [line[len(beginning):] for line in outcome.stderr for beginning in beginnings if line.startswith(beginning)]


def says(lines: list[str], text: str) -> bool:
    """Whether a line has the text."""
    return any(text in line for line in lines)


def test_job_ends_and_says_that_it_failed(outcome: Outcome) -> None:
    # The launcher decides the status: it kills the remaining ranks when the first one has left.
    assert outcome.status not in (None, 0), outcome.describe()
    assert not outcome.survivors, outcome.describe()


@pytest.mark.parametrize("rank", range(4))
def test_every_rank_names_the_test_and_prints_stacks(outcome: Outcome, rank: int) -> None:
    lines = of_rank(outcome, rank)
    assert says(lines, "deadline of 2 s passed in MUTEX.MUTEX6_every_rank_is_stuck_in_another_way"), outcome.describe()
    assert any(line.startswith(f"  rank {rank}  #") for line in outcome.stderr), outcome.describe()


@pytest.mark.parametrize("rank", INSIDE)
def test_every_rank_says_what_it_is_inside_of(outcome: Outcome, rank: int) -> None:
    assert says(of_rank(outcome, rank), INSIDE[rank]), outcome.describe()


def test_call_that_the_test_makes_itself_is_named_by_the_stack(outcome: Outcome) -> None:
    assert any(line.startswith("thread ") and line.endswith(", inside armci_notify_wait")
               for line in of_rank(outcome, 2)), outcome.describe()
    assert says(of_rank(outcome, 2), "nothing pending that the suite knows of"), outcome.describe()


def test_operations_between_start_and_wait_are_pending(outcome: Outcome) -> None:
    pending = "pending: ARMCI_NbPutS (aggregate handle) of 512 bytes at rank 3, started and not waited for"
    assert says(of_rank(outcome, 0), pending), outcome.describe()


@pytest.mark.parametrize("rank", (1, 2, 3))
def test_what_was_waited_for_or_never_started_is_not_pending(outcome: Outcome, rank: int) -> None:
    assert not says(of_rank(outcome, rank), "pending: "), outcome.describe()


def test_job_that_a_test_started_says_where_it_is_stuck(child: Outcome) -> None:
    assert child.status == 1, child.describe()
    lines = [line.replace("  | ", "") for line in child.stdout + child.stderr]
    assert any("deadline of 5 s passed in the child case waits_forever" in line for line in lines), child.describe()
    assert any(line.startswith("rank 0 thread ") and line.endswith(", inside armci_notify_wait")
               for line in lines), child.describe()
    assert any(line.startswith("rank 1 thread ") for line in lines), child.describe()
