"""Runs a command through a channel: that of a guest, or that of a keeper (keeper.py)."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from types import MappingProxyType
from typing import Callable, Mapping, NamedTuple, Optional, Sequence, TextIO

from armci_tool.rdma.channel import ERROR, EXIT, OUT, RUN, SIGNAL, Channel

TIMEOUT_STATUS = 124
# A command that gets SIGTERM has this time before SIGKILL.
GRACE_S = 5.0

Writer = Callable[[bytes], None]


def to_stream(stream: TextIO) -> Writer:
    """A writer that writes to the stream at once."""
    def write(data: bytes) -> None:
        stream.flush()
        stream.buffer.write(data)
        stream.buffer.flush()

    return write


class Command(NamedTuple):
    """A command, and the writers of its outputs. `fresh`: files of the host may have changed since the last command."""

    argv: Sequence[str]
    cwd: Path
    environment: Mapping[str, str]
    out: Writer
    error: Writer
    fresh: bool = False


def run(channel: Channel, command: Command, *, timeout_s: Optional[float] = None) -> int:
    """Runs the command to its end. Returns its status, as a shell tells it, or TIMEOUT_STATUS after `timeout_s`. Raises
    Closed if the guest ends. The command ends with the channel: an exception here only has to close it."""
    channel.post(RUN, {"argv": list(command.argv), "cwd": str(command.cwd), "environment": dict(command.environment),
                       "fresh": command.fresh})
    writers = {OUT: command.out, ERROR: command.error}
    status = _relay(channel, writers, timeout_s)
    if status is None:
        end(channel, writers)
        return TIMEOUT_STATUS
    return status


def end(channel: Channel, writers: Mapping[str, Writer] = MappingProxyType({})) -> bool:
    """Ends the running command, in good order first. False if it has not ended: the guest must not be used any more."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        channel.post(SIGNAL, int(number))
        if _relay(channel, writers, GRACE_S) is not None:
            return True
    return False


def _relay(channel: Channel, writers: Mapping[str, Writer], timeout_s: Optional[float]) -> Optional[int]:
    """Writes the outputs until the command ends. Returns the status, or None when the time is up."""
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    while True:
        left_s = None if deadline is None else deadline - time.monotonic()
        if (left_s is not None and left_s <= 0) or not channel.poll(left_s):
            return None
        kind, value = channel.receive()
        if kind == EXIT:
            return int(value)
        if kind in writers:
            writers[kind](value)
