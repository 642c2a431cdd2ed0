"""Folders for a while. The next run removes those that a killed one left."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Iterator, Optional

from armci_tool.errors import ToolError

# A folder that is younger may not be locked yet.
_YOUNG_S = 60


def prefix() -> str:
    """Of names. It has the machine in it: a lock is seen on one only, and a network file system may be another one's too."""
    return f".armci-scratch-{Path('/proc/sys/kernel/random/boot_id').read_text()[:8]}-"


@contextmanager
def make(base: Optional[Path] = None) -> Iterator[Path]:
    """A new folder in `base`, or where temporary files are. Its lock, which goes with this process, says that it is in
    use: process ids would not do, as containers may share the place."""
    base = base or _temporary_folder()
    _remove_abandoned(base)
    with tempfile.TemporaryDirectory(prefix=prefix(), dir=base, ignore_cleanup_errors=True) as made:
        lock = os.open(made, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with suppress(OSError):  # where there are no locks nothing is removed either
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield Path(made)
        finally:
            os.close(lock)


def _temporary_folder() -> Path:
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError as error:
        raise ToolError("no folder takes temporary files", where=error.strerror,
                        next_step="make room in one of them, or set TMPDIR to a folder that can be written to") from error


def require_room(folder: Path, size_bytes: int, variable: str) -> None:
    """Raises ToolError unless a file of this size can be made in the folder that the variable names; creates the folder."""
    try:
        if not folder.exists():
            folder.mkdir(parents=True)
        with tempfile.TemporaryFile(dir=folder, prefix=prefix()) as file:
            os.posix_fallocate(file.fileno(), 0, size_bytes)
    except OSError as error:
        raise ToolError(f"{variable}={folder} takes no temporary files of {size_bytes >> 20} MiB: {error.strerror}",
                        where="the launcher keeps its session files in that folder",
                        next_step=f"make room there, or set {variable} to another folder that can be written to") from error


def _remove_abandoned(base: Path) -> None:
    for path in base.glob(f"{prefix()}*"):
        with suppress(OSError):  # in use, another user's, or removed meanwhile
            if time.time() - path.stat().st_mtime < _YOUNG_S:
                continue
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)
