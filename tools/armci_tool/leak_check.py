"""The leak check finds and ends what a job leaves behind: processes, by a marker in their environment, and shared memory
that no process holds.

The leak check finds the marker in every process group, session and namespace. A watched job may start watched jobs: the
variable holds the markers of all jobs of a process.

Functions import psutil where they use it: the reaper and the guests' agent start with -S, which sees no packages.
"""

from __future__ import annotations

import math
import os
import re
import select
import signal
import site
import stat
import subprocess
import sys
import threading
import time
import uuid
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Iterator, Mapping

MARKER = "TOOL_JOB_MARKER"
# A job's last processes may still be on their way out when its launcher has ended.
SETTLE_S = 2.0
# Period of the looks at shared memory while a job runs.
LOOK_EVERY_S = 0.5
SHARED_MEMORY = Path("/dev/shm")
# A process that has arguments and no environment may still get one within this time.
_EMPTY_S = 0.02
_KERNEL_PARENTS = (0, 2)
# Carried by every job that this process starts, besides the job's own.
_common: list[str] = []
# Processes that stayed without an environment, by id and start: the next wait for them is short.
_without_environment: set[tuple[int, float]] = set()
_MAPPED = re.compile(rb"^\S+ \S+ \S+ (\w+):(\w+) ([1-9]\d*)", re.MULTILINE)

# Device and inode: a name may be another file's in another mount namespace.
_Identity = tuple[int, int]


@dataclass(frozen=True)
class Ending:
    """How a command is ended before its time: a signal, and the time until SIGKILL."""

    signum: int = signal.SIGTERM
    patience_s: float = 5.0


# apt-get takes SIGINT as an order to stop when dpkg is done. A dpkg that is killed leaves broken packages.
PACKAGE_MANAGER = Ending(signal.SIGINT, math.inf)


def mark(environment: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """The environment with a new marker added, and the marker."""
    marker = uuid.uuid4().hex
    return {**environment, MARKER: ",".join([*filter(None, [environment.get(MARKER)]), *_common, marker])}, marker


@contextmanager
def common_marker() -> Iterator[str]:
    """While the context lasts, all jobs of this process carry this marker too. Another process can end them by it."""
    marker = uuid.uuid4().hex
    _common.append(marker)
    try:
        yield marker
    finally:
        _common.remove(marker)


def marked_processes(marker: str) -> list[int]:
    """Living processes that carry the marker, this one aside. A zombie has no environment any more: it holds nothing
    and is not counted."""
    import psutil  # type: ignore[import]
    return [pid for pid in psutil.pids() if pid != os.getpid() and marker in _markers(pid)]


def _markers(pid: int) -> list[str]:
    """A process that changes its program seems to have no environment for a moment, and counts all the same."""
    import psutil
    start = time.monotonic()
    try:
        process = psutil.Process(pid)
        while not (environment := process.environ()):
            is_of_kernel = process.memory_info().vms == 0 and process.ppid() in _KERNEL_PARENTS
            status = process.status()
            # The kernel copies arguments first. On a busy machine the process may lose its core in between.
            is_changing = not process.cmdline() or status in (psutil.STATUS_RUNNING, psutil.STATUS_DISK_SLEEP)
            known = (pid, process.create_time())
            patience_s = SETTLE_S if is_changing and known not in _without_environment else _EMPTY_S
            if is_of_kernel or status == psutil.STATUS_ZOMBIE or time.monotonic() - start > patience_s:
                environment = process.environ()  # the change may have ended before the status was read
                if not environment and not is_of_kernel:
                    _without_environment.add(known)
                break
            time.sleep(0.001)
    except (psutil.Error, OSError):
        return []  # ended meanwhile, or another user's
    markers: str = environment.get(MARKER, "")
    return markers.split(",")


def _oldest(pids: list[int]) -> int:
    """The process that started first, 0 when none is left."""
    import psutil
    starts = {}
    for pid in pids:
        with suppress(psutil.Error):
            starts[pid] = psutil.Process(pid).create_time()
    return min(starts, key=lambda pid: (starts[pid], pid), default=0)


def wait_for_end(pid: int, seconds: float) -> None:
    """Returns when the process has ended or the time is up. The process need not be a child. psutil would wait for a
    zombie, and take the status of a child."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        select.select([descriptor], [], [], None if seconds == math.inf else max(0.0, seconds))
    finally:
        os.close(descriptor)


def surviving_processes(marker: str, seconds: float = SETTLE_S) -> list[str]:
    """A line for each process that outlives its job by so long."""
    deadline = time.monotonic() + seconds
    while (alive := marked_processes(marker)) and time.monotonic() < deadline:
        wait_for_end(alive[0], deadline - time.monotonic())
    return [f"process {pid} ({_command(pid)})" for pid in alive]


def _command(pid: int) -> str:
    import psutil
    try:
        return " ".join(psutil.Process(pid).cmdline())[:100]
    except psutil.Error:
        return "?"


def kill_marked(marker: str) -> None:
    """Kills by process id. A process may fork during the search, so the search repeats until no process is found."""
    while survivors := marked_processes(marker):
        for pid in survivors:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        wait_for_end(survivors[0], 0.01)


@contextmanager
def reaper(marker: str, ending: Ending) -> Iterator[Callable[[int], None]]:
    """While the context lasts, the death of this process ends the launcher and all processes with the marker, if there is
    one. The yielded function takes the process id of the launcher.

    The kernel's own signal at a parent's death does not serve: the kernel sends one for each thread of the parent, and
    a launcher ends without its ranks at the second SIGTERM. So the reaper is a process of its own. The end of a pipe
    shows the reaper that the tool is gone. -S halves the reaper's start.
    """
    path = os.pathsep.join([str(Path(__file__).resolve().parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(
        [sys.executable, "-B", "-S", "-m", __name__, marker, str(int(ending.signum)), str(ending.patience_s)],
        env={**os.environ, "PYTHONPATH": path}, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True)
    assert process.stdin is not None
    pipe = process.stdin.fileno()

    def send(pid: int) -> None:
        with suppress(BrokenPipeError):  # the reaper has been killed: the job is to run all the same
            os.write(pipe, f"{pid}\n".encode())

    try:
        yield send
    finally:
        process.kill()
        process.stdin.close()
        process.wait()


def _reap(marker: str, signum: int, patience_s: float) -> None:
    """Waits for the end of the pipe, then ends the job: one signal, and time for the launcher to tidy up."""
    launcher = int(sys.stdin.readline() or 0)
    sys.stdin.read()
    site.main()
    if marker and not launcher:  # the tool died before it sent the launcher's process id
        launcher = _oldest(marked_processes(marker))
    if launcher:
        with suppress(ProcessLookupError):
            os.kill(launcher, signum)
            wait_for_end(launcher, patience_s)
    if marker:
        kill_marked(marker)


def shared_memory_objects(folder: Path = SHARED_MEMORY) -> dict[str, _Identity]:
    """The POSIX shared memory objects of this user by name: plain files. Folders there belong to other programs, which
    remove them."""
    found = {}
    for path in folder.iterdir() if folder.is_dir() else ():
        with suppress(FileNotFoundError):
            status = path.lstat()
            if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
                found[path.name] = (status.st_dev, status.st_ino)
    return found


class SharedMemoryWatch:
    """Lists the objects that came into /dev/shm after the watch was made and that no process holds. Use as a context.

    Other jobs of the machine come and go meanwhile. Their objects are open or mapped in a process; an object that a job
    has left behind is not. With the marker of a job, the watch excludes the objects of other jobs as well: while the
    job runs, the watch looks once at each object that stays, and notes which process holds the object.
    """

    def __init__(self, marker: str = "", folder: Path = SHARED_MEMORY) -> None:
        self._folder = folder
        self._marker = marker
        self._before = set(shared_memory_objects(folder).values())
        self._attributed: set[_Identity] = set()
        self._foreign: set[_Identity] = set()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._attribute, daemon=True)

    def __enter__(self) -> "SharedMemoryWatch":
        if self._marker:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._marker:
            self._thread.join()

    def abandoned(self, seconds: float = SETTLE_S) -> list[str]:
        """A line for each object that no process has held for so long."""
        deadline = time.monotonic() + seconds
        lost = self._unheld()
        while lost and time.monotonic() < deadline:
            time.sleep(0.05)
            lost &= self._unheld()
        return [str(self._folder / name) for name, identity in sorted(lost) if identity not in self._foreign]

    def _new(self) -> set[tuple[str, _Identity]]:
        return {item for item in shared_memory_objects(self._folder).items() if item[1] not in self._before}

    def _unheld(self) -> set[tuple[str, _Identity]]:
        new = self._new()
        if not new:
            return new
        held = {identity for _, identity in _held_files()}
        # One that has been removed meanwhile was held when it was listed, perhaps by a process that has ended.
        return {item for item in new if item[1] not in held} & self._new()

    def _attribute(self) -> None:
        last: set[_Identity] = set()
        while not self._over.wait(LOOK_EVERY_S):
            now = {identity for _, identity in self._new()} - self._attributed
            if now & last:
                self._look(now)
            last = now

    def _look(self, wanted: set[_Identity]) -> None:
        import psutil
        known: dict[int, list[str]] = {}
        for pid, identity in _held_files():
            if identity in wanted:
                # Once: the environment of a process that ends meanwhile is gone.
                markers = known[pid] if pid in known else known.setdefault(pid, _markers(pid))
                if markers or psutil.pid_exists(pid):
                    if self._marker not in markers:
                        self._foreign.add(identity)
                    self._attributed.add(identity)


def _held_files() -> Iterator[tuple[int, _Identity]]:
    """Files that processes hold, open or mapped. psutil returns names instead of files, and walks page tables for mapped
    files."""
    import psutil
    for pid in psutil.pids():
        with suppress(OSError):
            for entry in os.scandir(f"/proc/{pid}/fd"):
                with suppress(OSError):
                    status = entry.stat()
                    yield pid, (status.st_dev, status.st_ino)
            for major, minor, inode in _MAPPED.findall(Path(f"/proc/{pid}/maps").read_bytes()):
                yield pid, (os.makedev(int(major, 16), int(minor, 16)), int(inode))


if __name__ == "__main__":
    _reap(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
