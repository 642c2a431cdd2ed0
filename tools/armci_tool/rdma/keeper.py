"""The process that has guests which are kept (see session.py): serves one asker at a time, and ends by itself."""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Optional

from armci_tool import process
from armci_tool.errors import Stopped, ToolError
from armci_tool.rdma import commands, kept, machine
from armci_tool.rdma.channel import ERROR, EXIT, READY, RUN, Channel, Closed

IDLE_S = 600.0
# How often it looks whether it is still wanted.
_LOOK_EVERY_S = 1.0


class Keeper:
    """Has the guests, which have started."""

    def __init__(self, folder: Path, guests: machine.Guests, idle_s: float = IDLE_S) -> None:
        self._folder = folder
        self._guests = guests
        self._guest = guests.channel
        self._owner = guests.options.owner
        self._idle_s = idle_s
        self._used_at = time.monotonic()
        self._running = False

    def serve(self) -> None:
        """Until the guests have ended. Raises Stopped when nobody wants it any more."""
        with socket.socket(socket.AF_UNIX) as listening:
            place = self._folder / "listening"
            listening.bind(str(place))
            listening.listen(16)
            # Before it has its name: from then on a successor may take that away.
            status = place.stat()
            place.rename(self._folder / kept.SOCKET)  # there once it can be connected to

            def look(_number: int, _frame: Optional[FrameType]) -> None:
                if not (self._is_wanted() and kept.is_same(status, self._folder / kept.SOCKET)):
                    stop_looking()
                    signal.raise_signal(signal.SIGTERM)

            # By a timer, as an asker that takes no output would hold up whoever writes to it.
            signal.signal(signal.SIGALRM, look)
            signal.setitimer(signal.ITIMER_REAL, _LOOK_EVERY_S, _LOOK_EVERY_S)
            try:
                while self._serve_one(listening):
                    pass
            finally:
                stop_looking()

    def _is_wanted(self) -> bool:
        if self._owner != 0 and not Path(f"/proc/{self._owner}").exists():
            return False
        return self._running or time.monotonic() - self._used_at < self._idle_s

    def _serve_one(self, listening: socket.socket) -> bool:
        """The next asker, to its end; false if the guests have ended."""
        if self._guest in select.select([listening, self._guest], [], [])[0]:
            return False
        connection, _ = listening.accept()
        with connection:
            asker = Channel(connection.fileno())
            try:
                asker.send_json(READY)
                self._hand_on(asker)
            except Closed:
                return not self._running or self._end_command()
            except _GuestsEnded:
                self._tell_end(asker)
                return False
        return True

    def _tell_end(self, asker: Channel) -> None:
        try:
            asker.send(ERROR, f"{self._guests.failure('the guest ended by itself').render()}\n".encode())
        except Closed:
            pass

    def _hand_on(self, asker: Channel) -> None:
        """What one asker wants. Raises Closed when it has gone."""
        while True:
            while (frame := asker.next_frame()) is not None:
                kind, payload = frame
                self._used_at = time.monotonic()
                self._running = self._running or kind == RUN
                self._tell_guest(kind, payload)
            while self._running and (frame := self._guest.next_frame()) is not None:
                kind, payload = frame
                if kind == EXIT:
                    self._running, self._used_at = False, time.monotonic()
                asker.send(kind, payload)
            ready = select.select([asker, self._guest], [], [])[0]
            if asker in ready:
                asker.read_some()
            if self._guest in ready:
                self._hear_guest()

    def _tell_guest(self, kind: bytes, payload: bytes) -> None:
        try:
            self._guest.send(kind, payload)
        except Closed:
            raise _GuestsEnded from None

    def _hear_guest(self) -> None:
        try:
            self._guest.read_some()
        except Closed:
            raise _GuestsEnded from None

    def _end_command(self) -> bool:
        """Nobody is there any more to take its output."""
        try:
            ended = commands.end(self._guest)
        except Closed:
            return False
        self._running, self._used_at = False, time.monotonic()
        return ended


class _GuestsEnded(Exception):
    """By themselves."""


def stop_looking() -> None:
    """No timer ends what it is about to end."""
    signal.setitimer(signal.ITIMER_REAL, 0)


def main(folder: Path) -> int:
    """Runs the keeper."""
    process.install_signal_handlers(Stopped)
    options = kept.read_options(folder)
    try:
        with machine.Guests(options) as guests:
            Keeper(folder, guests).serve()
    except ToolError as error:
        print(error.render(), file=sys.stderr, flush=True)
        return 1  # whoever starts it reads this, and has the lock
    except Stopped:
        pass
    kept.remove_unused(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
