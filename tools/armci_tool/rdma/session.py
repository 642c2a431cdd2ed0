"""Guests that are kept for later commands: a process of its own has them (keeper.py), and hands on commands one at a time.

    tools/armci rdma --keep    socket                       keeper                 guest
      |--connects-------------->|                           |                      |
      |<--READY-----------------|<--its turn has come-------|                      |
      |--RUN, SIGNAL----------->|-------------------------->|--------------------->|
      |<--OUT, ERROR, EXIT------|<--------------------------|<---------------------|

The keeper ends, and the guests with it, when it is told to by a signal, when nobody has come for a while, when the process
has ended for which they were to be kept, and when its folder is gone.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Optional

from armci_tool import leftovers
from armci_tool.console import Progress
from armci_tool.errors import ToolError
from armci_tool.rdma import commands, kept, machine
from armci_tool.rdma.channel import Channel, Closed

# For a keeper that is told to end: its guests have END_S of it.
_END_S = 2 * machine.END_S


def run(options: machine.Options, command: commands.Command, *, timeout_s: Optional[float]) -> int:
    """Runs a command on the guests that are kept with these options, which are started if there are none."""
    folder = kept.folder_of(options)
    connection = _turn(kept.connect(folder)) or _turn(_started(folder, options))
    if connection is None:
        raise ToolError("the guest ended as soon as it had started", where=_last_words(folder), next_step="repeat it")
    with connection:
        try:
            return commands.run(Channel(connection.fileno()), command, timeout_s=timeout_s)
        except Closed:
            raise ToolError("the guest ended while it ran a command",
                            where="it failed, or was ended by tools/armci rdma --stop, or with the process of --keep-for",
                            next_step="repeat it; without --keep it has a guest of its own") from None


def stop_all() -> int:
    """Ends all guests of this user that are kept, and the commands that they run; tells how many guests."""
    stopped = 0
    for folder in sorted(kept.root().iterdir()):
        with kept.locked(folder):  # by then one that was being started is there
            keeper = kept.keeper_of(folder)
            guests = kept.read_options(folder).guests if keeper else 0
        if keeper:
            _end(keeper)
            stopped += guests
        kept.remove_unused(folder)
    return stopped


def _end(keeper: int) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(keeper, number)
        except ProcessLookupError:
            return
        leftovers.wait_for_end(keeper, _END_S)


def _turn(connection: Optional[socket.socket]) -> Optional[socket.socket]:
    """The connection once its turn has come; None, and it is closed, if its keeper ends without serving it."""
    if connection is None:
        return None
    try:
        Channel(connection.fileno()).receive()
    except Closed:
        connection.close()
        return None
    except BaseException:
        connection.close()
        raise
    return connection


def _started(folder: Path, options: machine.Options) -> Optional[socket.socket]:
    """A connection to a keeper, which is started unless somebody else has done so."""
    with kept.locked(folder):
        connection = kept.connect(folder)
        if connection is None:
            try:
                _start(folder, options)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            connection = kept.connect(folder)
    return connection


def _last_words(folder: Path) -> str:
    try:
        lines = (folder / kept.LOG).read_text(errors="replace").splitlines()
    except FileNotFoundError:
        lines = []
    return "\n".join(lines[-8:]) or "it has said nothing"


def _start(folder: Path, options: machine.Options) -> None:
    machine.require(options.guests)
    kept.remove_stale()
    (folder / kept.SOCKET).unlink(missing_ok=True)
    kept.write_options(folder, options)
    with (folder / kept.LOG).open("wb") as log:
        # It outlives the job that it is started for, and ends by itself.
        own = {name: value for name, value in os.environ.items() if name != leftovers.MARKER}
        keeper = subprocess.Popen([sys.executable, "-B", "-m", "armci_tool.rdma.keeper", str(folder)], env=own,
                                  stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    try:
        with Progress(machine.starting(options.guests) + " to be kept"):
            while not (folder / kept.SOCKET).exists():
                if keeper.poll() is not None:  # it has a deadline of its own
                    raise ToolError("cannot start a guest", where=_last_words(folder))
                time.sleep(0.05)
    except BaseException:
        keeper.terminate()
        raise
