"""In a guest: runs a command in another guest, as a remote shell does. What MPI launchers call (tools/guest-agent)."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import Sequence

from armci_tool import process
from armci_tool.errors import Stopped, ToolError
from armci_tool.rdma import commands, neighbours
from armci_tool.rdma.channel import Closed

# Of a remote shell that cannot do it.
_CANNOT = 255


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
    process.install_signal_handlers(Stopped)
    try:
        return _run(guest, line)
    except ToolError as error:
        print(error.render(), file=sys.stderr)
        return error.status
    except Stopped as stopped:
        return stopped.status


def _run(guest: str, line: Sequence[str]) -> int:
    command = commands.Command(line, Path.cwd(), os.environ, commands.to_stream(sys.stdout),
                               commands.to_stream(sys.stderr))
    try:
        with neighbours.connection(guest) as channel:
            return commands.run(channel, command)
    except OSError as error:
        raise ToolError(f"cannot run a command on {guest}", where=str(error), status=_CANNOT,
                        next_step="name a guest of tools/armci rdma --guests 2, and call it from the first") from error
    except Closed as closed:
        raise ToolError(f"{guest} has ended the connection", status=_CANNOT,
                        next_step="see whether the guest still runs") from closed
