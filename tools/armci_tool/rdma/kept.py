"""Where guests that are kept have their files: a folder for each kind of them, with the lock of whoever starts or removes
them, the socket of their keeper, its log, and the options that they have.

Several tools may come at once, and one keeper may be about to end while another is wanted. So what there is in a folder
is only changed under its lock, and a folder is removed only if nobody listens there. The lock goes with the folder:
whoever gets one that has been removed meanwhile tries again.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import socket
import struct
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Iterator, Optional

from armci_tool.rdma import kernel, machine

SOCKET, LOG = "socket", "log"
_OPTIONS, _LOCK = "options", "lock"


def root() -> Path:
    """The folder of all these folders."""
    return kernel.private_folder("kept")


def folder_of(options: machine.Options) -> Path:
    """Of guests that are as wanted."""
    text = json.dumps(asdict(options), sort_keys=True)
    return root() / hashlib.sha256(text.encode()).hexdigest()[:16]


def write_options(folder: Path, options: machine.Options) -> None:
    """For the keeper."""
    (folder / _OPTIONS).write_text(json.dumps(asdict(options)))


def read_options(folder: Path) -> machine.Options:
    """What write_options wrote."""
    return machine.Options(**json.loads((folder / _OPTIONS).read_text()))


@contextmanager
def locked(folder: Path, *, wait: bool = True) -> Iterator[None]:
    """The folder, which is made if there is none, is changed by nobody else meanwhile. Raises BlockingIOError if it is and
    we are not to wait."""
    while True:
        folder.mkdir(mode=0o700, exist_ok=True)
        try:
            lock = (folder / _LOCK).open("a")
        except FileNotFoundError:
            continue  # removed meanwhile
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            if is_same(os.fstat(lock.fileno()), folder / _LOCK):
                yield
                return


def is_same(status: os.stat_result, path: Path) -> bool:
    """Whether the file of that status still has this path."""
    try:
        return os.path.samestat(status, path.stat())
    except FileNotFoundError:
        return False


def connect(folder: Path) -> Optional[socket.socket]:
    """To the keeper; None if nobody listens."""
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(str(folder / SOCKET))
    except OSError:
        connection.close()
        return None
    return connection


def keeper_of(folder: Path) -> int:
    """The process that listens there; 0: none."""
    connection = connect(folder)
    if connection is None:
        return 0
    with connection:
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", credentials)[0])


def remove_unused(folder: Path, *, wait: bool = True) -> None:
    """Removes a folder where nobody listens. Without `wait`, not if somebody is starting what will listen there."""
    try:
        with locked(folder, wait=wait):
            if not keeper_of(folder):
                shutil.rmtree(folder, ignore_errors=True)
    except BlockingIOError:
        pass


def remove_stale() -> None:
    """The folders of keepers that were killed."""
    for folder in root().iterdir():
        remove_unused(folder, wait=False)
