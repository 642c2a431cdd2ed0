"""MEM-8: memory that runs out is an error on every process alike, with a way out, and never a SIGBUS."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from job import Job, Outcome, Program

MIB = 1 << 20
CRASH = re.compile(r"(?i)bus error|signal 7\b|SIGBUS|segmentation|signal 11\b|SIGSEGV|signal 25\b|SIGXFSZ")


def _can_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    probe = ["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


needs_mount = pytest.mark.skipif(not _can_mount(), reason="mounting a small tmpfs needs root")

# Mounts a tmpfs of a given size over a folder, in a mount namespace of its own that ends with the job, runs the job
# and prints what it left there.
_IN_SMALL_TMPFS = """
mount -t tmpfs -o "size=$1,mode=1777" none "$2" || exit 97
folder=$2
shift 2
"$@"
status=$?
for file in "$folder"/* "$folder"/.[!.]*; do
  if [ -e "$file" ]; then echo "LEFT $file"; fi
done
exit $status
"""


def run_in_tmpfs(program: Program, folder: Path, size_bytes: int, *case: object, processes: int = 3) -> Outcome:
    """Runs a case with ARMCI_SHM_DIR on a tmpfs of that size."""
    settings = {"ARMCI_SHM_DIR": str(folder)}
    command = program.command([str(word) for word in case], processes, settings)
    wrapped = ["unshare", "--mount", "sh", "-c", _IN_SMALL_TMPFS, "sh", str(size_bytes), str(folder), *command]
    with Job(wrapped, settings) as job:
        return job.finish()


def assert_clean(outcome: Outcome) -> None:
    """No crash, nothing wrong that the program saw, nothing left."""
    assert outcome.status is not None, "the job did not end\n" + outcome.describe()
    assert not any(CRASH.search(line) for line in outcome.stdout + outcome.stderr), outcome.describe()
    assert not outcome.lines("LEFT") and not outcome.lines("UNEXPECTED"), outcome.describe()
    assert not outcome.survivors, outcome.describe()


def assert_names_folder(outcome: Outcome, call: str, folder: Path, processes: int) -> None:
    """Each process says in one line which memory ran out; the line tells how to get more."""
    for rank in range(processes):
        said = [line for line in outcome.library_lines(call) if line.startswith(f"armci: rank {rank}: ")]
        assert len(said) == 1, f"rank {rank} should print one line\n" + outcome.describe()
    assert any(str(folder) in line or "ARMCI_SHM_DIR" in line for line in outcome.library_lines(call)), \
        outcome.describe()


@needs_mount
@pytest.mark.parametrize("processes", [1, 3])
def test_full_file_system_fails_cleanly(program: Program, shm_dir: Path, processes: int) -> None:
    outcome = run_in_tmpfs(program, shm_dir, 64 * MIB, "exhaust", 2 * MIB, 64, processes=processes)
    assert_clean(outcome)
    assert outcome.status == 0, outcome.describe()
    found = [re.fullmatch(r"EXHAUSTED rank (\d+) regions (\d+) code (\d+) wrong 0", line)
             for line in outcome.lines("EXHAUSTED")]
    assert len(found) == processes and all(found), outcome.describe()
    # The same number of regions and the same failure everywhere; some fitted, and not all that were tried.
    answers = {(int(match[2]), int(match[3])) for match in found if match}
    assert len(answers) == 1, outcome.describe()
    regions, code = answers.pop()
    assert 2 <= regions < 64 and code != 0, outcome.describe()
    assert outcome.lines("AGAIN") == [f"AGAIN rank {rank} wrong 0" for rank in range(processes)], outcome.describe()
    assert_names_folder(outcome, "ARMCI_Malloc", shm_dir, processes)


@needs_mount
@pytest.mark.parametrize("size_bytes", [4096, 64 << 10, MIB, 2 * MIB, 4 * MIB, 8 * MIB, 16 * MIB])
def test_small_file_system_fails_cleanly_or_works(program: Program, shm_dir: Path, size_bytes: int) -> None:
    outcome = run_in_tmpfs(program, shm_dir, size_bytes, "init", processes=2)
    assert_clean(outcome)
    codes = {re.sub(r"rank \d+ ", "", line) for line in outcome.lines("INIT")}
    assert len(outcome.lines("INIT")) == 2 and len(codes) == 1, outcome.describe()
    if outcome.status == 0:
        assert codes == {"INIT code 0 initialized 1"}, outcome.describe()
        outcome = run_in_tmpfs(program, shm_dir, size_bytes, "exhaust", MIB // 2, 64, processes=2)
        assert_clean(outcome)
        assert outcome.status == 0, outcome.describe()
        assert all(line.endswith("wrong 0") for line in outcome.lines("EXHAUSTED")), outcome.describe()
    else:
        assert codes != {"INIT code 0 initialized 1"}, outcome.describe()
        assert_names_folder(outcome, "ARMCI_Init", shm_dir, 2)


@needs_mount
def test_page_size_file_system_is_too_small(program: Program, shm_dir: Path) -> None:
    # Keeps the test above honest: the smallest size is one that must fail.
    outcome = run_in_tmpfs(program, shm_dir, 4096, "init", processes=2)
    assert outcome.status not in (None, 0), outcome.describe()


@pytest.mark.parametrize("others_bytes", [0, 4096])
def test_impossible_size_fails_for_all(program: Program, shm_dir: Path, others_bytes: int) -> None:
    outcome = program.run("unequal", others_bytes, environment={"ARMCI_SHM_DIR": str(shm_dir)})
    assert_clean(outcome)
    assert outcome.status == 0, outcome.describe()
    codes = [re.fullmatch(r"UNEQUAL rank \d+ code (\d+) wrong 0", line) for line in outcome.lines("UNEQUAL")]
    assert len(codes) == 3 and all(match and match[1] != "0" for match in codes), outcome.describe()
    assert list(shm_dir.iterdir()) == []


def test_limit_of_file_sizes_is_named(program: Program, shm_dir: Path) -> None:
    settings = {"ARMCI_SHM_DIR": str(shm_dir)}
    # The launcher keeps the limit for the ranks; 64 MiB are far below what is reserved.
    wrapped = ["bash", "-c", 'ulimit -f 65536; exec "$@"', "bash", *program.command(["init"], 2, settings)]
    with Job(wrapped, settings) as job:
        outcome = job.finish()
    assert_clean(outcome)
    assert outcome.status not in (None, 0), outcome.describe()
    assert len(outcome.lines("INIT")) == 2 and all("code 0" not in line for line in outcome.lines("INIT")), \
        outcome.describe()
    assert any("ulimit -f" in line for line in outcome.library_lines("ARMCI_Init")), outcome.describe()


def test_missing_folder_is_named(program: Program, shm_dir: Path) -> None:
    missing = shm_dir / "missing"
    outcome = program.run("init", processes=2, environment={"ARMCI_SHM_DIR": str(missing)})
    assert_clean(outcome)
    assert outcome.status not in (None, 0), outcome.describe()
    assert all("code 0" not in line for line in outcome.lines("INIT")), outcome.describe()
    assert any(str(missing) in line for line in outcome.library_lines("ARMCI_Init")), outcome.describe()


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="there is no /dev/shm")
@needs_mount
@pytest.mark.parametrize("case", ["success", "unreleased"])
def test_default_folder_is_left_empty(program: Program, case: str) -> None:
    # A private /dev/shm: files of MPI itself have names of their own there.
    command = program.command([case], 3, {})
    wrapped = ["unshare", "--mount", "sh", "-c", _IN_SMALL_TMPFS, "sh", str(512 * MIB), "/dev/shm", *command]
    with Job(wrapped, {}) as job:
        outcome = job.finish()
    assert outcome.status == 0, outcome.describe()
    assert not [line for line in outcome.lines("LEFT") if "armci" in line.lower()], outcome.describe()
