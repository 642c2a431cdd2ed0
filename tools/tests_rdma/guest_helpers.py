"""The command as a user runs it, and what there is of its guests."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Sequence

from armci_tool import process
from armci_tool.rdma import kernel, session

ARMCI = Path(__file__).resolve().parents[1] / "armci"
START_S = 180.0
# A guest for several commands, which ends with these tests, however they end.
KEEP = ("--keep-for", str(os.getpid()))


def rdma(*arguments: str, cwd: Path) -> process.Result:
    """Runs the verb in a folder; both outputs in one."""
    return process.run([str(ARMCI), "rdma", *arguments], cwd=cwd, timeout_s=START_S, job=False)


def emulators() -> list[str]:
    """The machines of this user's cache: process id and command line."""
    listed = subprocess.run(["ps", "-eo", "stat,pid,args"], text=True, capture_output=True, check=True).stdout
    found = [line.split(maxsplit=1) for line in listed.splitlines() if str(kernel.cache()) in line]
    return [words for state, words in found if state[0] != "Z" and "qemu-system" in words.split()[1]]


def wait_for_emulators(wanted: Sequence[str]) -> None:
    """A process needs a moment to end."""
    deadline = time.monotonic() + 20
    while emulators() != wanted and time.monotonic() < deadline:
        time.sleep(0.1)
    assert emulators() == wanted


def assert_they_go_with_their_tool(*options: str, cwd: Path, guests: int) -> None:
    """Kills a tool whose command runs on so many guests of its own."""
    before = emulators()
    tool = subprocess.Popen([str(ARMCI), "rdma", *options, "--", "sh", "-c", "echo on; exec sleep 1000"], cwd=cwd,
                            stdout=subprocess.PIPE)
    assert tool.stdout is not None and tool.stdout.readline() == b"on\n"
    assert len(emulators()) == len(before) + guests
    tool.kill()
    tool.wait()
    tool.stdout.close()
    wait_for_emulators(before)


def assert_nothing_is_left() -> None:
    """No guest, no keeper, and no file of one."""
    wait_for_emulators([])
    assert not session.names()
    files = [path.relative_to(kernel.cache()) for path in kernel.cache().rglob("*") if not path.is_dir()]
    assert {path.parts[0] for path in files} <= {"kernel", "preload"}
