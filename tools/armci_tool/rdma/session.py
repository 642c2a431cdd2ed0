"""Guests that are kept for later commands: a keeper, which is a process of its own, has them (keeper.py).

    tools/armci rdma --keep    socket                       keeper                 guest
      |--connects-------------->|                           |                      |
      |<--READY-----------------|<--its turn has come-------|                      |
      |--RUN, SIGNAL----------->|-------------------------->|--------------------->|
      |<--OUT, ERROR, EXIT------|<--------------------------|<---------------------|

The name of the socket says which guests a keeper has. It is an abstract name, so a keeper has no file: the kernel gives
the name to one keeper, and takes it back however the keeper ends. A tool that finds no keeper starts one. If several
tools do so at once, the keepers without the name end at once. A tool whose keeper ends before the tool's turn starts
another. Every user may connect to such a name, so both sides look whose process the other is.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Optional

from armci_tool import leak_check
from armci_tool.console import Progress
from armci_tool.errors import ToolError
from armci_tool.rdma import commands, kernel, machine
from armci_tool.rdma.commands import Channel, Closed

# A keeper that gets SIGTERM: its guests have END_S of this time.
_END_S = 2 * machine.END_S
_LAST_LINES = 8
# The status of a keeper that ends at once, as another has the name.
NAME_TAKEN = 75


def run(options: machine.Options, command: commands.Command, *, timeout_s: Optional[float]) -> int:
    """Runs a command on the guests that are kept with these options, which are started if there are none."""
    with tempfile.TemporaryFile() as log, _turn(options, log) as channel:
        try:
            return commands.run(channel, command, timeout_s=timeout_s)
        except Closed:
            raise ToolError("the guest ended while it ran a command",
                            where="it failed, or ended with tools/armci rdma --stop, or with the process of --keep-for",
                            next_step="repeat it; without --keep it has a guest of its own") from None


def stop_all() -> int:
    """Ends all guests of this user that are kept, and the commands that they run; returns the number of guests."""
    stopped = 0
    for name in names():
        if keeper := keeper_of(name):
            for number in (signal.SIGTERM, signal.SIGKILL):
                with suppress(ProcessLookupError):
                    os.kill(keeper, number)
                    leak_check.wait_for_end(keeper, _END_S)
            stopped += int(name.split("-")[-2])
    return stopped


def _turn(options: machine.Options, log: IO[bytes]) -> Channel:
    """A channel to the keeper, once the client's turn has come. Starts a keeper if there is none."""
    started: Optional["subprocess.Popen[bytes]"] = None
    try:
        while True:
            if channel := connect(name_of(options)):
                with suppress(Closed), ExitStack() as shown:
                    if started:
                        shown.enter_context(Progress(machine.starting(options.guests) + " to be kept"))
                    channel.receive()
                    return channel
            elif started is None or started.poll() == NAME_TAKEN:
                started = _start(options, log)
            elif started.returncode is not None:
                log.seek(0)
                last_words = log.read().decode(errors="replace").splitlines()[-_LAST_LINES:]
                raise ToolError("cannot start a guest", where="\n".join(last_words) or "the keeper has printed nothing",
                                next_step="run tools/armci setup --rdma, or give less --memory")
            time.sleep(0.05)
    except BaseException:
        if started:
            started.terminate()
        raise


def _start(options: machine.Options, log: IO[bytes]) -> "subprocess.Popen[bytes]":
    machine.require(options.guests)
    # The keeper outlives the job that it is started for, and ends by itself.
    own = {name: value for name, value in os.environ.items() if name != leak_check.MARKER}
    line = [sys.executable, "-B", "-m", "armci_tool.rdma.keeper", json.dumps(asdict(options))]
    return subprocess.Popen(line, env=own, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)


def _beginning() -> str:
    cache = hashlib.sha256(str(kernel.cache()).encode()).hexdigest()[:8]
    return f"armci-rdma-{os.geteuid()}-{cache}-"


def name_of(options: machine.Options) -> str:
    """The name of the keeper of guests with these options."""
    text = json.dumps(asdict(options), sort_keys=True)
    return f"{_beginning()}{options.guests}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def names() -> list[str]:
    """The names of all keepers that use this user's cache."""
    words = Path("/proc/net/unix").read_text().split()
    return sorted({word[1:] for word in words if word.startswith(f"@{_beginning()}")})


def peer(connection: socket.socket) -> int:
    """The process at the other end, which is one of this user; 0: of another."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    process, user, _ = struct.unpack("3i", credentials)
    return int(process) if user == os.geteuid() else 0


def connect(name: str) -> Optional[Channel]:
    """A channel to the keeper; None if there is none."""
    with socket.socket(socket.AF_UNIX) as connection:
        if connection.connect_ex(f"\0{name}") != 0:
            return None
        if not peer(connection):
            raise ToolError("a process of another user has the name of a keeper", where=name,
                            next_step="have that user run tools/armci rdma --stop")
        return Channel(connection.detach())


def keeper_of(name: str) -> int:
    """The process of the keeper; 0: there is none."""
    with socket.socket(socket.AF_UNIX) as connection:
        return peer(connection) if connection.connect_ex(f"\0{name}") == 0 else 0
