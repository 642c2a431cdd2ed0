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

PREFIX = ".armci-scratch-"
# A folder that is younger may not be locked yet.
_YOUNG_S = 60


@contextmanager
def make(base: Optional[Path] = None) -> Iterator[Path]:
    """A new folder in `base`, or where temporary files are. Its lock, which goes with this process, says that it is in use;
    process ids would not do where containers share the place."""
    base = base or Path(tempfile.gettempdir())
    _remove_abandoned(base)
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=base, ignore_cleanup_errors=True) as made:
        lock = os.open(made, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield Path(made)
        finally:
            os.close(lock)


def _remove_abandoned(base: Path) -> None:
    for path in base.glob(f"{PREFIX}*"):
        with suppress(OSError):  # in use, another user's, or removed meanwhile
            if time.time() - path.stat().st_mtime < _YOUNG_S:
                continue
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)
