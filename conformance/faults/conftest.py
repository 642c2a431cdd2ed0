"""The library and the programs under test, from the environment; defaults fit a run from the root of a built checkout.

ARMCI_TEST_MPI        openmpi (default) or mpich
ARMCI_TEST_IMPL       the implementation, default shmem
ARMCI_FAULT_BIN_DIR   folder with faults_<implementation> and stuck_<implementation>; default: built with Bazel
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Iterator

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import job as job_module  # noqa: E402
from armci_tool import bazel, leak_check  # noqa: E402

# Settings of the tests themselves: the library must not see them.
_OWN = ("ARMCI_TEST_MPI", "ARMCI_TEST_IMPL", "ARMCI_FAULT_BIN_DIR")
_SETTINGS = {name: os.environ.pop(name) for name in _OWN if name in os.environ}


def pytest_configure() -> None:
    """A run that is ended takes its folders and jobs away."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


@pytest.fixture(scope="session")
def implementation() -> str:
    """The implementation that is tested."""
    return _SETTINGS.get("ARMCI_TEST_IMPL", "shmem")


def _program(name: str) -> job_module.Program:
    """A program of this folder."""
    mpi = _SETTINGS.get("ARMCI_TEST_MPI", "openmpi")
    folder = _SETTINGS.get("ARMCI_FAULT_BIN_DIR")
    if folder is None:
        return job_module.Program(bazel.built(f"//conformance/faults:{name}", bazel.Configuration(mpi)), mpi)
    binary = Path(folder).resolve() / name
    if not binary.is_file():
        pytest.exit(f"there is no {binary}: set ARMCI_FAULT_BIN_DIR to the folder that has it", 2)
    return job_module.Program(binary, mpi)


@pytest.fixture(scope="session")
def program(implementation: str) -> job_module.Program:
    """The fault programs."""
    return _program("faults" + bazel.target_suffix(implementation))


@pytest.fixture(scope="session")
def stuck(implementation: str) -> job_module.Program:
    """A conformance program whose test gets stuck."""
    return _program("stuck" + bazel.target_suffix(implementation))


@pytest.fixture
def shm_dir() -> Iterator[Path]:
    """An empty folder for shared memory, so that other jobs on the machine do not disturb; must be empty at the end."""
    parent = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(prefix="armci-fault-", dir=parent) as name:
        yield Path(name)


@pytest.fixture(autouse=True)
def shared_memory_is_given_back() -> Iterator[None]:
    """After every test nothing of its job stays in /dev/shm, nor of the MPI library below."""
    watch = leak_check.SharedMemoryWatch()
    yield
    assert watch.abandoned() == []
