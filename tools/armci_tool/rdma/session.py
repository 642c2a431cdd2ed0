"""A guest that is kept for later commands: a process of its own has it, and hands on commands one at a time.

    tools/armci rdma --keep    socket                       keeper                 guest
      |--RUN, SIGNAL----------->|-------------------------->|--------------------->|
      |<--OUT, ERROR, EXIT------|<--------------------------|<---------------------|

The keeper ends, and the guest with it, when it is told to, when nobody has come for a while, when the process has ended
for which it was to be kept, and when its folder is gone.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Iterator, Optional

from armci_tool import leftovers, process
from armci_tool.console import Progress
from armci_tool.errors import Stopped, ToolError
from armci_tool.rdma import commands, kernel, machine
from armci_tool.rdma.channel import END, EXIT, SIGNAL, Channel, Closed

IDLE_S = 600.0
_SOCKET, _LOG, _OPTIONS = "socket", "log", "options"


def run(options: machine.Options, command: commands.Command, *, timeout_s: Optional[float]) -> int:
    """Runs a command on the guest that is kept with these options, which is started if there is none."""
    folder = _folder(options)
    with _connected(folder, options) as channel:
        try:
            return commands.run(channel, command, timeout_s=timeout_s)
        except Closed:
            raise ToolError("the guest ended while it ran a command", where=_last_words(folder),
                            next_step="repeat it; without --keep it has a guest of its own") from None


def stop_all() -> int:
    """Ends all guests of this user that are kept; tells how many."""
    stopped = 0
    for folder in sorted(_kept().glob("*")):
        try:
            with _connection(folder) as channel:
                channel.send(END)
                channel.receive()
        except (OSError, Closed) as error:
            stopped += isinstance(error, Closed)
        shutil.rmtree(folder, ignore_errors=True)
    return stopped


def _kept() -> Path:
    return kernel.cache() / "kept"


def _folder(options: machine.Options) -> Path:
    text = json.dumps(asdict(options), sort_keys=True)
    return _kept() / hashlib.sha256(text.encode()).hexdigest()[:16]


def _last_words(folder: Path) -> str:
    log = folder / _LOG
    return "\n".join(log.read_text(errors="replace").splitlines()[-8:]) if log.exists() else "it has said nothing"


@contextmanager
def _connection(folder: Path) -> Iterator[Channel]:
    """Raises OSError where nobody listens."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(folder / _SOCKET))
        yield Channel(connection.fileno())


@contextmanager
def _connected(folder: Path, options: machine.Options) -> Iterator[Channel]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one that starts it
        try:
            with _connection(folder):
                pass
        except OSError:
            _start(folder, options)
    with _connection(folder) as channel:
        yield channel


def remove_stale(kept: Path) -> None:
    """Folders whose keeper was killed: nobody listens there, and nobody is starting one."""
    for folder in kept.iterdir():
        try:
            with (folder / "lock").open() as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                with _connection(folder):
                    continue
        except BlockingIOError:
            continue
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)


def _start(folder: Path, options: machine.Options) -> None:
    machine.require()
    remove_stale(folder.parent)
    (folder / _SOCKET).unlink(missing_ok=True)
    (folder / _OPTIONS).write_text(json.dumps(asdict(options)))
    with (folder / _LOG).open("wb") as log:
        # It outlives the job that it is started for, and ends by itself.
        own = {name: value for name, value in os.environ.items() if name != leftovers.MARKER}
        keeper = subprocess.Popen([sys.executable, "-B", "-m", "armci_tool.rdma.session", str(folder)], env=own,
                                  stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    try:
        with Progress("starting a guest to be kept"):
            while not (folder / _SOCKET).exists():
                if keeper.poll() is not None:  # it has a deadline of its own
                    raise ToolError("cannot start a guest", where=_last_words(folder))
                time.sleep(0.05)
    except BaseException:
        keeper.terminate()
        raise


class Keeper:
    """Has the guest, in a process of its own."""

    def __init__(self, folder: Path, guest: machine.Guest) -> None:
        self._folder = folder
        self._guest = guest

    def serve(self) -> None:
        """Until nobody wants it any more."""
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(self._folder / "listening"))
            listening.listen(16)
            (self._folder / "listening").rename(self._folder / _SOCKET)  # there once it can be connected to
            since = time.monotonic()
            while time.monotonic() - since < IDLE_S and (self._folder / _SOCKET).exists() and self._is_wanted():
                if not select.select([listening], [], [], 1.0)[0]:
                    continue
                connection, _ = listening.accept()
                with connection:
                    if not self._hand_on(Channel(connection.fileno())):
                        return
                since = time.monotonic()

    def _is_wanted(self) -> bool:
        owner = self._guest.options.owner
        return owner == 0 or Path(f"/proc/{owner}").exists()

    def _hand_on(self, asker: Channel) -> bool:
        """What one asker wants; false if that is the end."""
        guest = self._guest.channel
        running = False
        while True:
            try:
                while running and (frame := guest.next_frame()) is not None:
                    kind, payload = frame
                    running = kind != EXIT
                    asker.send(kind, payload)
                if running and guest in select.select([asker, guest], [], [])[0]:
                    guest.read_some()
                    continue
                kind, payload = asker.receive()
                if kind == END:
                    self._guest.stop()  # before the asker learns that it is over
                    return False
                running = running or kind != SIGNAL
                guest.send(kind, payload)
            except Closed:
                return not running or self._end_command()

    def _end_command(self) -> bool:
        """Nobody is there any more to take its output."""
        try:
            return commands.end(self._guest.channel)
        except Closed:
            return False


def main(folder: Path) -> None:
    """Runs the keeper."""
    process.install_signal_handlers(Stopped)
    options = machine.Options(**json.loads((folder / _OPTIONS).read_text()))
    try:
        with machine.Guest(options) as guest:
            Keeper(folder, guest).serve()
    except ToolError as error:
        print(error.render(), file=sys.stderr)
        sys.exit(1)
    except Stopped:
        pass
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
