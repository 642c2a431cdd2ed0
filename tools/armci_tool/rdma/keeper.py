"""The process that has guests which are kept (see session.py): serves one client at a time.

The keeper ends, and the guests with it, when it gets a signal, when no client has come for a while, and when the
process has ended for which they were to be kept.
"""

from __future__ import annotations

import errno
import json
import signal
import socket
import sys
import time
from contextlib import suppress
from multiprocessing.connection import wait
from pathlib import Path
from typing import Type

from armci_tool import process
from armci_tool.errors import Stopped, ToolError
from armci_tool.rdma import commands, machine, session
from armci_tool.rdma.commands import ERROR, EXIT, FORGET, READY, RUN, TIDY, Channel, Closed

IDLE_S = 600.0
# How often the keeper looks whether it is still wanted.
_LOOK_EVERY_S = 1.0


class Keeper:
    """Has the guests, which have started."""

    def __init__(self, guests: machine.Guests, idle_s: float) -> None:
        self._guests = guests
        self._guest = guests.channel
        self._owner = guests.options.owner
        self._idle_s = idle_s
        self._used_at = time.monotonic()
        self._running = False

    def serve(self, listening: socket.socket) -> None:
        """Returns when the guests have ended. Raises Stopped when the keeper is not wanted any more."""
        # A timer looks, as a client that takes no output would hold up a loop that writes to it.
        signal.signal(signal.SIGALRM, self._look)
        signal.setitimer(signal.ITIMER_REAL, _LOOK_EVERY_S, _LOOK_EVERY_S)
        try:
            while self._serve_one(listening):
                pass
        finally:
            signal.signal(signal.SIGALRM, signal.SIG_IGN)  # the timer does not end what is about to end

    def _look(self, *_: object) -> None:
        has_owner = self._owner == 0 or Path(f"/proc/{self._owner}").exists()
        is_used = self._running or time.monotonic() - self._used_at < self._idle_s
        if not (has_owner and is_used):
            signal.raise_signal(signal.SIGTERM)

    def _serve_one(self, listening: socket.socket) -> bool:
        """Serves the next client to its end. False if the guests have ended, or must not be used any more."""
        if self._guest in wait([listening, self._guest]):
            return False
        connection, _ = listening.accept()
        if not session.peer(connection):
            connection.close()
            return True
        with Channel(connection.detach()) as client:
            try:
                client.post(READY)
                while True:
                    self._hand_on(client)
            except Closed as closed:
                if closed.channel is client:
                    return not self._running or self._end_command()
                failure = self._guests.failure("the guest ended by itself")
            except ToolError as error:
                failure = error
            with suppress(Closed):
                client.post(ERROR, f"{failure.render()}\n".encode())
        return False

    def _hand_on(self, client: Channel) -> None:
        """The next message of either side. Raises Closed or ToolError."""
        for source in wait([client, self._guest]):
            self._used_at = time.monotonic()
            if source is client:
                kind, value = client.receive()
                if kind == RUN:
                    if value["fresh"]:
                        self._guests.tell_all(FORGET)
                    self._running = True
                self._guest.post(kind, value)
            else:
                kind, value = self._guest.receive()
                if kind == EXIT:
                    self._guests.tell_all(TIDY)
                    self._running = False
                client.post(kind, value)

    def _end_command(self) -> bool:
        """Its client has gone. False if the guests must not be used any more."""
        with suppress(Closed, ToolError):
            if commands.end(self._guest):
                self._guests.tell_all(TIDY)
                self._running, self._used_at = False, time.monotonic()
                return True
        return False


def main(options: machine.Options, kind: Type[machine.Guests] = machine.Guests, idle_s: float = IDLE_S) -> int:
    """Runs the keeper."""
    process.install_signal_handlers(Stopped)
    with socket.socket(socket.AF_UNIX) as listening:
        try:
            listening.bind(f"\0{session.name_of(options)}")
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            return session.NAME_TAKEN
        listening.listen(16)
        try:
            with kind(options) as guests:
                Keeper(guests, idle_s).serve(listening)
        except (ToolError, Stopped) as reason:
            print(reason.render(), file=sys.stderr, flush=True)  # the tool that has started it reads this
            return 1 if isinstance(reason, ToolError) else 0
    return 0


if __name__ == "__main__":
    sys.exit(main(machine.Options(**json.loads(sys.argv[1]))))
