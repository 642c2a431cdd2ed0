"""The install test recognises a run on an implementation."""

from __future__ import annotations

import pytest
from armci_tool import installed, process

RIGHT = "armci: shmem: 2 processes, 1 node(s)\narmci: copies: string\nnxtval: PASS\n"


@pytest.mark.parametrize("output, status, is_right", [
    (RIGHT, 0, True), (RIGHT, 1, False), (RIGHT.replace("shmem", "mpi-rma"), 0, False),
    (RIGHT.replace("PASS", "FAIL"), 0, False), ("nxtval: PASS\n", 0, False),
    (RIGHT + RIGHT.replace("shmem", "mpi-rma"), 0, False),
    ("nxtval: fill: 98 tasks, per processarmci: shmem: 2 processes, 1 node(s)\narmci: by AVX2\n 49 49\nnxtval: PASS\n", 0,
     True),
    ("nxtval: PAarmci: shmem: 2 processes, 1 node(s)\nSS\n", 0, True)])
def test_a_run_on_another_implementation_is_none(output: str, status: int, is_right: bool) -> None:
    assert installed.ran_on(process.Result(("program",), status, output, 0.0), "shmem") == is_right
