"""In a guest: what commands have left behind goes, so that the next one finds the guest as new."""

from __future__ import annotations

import os
import shutil
import signal
import time
from pathlib import Path

_SHARED_MEMORY = Path("/dev/shm")


def tidy() -> None:
    """After a command."""
    kill_all_others()
    clear_shared_memory()


def forget_files() -> None:
    """Of the host's files what is remembered may be old."""
    os.sync()
    Path("/proc/sys/vm/drop_caches").write_text("3\n")


def kill_all_others() -> None:
    """What a command has left behind, but not process 1, this one, and the kernel's threads."""
    mine = {1, os.getpid()}
    for _ in range(100):
        left = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if pid not in mine and is_program(pid)]
        if not left:
            return
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.02)


def clear_shared_memory() -> None:
    """Of jobs that were killed: it would be taken from the next one."""
    for path in _SHARED_MEMORY.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def is_program(pid: int) -> bool:
    """Whether it is a living process that is no thread of the kernel."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""
    except OSError:
        return False
