"""In a guest: runs a command in another guest, as a remote shell does. MPI launchers call it (tools/guest-agent)."""

from __future__ import annotations

import os
import signal
import socket
import sys
from pathlib import Path
from typing import Sequence

from armci_tool.errors import ToolError
from armci_tool.rdma import commands, network
from armci_tool.rdma.channel import Closed

# The status of a remote shell that cannot do it.
_CANNOT = 255
_CONNECT_S = 60.0


def main(arguments: Sequence[str]) -> int:
    """`[OPTIONS] GUEST COMMAND...`, options ignored; the status is that of the command."""
    words = list(arguments)
    while words and words[0].startswith("-"):
        del words[0]
    if len(words) < 2:
        print("usage: guest-agent GUEST COMMAND...", file=sys.stderr)
        return 2
    guest, line = words[0], ["sh", "-c", " ".join(words[1:])]
    if guest == socket.gethostname():
        os.execvp(line[0], line)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda signum, _: os._exit(128 + signum))  # the command ends with our connection
    try:
        return _run(guest, line)
    except ToolError as error:
        print(error.render(), file=sys.stderr)
        return error.status


def _run(guest: str, line: Sequence[str]) -> int:
    command = commands.Command(line, Path.cwd(), os.environ, commands.to_stream(sys.stdout),
                               commands.to_stream(sys.stderr))
    try:
        connection = socket.create_connection((guest, network.NEIGHBOUR_PORT), timeout=_CONNECT_S)
    except OSError as error:
        raise ToolError(f"cannot run a command on {guest}", where=str(error), status=_CANNOT,
                        next_step="name a guest of tools/armci rdma --guests 2, and call it from the first") from error
    connection.settimeout(None)
    with network.channel(connection) as channel:
        try:
            return commands.run(channel, command)
        except Closed as closed:
            raise ToolError(f"{guest} has ended the connection", status=_CANNOT,
                            next_step="see whether the guest still runs") from closed
