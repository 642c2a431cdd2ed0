"""Guests that are kept for later commands: a keeper, which is a process of its own, has them (keeper.py).

    tools/armci rdma --keep    socket                       keeper                 guest
      |--connects-------------->|                           |                      |
      |<--READY-----------------|<--its turn has come-------|                      |
      |--RUN, SIGNAL----------->|-------------------------->|--------------------->|
      |<--OUT, ERROR, EXIT------|<--------------------------|<---------------------|

Guests with the same options have a folder, with the socket, log and options of their keeper, and a lock, which the keeper
has as long as it lives. A keeper removes its folder when it ends, unless it has failed. A tool that finds no keeper starts
one. If several tools do so at once, only one keeper gets the lock, and the others end at once. A tool whose keeper ends
before the tool's turn starts another.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Optional

from armci_tool import leftovers
from armci_tool.console import Progress
from armci_tool.errors import ToolError
from armci_tool.rdma import commands, kernel, machine
from armci_tool.rdma.channel import Channel, Closed

SOCKET, LOCK = "socket", "lock"
_LOG, _OPTIONS = "log", "options"
# struct flock of fcntl(2): type, whence, start, length, process.
_FLOCK = struct.Struct("hhqqi4x")
# A keeper that gets SIGTERM: its guests have END_S of this time.
_END_S = 2 * machine.END_S
# A keeper that says nothing when it ends has been killed, or another has its lock. Then the tool tries again.
_STARTS_MAX = 5


def run(options: machine.Options, command: commands.Command, *, timeout_s: Optional[float]) -> int:
    """Runs a command on the guests that are kept with these options, which are started if there are none."""
    with _turn(folder_of(options), options) as channel:
        try:
            return commands.run(channel, command, timeout_s=timeout_s)
        except Closed:
            raise ToolError("the guest ended while it ran a command",
                            where="it failed, or was ended by tools/armci rdma --stop, or with the process of --keep-for",
                            next_step="repeat it; without --keep it has a guest of its own") from None


def stop_all() -> int:
    """Ends all guests of this user that are kept, and the commands that they run; tells how many guests."""
    stopped = 0
    for folder in sorted(root().iterdir()):
        if keeper := keeper_of(folder):
            stopped += read_options(folder).guests
            for number in (signal.SIGTERM, signal.SIGKILL):
                with suppress(ProcessLookupError):
                    os.kill(keeper, number)
                    leftovers.wait_for_end(keeper, _END_S)
        remove_unused(folder)
    return stopped


def _turn(folder: Path, options: machine.Options) -> Channel:
    """A channel to the keeper, once the client's turn has come. Starts a keeper if there is none."""
    started: list["subprocess.Popen[bytes]"] = []
    try:
        while True:
            if channel := connect(folder):
                with suppress(Closed), ExitStack() as shown:
                    if started:
                        shown.enter_context(Progress(machine.starting(options.guests) + " to be kept"))
                    channel.receive()
                    return channel
            elif keeper_of(folder) or (started and started[-1].poll() is None):
                time.sleep(0.05)  # a keeper starts or ends
            elif len(started) == _STARTS_MAX or (started and _last_words(folder)):
                where = _last_words(folder) or "it has said nothing"
                remove_unused(folder)
                raise ToolError("cannot start a guest", where=where)
            else:
                started.append(_start(folder, options))
    except BaseException:
        for each in started:
            each.terminate()
        raise


def _last_words(folder: Path) -> str:
    with suppress(FileNotFoundError):
        return "\n".join((folder / _LOG).read_text(errors="replace").splitlines()[-8:])
    return ""


def _start(folder: Path, options: machine.Options) -> "subprocess.Popen[bytes]":
    machine.require(options.guests)
    remove_stale()
    folder.mkdir(mode=0o700, exist_ok=True)
    write_options(folder, options)
    with (folder / _LOG).open("wb") as log:
        # It outlives the job that it is started for, and ends by itself.
        own = {name: value for name, value in os.environ.items() if name != leftovers.MARKER}
        return subprocess.Popen([sys.executable, "-B", "-m", "armci_tool.rdma.keeper", str(folder)], env=own,
                                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)


def root() -> Path:
    """The folder of the folders of all keepers."""
    return kernel.private_folder("kept")


def folder_of(options: machine.Options) -> Path:
    """The folder of guests with these options."""
    text = json.dumps(asdict(options), sort_keys=True)
    return root() / hashlib.sha256(text.encode()).hexdigest()[:16]


def write_options(folder: Path, options: machine.Options) -> None:
    """Writes them for the keeper."""
    (folder / _OPTIONS).write_text(json.dumps(asdict(options)))


def read_options(folder: Path) -> machine.Options:
    """What write_options wrote."""
    return machine.Options(**json.loads((folder / _OPTIONS).read_text()))


def connect(folder: Path) -> Optional[Channel]:
    """A channel to the keeper; None if none listens."""
    with socket.socket(socket.AF_UNIX) as connection:
        if connection.connect_ex(str(folder / SOCKET)) != 0:
            return None
        return Channel(connection.detach())


def keeper_of(folder: Path) -> int:
    """The process that has the lock; 0: none."""
    with suppress(FileNotFoundError), (folder / LOCK).open("r+") as lock:
        wanted = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, *_, holder = _FLOCK.unpack(fcntl.fcntl(lock, fcntl.F_GETLK, wanted))
        return 0 if kind == fcntl.F_UNLCK else int(holder)
    return 0


def remove_unused(folder: Path) -> None:
    """Removes a folder that no keeper has."""
    with suppress(FileNotFoundError, BlockingIOError), (folder / LOCK).open("a") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)


def remove_stale() -> None:
    """Removes the folders of keepers that were killed, but none where a keeper is about to take the lock."""
    for folder in root().iterdir():
        if (folder / LOCK).exists():
            remove_unused(folder)
