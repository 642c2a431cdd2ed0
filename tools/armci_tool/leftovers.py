"""Finds what a job leaves behind: processes, by a marker in their environment, and shared memory that nobody holds.

The marker is found whatever process group, session or namespace a process is in. Jobs may start jobs that are watched
in the same way: the variable holds the markers of all that a process belongs to.
"""

from __future__ import annotations

import os
import select
import stat
import threading
import time
import uuid
from pathlib import Path
from typing import Iterator, Mapping

MARKER = "TOOL_JOB_MARKER"
# A job's last processes may still be on their way out when its launcher has ended.
SETTLE_S = 2.0
# How often shared memory is looked at while a job runs.
LOOK_EVERY_S = 0.5
SHARED_MEMORY = Path("/dev/shm")

# Device and inode: a name may be another file's in another mount namespace.
_Identity = tuple[int, int]


def mark(environment: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """The environment with a new marker added, and the marker."""
    marker = uuid.uuid4().hex
    outer = environment.get(MARKER, "")
    return {**environment, MARKER: f"{outer},{marker}" if outer else marker}, marker


def marked_processes(marker: str) -> list[int]:
    """Living processes that carry the marker, this one aside. A zombie has no environment any more: it holds nothing
    and is not counted."""
    return [pid for pid in _processes() if pid != os.getpid() and marker in _markers(pid)]


def _processes() -> Iterator[int]:
    return (int(entry) for entry in os.listdir("/proc") if entry.isdigit())


def _markers(pid: int) -> list[str]:
    beginning = f"{MARKER}=".encode()
    try:
        environment = _environment(pid)
    except OSError:
        return []  # ended meanwhile, or another user's
    values = [variable for variable in environment.split(b"\0") if variable.startswith(beginning)]
    return values[0][len(beginning):].decode("utf-8", "replace").split(",") if values else []


def _environment(pid: int) -> bytes:
    """As bytes. A process that changes its program meanwhile seems to have none, and must not be missed for that."""
    path = Path(f"/proc/{pid}/environ")
    start = time.monotonic()
    while not (data := path.read_bytes()) and (patience := _PATIENCE_S[_environment_state(pid)]):
        if time.monotonic() - start > patience:
            break
        time.sleep(0.001)
    return data


# For how long an environment that is read as empty is not believed. The kernel fills in a new one within that time.
_PATIENCE_S = {"none": 0.0, "empty": 0.02, "being made": SETTLE_S}


def _environment_state(pid: int) -> str:
    # As in proc(5), counted from the state, which is field 3; the name before it may hold anything.
    state, flags, env_start, env_end = 0, 9 - 3, 50 - 3, 51 - 3
    fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    is_kernel_thread = int(fields[flags]) & 0x00200000 != 0
    if is_kernel_thread or fields[state] in "ZX":
        return "none"
    return "empty" if fields[env_start] == fields[env_end] != "0" else "being made"


def wait_for_end(pid: int, seconds: float) -> None:
    """Returns when the process has ended (it need not be a child) or the time is up."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        select.select([descriptor], [], [], max(0.0, seconds))
    finally:
        os.close(descriptor)


def surviving_processes(marker: str, seconds: float = SETTLE_S) -> list[str]:
    """A line for each process that outlives its job by so long."""
    deadline = time.monotonic() + seconds
    while (alive := marked_processes(marker)) and time.monotonic() < deadline:
        wait_for_end(alive[0], deadline - time.monotonic())
    return [f"process {pid} ({_command(pid)})" for pid in alive]


def _command(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return "?"
    return b" ".join(words).decode("utf-8", "replace").strip()[:100]


def shared_memory_objects(folder: Path = SHARED_MEMORY) -> dict[str, _Identity]:
    """The POSIX shared memory objects of this user by name. They are plain files: folders belong to somebody who cares
    for them."""
    found = {}
    for path in folder.iterdir() if folder.is_dir() else ():
        try:
            status = path.lstat()
        except FileNotFoundError:
            continue
        if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
            found[path.name] = (status.st_dev, status.st_ino)
    return found


class SharedMemoryWatch:
    """Tells what has come into /dev/shm since it was made and has been abandoned there. Use as a context.

    Other jobs of the machine come and go meanwhile. What they use is open or mapped in a process; what a job has left
    behind is not, and stays so. With the marker of a job, what others leave behind is told apart as well: whatever stays
    for more than a moment is looked at once, while the job runs, to see who holds it.
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
        """A line for each object that nobody has held for so long."""
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
        ours: dict[int, bool] = {}
        for pid, identity in _held_files():
            if identity in wanted:
                own = ours.setdefault(pid, self._marker in _markers(pid))
                self._attributed.add(identity)
                if not own:
                    self._foreign.add(identity)


def _held_files() -> Iterator[tuple[int, _Identity]]:
    """Who has what open or mapped, of the processes that this user may look into."""
    for pid in _processes():
        for identity in {*_open_files(pid), *_mapped_files(pid)}:
            yield pid, identity


def _open_files(pid: int) -> Iterator[_Identity]:
    try:
        entries = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return
    for entry in entries:
        try:
            status = os.stat(f"/proc/{pid}/fd/{entry}")
        except OSError:
            continue
        yield status.st_dev, status.st_ino


def _mapped_files(pid: int) -> Iterator[_Identity]:
    try:
        lines = Path(f"/proc/{pid}/maps").read_bytes().splitlines()
    except OSError:
        return
    for line in lines:
        fields = line.split(maxsplit=5)
        if len(fields) > 5 and fields[4] != b"0":
            major, _, minor = fields[3].partition(b":")
            yield os.makedev(int(major, 16), int(minor, 16)), int(fields[4])
