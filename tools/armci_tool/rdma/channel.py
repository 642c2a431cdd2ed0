"""The messages between the agent of a guest and its client: a kind and a value, framed by multiprocessing.connection.

    kind     from     value
    READY    agent    None: the agent takes commands. A keeper sends it as well, when the client's turn has come.
    RUN      client   a dictionary: argv, cwd, environment, fresh (files of the host may have changed)
    SIGNAL   client   the number of a signal for the command
    OUT      agent    bytes of the standard output
    ERROR    agent    bytes of the standard error
    EXIT     agent    the status of the command, as a shell tells it; after TIDY and FORGET: None
    TIDY     client   None: the agent ends what commands have left running
    FORGET   client   None: the agent drops what the guest remembers of the host's files
    END      client   None: the command that runs ends, and the guest powers off

A channel runs one command at a time, and its end ends the command. Both sides trust each other, as values are pickled: a
guest is no sandbox.
"""

from __future__ import annotations

from multiprocessing.connection import Connection
from typing import Any

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
