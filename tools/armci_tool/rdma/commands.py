"""Runs a command through a channel: that of a guest's agent (agent.py), or that of a keeper (keeper.py).

Messages are a kind and a value, pickled and framed by multiprocessing.connection:

    kind     from     value
    READY    agent    None: the agent takes commands. A keeper sends it as well, when the client's turn has come.
    RUN      client   a dictionary: argv, cwd, environment, fresh (files of the host may have changed)
    SIGNAL   client   the number of a signal for the command
    OUT      agent    bytes of the standard output
    ERROR    agent    bytes of the standard error
    EXIT     agent    the status of the command, as a shell reports it; after TIDY and FORGET: None
    TIDY     client   None: the agent ends what commands have left running
    FORGET   client   None: the agent drops what the guest remembers of the host's files
    END      client   None: the command that runs ends, and the guest powers off

A channel runs one command at a time, and its end ends the command. Both sides trust each other, as values are pickled:
a guest is no sandbox.
"""

from __future__ import annotations

import signal
import time
from multiprocessing.connection import Connection
from pathlib import Path
from types import MappingProxyType
from typing import Any, Callable, Mapping, NamedTuple, Optional, Sequence, TextIO

TIMEOUT_STATUS = 124
# A command that gets SIGTERM has this time before SIGKILL.
GRACE_S = 5.0

Writer = Callable[[bytes], None]
READY, RUN, SIGNAL, OUT, ERROR, EXIT = "READY", "RUN", "SIGNAL", "OUT", "ERROR", "EXIT"
TIDY, FORGET, END = "TIDY", "FORGET", "END"


class Closed(Exception):
    """The other side of `channel` has gone."""

    def __init__(self, channel: "Channel") -> None:
        super().__init__("the other side has gone")
        self.channel = channel


class Channel(Connection):
    """Messages over a descriptor that is read and written. The channel owns the descriptor.

    An exception of a signal handler in the middle of receive() loses the place in the stream: only close() may follow.
    """

    def post(self, kind: str, value: Any = None) -> None:
        """Sends one message. Raises Closed."""
        try:
            self.send((kind, value))
        except OSError as error:
            raise Closed(self) from error

    def receive(self) -> tuple[str, Any]:
        """Waits for the next message. Raises Closed."""
        try:
            kind, value = self.recv()
        except (EOFError, OSError) as error:
            raise Closed(self) from error
        return kind, value


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
    """Runs the command to its end. Returns its status, as a shell reports it, or TIMEOUT_STATUS after `timeout_s`. Raises
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
