"""Who has guests that are kept (keeper.py, kept.py, session.py), with a test in place of the guests."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Iterator

import pytest
from armci_tool.rdma import commands, kept, machine, session
from armci_tool.rdma.channel import ERROR, EXIT, READY, RUN, Channel, Closed

# A keeper of guests that are the process at the other end of a pair of sockets.
KEEPER = """
import sys, signal
from pathlib import Path
from armci_tool import process
from armci_tool.errors import Stopped
from armci_tool.rdma import keeper, kept, machine
from armci_tool.rdma.channel import Channel

class Fake(machine.Guests):
    channel = Channel(int(sys.argv[2]))

process.install_signal_handlers(Stopped)
folder = Path(sys.argv[1])
try:
    keeper.Keeper(folder, Fake(kept.read_options(folder)), float(sys.argv[3])).serve()
except Stopped:
    print("stopped")
kept.remove_unused(folder)
"""


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder for all that is kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture(name="keeping")
def fixture_keeping(cache: Path) -> Iterator["Keeping"]:
    """A keeper whose guest is this test."""
    made = Keeping()
    yield made
    made.process.kill()
    made.process.wait()
    made.guest_socket.close()


class Keeping:
    """Starts keepers of guests that are this test."""

    process: "subprocess.Popen[bytes]"

    def start(self, options: machine.Options = machine.Options(), idle_s: float = 100.0) -> Path:
        """Returns the folder, which can be connected to."""
        folder = kept.folder_of(options)
        with kept.locked(folder):
            self.start_in(folder, options, idle_s)
        return folder

    def start_in(self, folder: Path, options: machine.Options, idle_s: float = 100.0) -> None:
        """The same, for whoever has the lock."""
        self.guest_socket, theirs = socket.socketpair()
        self.guest = Channel(self.guest_socket.fileno())
        (folder / kept.SOCKET).unlink(missing_ok=True)
        kept.write_options(folder, options)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-B", "-c", KEEPER, str(folder), str(theirs.fileno()), str(idle_s)],
                pass_fds=[theirs.fileno()], env={**os.environ, "PYTHONPATH": str(Path(kept.__file__).parents[2])})
        deadline = time.monotonic() + 20
        while not (folder / kept.SOCKET).exists() and time.monotonic() < deadline:
            time.sleep(0.01)


def connected(folder: Path) -> tuple[socket.socket, Channel]:
    """An asker whose turn it is."""
    connection = kept.connect(folder)
    assert connection is not None
    channel = Channel(connection.fileno())
    assert channel.receive()[0] == READY
    return connection, channel


def test_a_keeper_hands_on_and_its_folder_is_private(keeping: Keeping) -> None:
    folder = keeping.start()
    connection, asker = connected(folder)
    with connection:
        asker.send(RUN, b"what")
        assert keeping.guest.receive() == (RUN, b"what")
        keeping.guest.send(EXIT, b"how")
        assert asker.receive() == (EXIT, b"how")
    for place in (folder, folder.parent):
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert kept.keeper_of(folder) == keeping.process.pid


def test_stopping_does_not_wait_for_the_command(keeping: Keeping) -> None:
    connection, asker = connected(keeping.start(machine.Options(guests=2)))
    with connection:
        asker.send(RUN)
        assert keeping.guest.receive()[0] == RUN
        ended = threading.Thread(target=keeping.process.wait)
        ended.start()
        assert session.stop_all() == 2
        with pytest.raises(Closed):
            asker.receive()
        ended.join()
    assert not list(kept.root().iterdir())


def test_a_keeper_ends_while_an_asker_says_nothing(keeping: Keeping) -> None:
    folder = keeping.start(idle_s=1.0)
    connection, _ = connected(folder)
    with connection:
        assert keeping.process.wait(20) == 0
    assert not folder.exists()


def test_a_keeper_ends_with_its_owner_though_an_asker_takes_no_output(keeping: Keeping) -> None:
    owner = subprocess.Popen(["sleep", "1000"])
    connection, asker = connected(keeping.start(machine.Options(owner=owner.pid)))
    with connection:
        asker.send(RUN)
        assert keeping.guest.receive()[0] == RUN
        keeping.guest_socket.settimeout(1.0)
        try:
            while True:
                keeping.guest_socket.sendall(b"O\0\1\0\0" + b"x" * 65536)
        except TimeoutError:
            pass  # all that is between us is full
        owner.kill()
        owner.wait()
        assert keeping.process.wait(20) == 0


def test_a_keeper_that_ends_leaves_its_successor_alone(keeping: Keeping) -> None:
    folder = keeping.start()
    old, old_guest = keeping.process, keeping.guest_socket
    keeping.start()  # in the same folder, as if nobody had listened
    new = kept.keeper_of(folder)
    assert new == keeping.process.pid
    assert old.wait(20) == 0  # its socket is another's
    old_guest.close()
    assert kept.keeper_of(folder) == new and (folder / kept.SOCKET).exists()


def test_a_keeper_tells_why_its_guests_have_ended(keeping: Keeping) -> None:
    connection, asker = connected(keeping.start())
    with connection:
        asker.send(RUN)
        assert keeping.guest.receive()[0] == RUN
        keeping.guest_socket.shutdown(socket.SHUT_RDWR)
        kind, text = asker.receive()
        assert kind == ERROR and b"ended by itself" in text
        with pytest.raises(Closed):
            asker.receive()


def test_an_asker_whose_keeper_ends_before_its_turn_starts_another(keeping: Keeping,
                                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    folder = keeping.start()
    first, _ = connected(folder)
    old = keeping.process
    started = threading.Event()

    def start(folder: Path, options: machine.Options) -> None:
        keeping.start_in(folder, options)
        started.set()

    monkeypatch.setattr(session, "_start", start)
    statuses: list[int] = []
    command = commands.Command(["true"], Path("/"), {}, print, print)
    asker = threading.Thread(
        target=lambda: statuses.append(session.run(machine.Options(), command, timeout_s=None)))
    with first:
        asker.start()
        time.sleep(0.5)  # it waits for its turn
        old.terminate()
        assert started.wait(20)
    assert keeping.guest.receive()[0] == RUN
    keeping.guest.send_json(EXIT, status=7)
    asker.join(20)
    assert statuses == [7] and old.wait(20) == 0


def test_a_folder_is_removed_only_if_nobody_starts_or_listens_there(keeping: Keeping) -> None:
    folder = keeping.start()
    kept.remove_stale()
    assert folder.exists()
    starting = kept.root() / "starting"
    with kept.locked(starting):
        kept.remove_stale()
        assert starting.exists()
    kept.remove_stale()
    assert not starting.exists()
