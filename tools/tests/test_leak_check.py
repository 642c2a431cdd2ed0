"""The leak check finds what a job leaves behind, and ignores what other jobs use."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from armci_tool import launch, leak_check, process
from armci_tool.launch import Launch
from helpers import ARMCI, alive, armci, pids_in, script

# Holds the file of its first argument, mapped or open as the second says, until its stdin ends.
HOLDER = """
import mmap, sys
file = open(sys.argv[1], "w+b")
file.truncate(4096)
if sys.argv[2] == "mapped":
    memory = mmap.mmap(file.fileno(), 4096)
    file.close()
print("held", flush=True)
sys.stdin.read()
"""


def hold(path: Path, how: str, environment: dict[str, str]) -> "subprocess.Popen[bytes]":
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(path), how], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, env=environment)
    assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
    return holder


def release(holder: "subprocess.Popen[bytes]") -> None:
    holder.communicate()


def test_markers_nest() -> None:
    outer, first = leak_check.mark({})
    inner, second = leak_check.mark(outer)
    holder = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE, env=inner)
    try:
        assert leak_check.marked_processes(first) == leak_check.marked_processes(second) == [holder.pid]
        assert leak_check.marked_processes(first[:-1]) == []
    finally:
        release(holder)
    assert leak_check.marked_processes(first) == []


def test_a_process_that_outlives_the_command_is_reported_and_ended(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    body = f"setsid sh -c 'echo $$ >>{pids}; exec sleep 100' >/dev/null 2>&1 &\nwhile ! [ -s {pids} ]; do :; done"
    result = process.run([str(script(tmp_path, "p", body))])
    [pid] = pids_in(pids)
    assert result.left_behind == (f"process {pid} (sleep 100)",)
    assert not alive(pid)


def test_a_process_on_its_way_out_is_not_reported(tmp_path: Path) -> None:
    body = "setsid sh -c 'sleep 0.3' >/dev/null 2>&1 &"
    assert process.run([str(script(tmp_path, "p", body))]).left_behind == ()


def test_an_abandoned_object_is_found_and_an_older_one_is_not(tmp_path: Path) -> None:
    (tmp_path / "older").write_text("")
    with leak_check.SharedMemoryWatch(folder=tmp_path) as watch:
        (tmp_path / "left").write_text("")
        assert watch.abandoned(0.1) == [str(tmp_path / "left")]


@pytest.mark.parametrize("how", ["open", "mapped"])
def test_an_object_that_a_process_holds_is_not_abandoned(tmp_path: Path, how: str) -> None:
    with leak_check.SharedMemoryWatch(folder=tmp_path) as watch:
        holder = hold(tmp_path / "used", how, dict(os.environ))
        try:
            assert watch.abandoned(0.1) == []
        finally:
            release(holder)
        assert watch.abandoned(0.1) == [str(tmp_path / "used")]


@pytest.mark.parametrize("ours", [True, False])
def test_what_another_job_abandons_is_not_charged_to_this_one(tmp_path: Path, ours: bool) -> None:
    environment, marker = leak_check.mark(os.environ)
    with leak_check.SharedMemoryWatch(marker, tmp_path) as watch:
        holder = hold(tmp_path / "left", "mapped", environment if ours else dict(os.environ))
        deadline = time.monotonic() + 30
        while not watch._attributed:
            assert time.monotonic() < deadline, "the watch did not look at the object"
            time.sleep(0.02)
        release(holder)
        assert watch.abandoned(0.1) == ([str(tmp_path / "left")] if ours else [])


@pytest.mark.parametrize("mpi", sorted(launch.MPI_LIBRARIES))
def test_a_job_that_leaves_nothing_is_reported_as_clean(tmp_path: Path, mpi: str) -> None:
    assert launch.start(Launch((str(script(tmp_path, "p", "exit 0")),), 2, mpi)).left_behind == ()


def test_run_says_what_was_left_behind(tmp_path: Path) -> None:
    # In a /dev/shm of its own: jobs of other tests run meanwhile, and would be charged with the file.
    left = leak_check.SHARED_MEMORY / "left-by-test"
    program = script(tmp_path, "p", f"echo >{left}")
    alone = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]), "sh", "-c",
             f'mount -t tmpfs none {leak_check.SHARED_MEMORY} && exec "$0" "$@"']
    done = subprocess.run([*alone, str(ARMCI), "run", "-n", "1", str(program)], text=True, capture_output=True, check=False,
                          timeout=60)
    assert f"left behind: {left}" in done.stderr


def test_a_process_that_changes_its_program_is_not_missed(tmp_path: Path) -> None:
    # Has no environment for a part of its time.
    environment, marker = leak_check.mark(os.environ)
    with subprocess.Popen(["sh", "-c", 'exec sh "$0"', str(script(tmp_path, "p", 'exec "$0"\n'))],
                          env=environment) as changing:
        try:
            seen = [leak_check.marked_processes(marker) for _ in range(200)]
            assert seen == [[changing.pid]] * 200
        finally:
            changing.kill()
