"""Ends a job whose tool has been killed and can no longer do it.

The kernel's own signal at a parent's death does not serve: it comes once for each thread of the parent, and a launcher
takes the second SIGTERM as an order to go without its ranks. So a process of its own stands by, and learns from the end
of a pipe that the tool is gone.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import Callable, Iterator

from armci_tool import leftovers

GRACE_S = 5.0


@contextmanager
def standing_by(marker: str) -> Iterator[Callable[[int], None]]:
    """While the context lasts, the death of this process ends what carries the marker (all of it, if there is one) and
    the launcher, whose process id the function is to be told."""
    warden = subprocess.Popen([sys.executable, "-B", "-S", "-m", "armci_tool.warden", marker],
                              stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              start_new_session=True)
    assert warden.stdin is not None
    pipe = warden.stdin.fileno()
    try:
        yield lambda pid: _tell(pipe, pid)
    finally:
        warden.kill()
        warden.stdin.close()
        warden.wait()


def _tell(pipe: int, pid: int) -> None:
    try:
        os.write(pipe, f"{pid}\n".encode())
    except BrokenPipeError:
        pass  # somebody has ended the warden: the job is to run all the same


def main(marker: str) -> None:
    """Waits for the end of the pipe, then ends the job."""
    launcher = sys.stdin.readline().strip()
    sys.stdin.read()
    if launcher:
        end_orderly(int(launcher))
    if marker:
        kill_marked(marker)


def end_orderly(launcher: int) -> None:
    """One SIGTERM, and time for the launcher to tidy up."""
    try:
        os.kill(launcher, signal.SIGTERM)
    except ProcessLookupError:
        return
    leftovers.wait_for_end(launcher, GRACE_S)


def kill_marked(marker: str) -> None:
    """By process id. A process may fork while it is being looked for, so look until none is found."""
    while survivors := leftovers.marked_processes(marker):
        for pid in survivors:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        leftovers.wait_for_end(survivors[0], 0.01)


if __name__ == "__main__":
    main(sys.argv[1])
