"""In a guest: runs a command in another guest, as a remote shell does. MPI launchers call it (tools/guest-agent)."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import Sequence

from armci_tool.errors import ToolError
from armci_tool.rdma import commands, network

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
    command = commands.Command(line, Path.cwd(), os.environ, commands.to_stream(sys.stdout),
                               commands.to_stream(sys.stderr))
    try:
        connection = socket.create_connection((guest, network.NEIGHBOUR_PORT), timeout=_CONNECT_S)
        connection.settimeout(None)
        with network.channel(connection) as channel:
            return commands.run(channel, command)
    except commands.Closed:
        error = ToolError(f"{guest} has ended the connection", next_step="see whether the guest still runs")
    except OSError as reason:
        error = ToolError(f"cannot run a command on {guest}", where=str(reason),
                          next_step="name a guest of tools/armci rdma --guests 2, and call it from the first")
    print(error.render(), file=sys.stderr)
    return _CANNOT
