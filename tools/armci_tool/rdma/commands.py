"""Runs a command through a channel: a guest's, or that of whoever keeps one."""

from __future__ import annotations

import json
import select
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Callable, Mapping, Optional, Sequence, TextIO

from armci_tool.errors import Stopped
from armci_tool.rdma.channel import ERROR, EXIT, OUT, RUN, SIGNAL, Channel

TIMEOUT_STATUS = 124
# A command that is told to end has so long before it is killed.
GRACE_S = 5.0

Writer = Callable[[bytes], None]


def to_stream(stream: TextIO) -> Writer:
    """Writes at once what arrives."""
    def write(data: bytes) -> None:
        stream.flush()
        stream.buffer.write(data)
        stream.buffer.flush()

    return write


@dataclass(frozen=True)
class Command:
    """What to run, where, and who gets its output. `fresh`: files of the host may have changed since the last one."""

    argv: Sequence[str]
    cwd: Path
    environment: Mapping[str, str]
    out: Writer
    error: Writer
    fresh: bool = False


def run(channel: Channel, command: Command, *, timeout_s: Optional[float] = None) -> int:
    """To its end; what it has left behind is ended as well. Returns its status, as a shell tells it, or TIMEOUT_STATUS if
    it had to be ended. A signal that ends us ends it. Raises Closed if the guest ends."""
    channel.send_json(RUN, argv=list(command.argv), cwd=str(command.cwd), environment=dict(command.environment),
                      fresh=command.fresh)
    writers = {OUT: command.out, ERROR: command.error}
    try:
        status = _relay(channel, writers, timeout_s)
        if status is not None:
            return status
        end(channel, writers)
        return TIMEOUT_STATUS
    except Stopped:
        end(channel)
        raise


def _relay(channel: Channel, writers: Mapping[bytes, Writer], timeout_s: Optional[float]) -> Optional[int]:
    """The status, or None when the time is up."""
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    while True:
        # Before the wait: what has been read whole does not make the channel readable.
        while (frame := channel.next_frame()) is not None:
            kind, payload = frame
            if kind == EXIT:
                return int(json.loads(payload)["status"])
            if kind in writers:
                writers[kind](payload)
        wait_s = None if deadline is None else deadline - time.monotonic()
        if wait_s is not None and wait_s <= 0:
            return None
        if select.select([channel], [], [], wait_s)[0]:
            channel.read_some()


def end(channel: Channel, writers: Mapping[bytes, Writer] = MappingProxyType({})) -> bool:
    """Ends the command that runs: in good order first. False if it has not ended: the guest must not be used any more."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        channel.send_json(SIGNAL, number=int(number))
        if _relay(channel, writers, GRACE_S) is not None:
            return True
    return False
