"""Keepers of guests (keeper.py, session.py), with a test in place of the guests."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Iterator

import pytest
from armci_tool.errors import ToolError
from armci_tool.rdma import commands, machine, session
from armci_tool.rdma.channel import ERROR, EXIT, OUT, READY, RUN, Channel, Closed

# A keeper of guests that are the process at the other end of a pair of sockets.
KEEPER = """
import sys
from pathlib import Path
from armci_tool.errors import ToolError
from armci_tool.rdma import keeper, machine
from armci_tool.rdma.channel import Channel

class Fake(machine.Guests):
    channel = Channel(int(sys.argv[2]))

    def __enter__(self):
        if sys.argv[4:]:
            raise ToolError(sys.argv[4])
        return self

sys.exit(keeper.main(Path(sys.argv[1]), Fake, float(sys.argv[3])))
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
    made.guest.close()


class Keeping:
    """Starts keepers of guests that are this test."""

    process: "subprocess.Popen[bytes]"

    def start(self, options: machine.Options = machine.Options(), idle_s: float = 100.0) -> Path:
        """Returns the folder, which can be connected to."""
        folder = session.folder_of(options)
        self.start_in(folder, options, idle_s)
        deadline = time.monotonic() + 20
        while not (channel := session.connect(folder)) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert channel
        channel.close()
        return folder

    def start_in(self, folder: Path, options: machine.Options, idle_s: float = 100.0,
                 failure: str = "") -> "subprocess.Popen[bytes]":
        """The same, and does not wait for it. With `failure` its guests cannot start."""
        guest, theirs = socket.socketpair()
        self.guest = Channel(guest.detach())
        folder.mkdir(exist_ok=True)
        session.write_options(folder, options)
        line = [sys.executable, "-B", "-c", KEEPER, str(folder), str(theirs.fileno()), str(idle_s)]
        with theirs, (folder / "log").open("wb") as log:
            self.process = subprocess.Popen([*line, failure] if failure else line, pass_fds=[theirs.fileno()], stderr=log,
                                            env={**os.environ, "PYTHONPATH": str(Path(machine.__file__).parents[2])})
        return self.process


def connected(folder: Path) -> Channel:
    """A client whose turn it is."""
    channel = session.connect(folder)
    assert channel is not None
    assert channel.receive()[0] == READY
    return channel


def test_a_keeper_hands_on_and_its_folder_is_private(keeping: Keeping) -> None:
    folder = keeping.start()
    with connected(folder) as client:
        client.post(RUN, {"fresh": True})
        assert keeping.guest.receive() == (RUN, {"fresh": True})
        keeping.guest.post(EXIT, 3)
        assert client.receive() == (EXIT, 3)
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    assert session.keeper_of(folder) == keeping.process.pid


def test_stopping_does_not_wait_for_the_command(keeping: Keeping) -> None:
    with connected(keeping.start(machine.Options(guests=2))) as client:
        client.post(RUN, {"fresh": False})
        assert keeping.guest.receive()[0] == RUN
        ended = threading.Thread(target=keeping.process.wait)
        ended.start()
        assert session.stop_all() == 2
        with pytest.raises(Closed):
            client.receive()
        ended.join()
    assert not list(session.root().iterdir())


def test_a_keeper_ends_while_a_client_says_nothing(keeping: Keeping) -> None:
    folder = keeping.start(idle_s=1.0)
    with connected(folder):
        assert keeping.process.wait(20) == 0
    assert not folder.exists()


def test_a_keeper_ends_with_its_owner_though_a_client_takes_no_output(keeping: Keeping) -> None:
    owner = subprocess.Popen(["sleep", "1000"])
    with connected(keeping.start(machine.Options(owner=owner.pid))) as client:
        client.post(RUN, {"fresh": False})
        assert keeping.guest.receive()[0] == RUN
        os.set_blocking(keeping.guest.fileno(), False)
        with pytest.raises(Closed):  # all that is between us is full
            while True:
                keeping.guest.post(OUT, b"x" * 65536)
        owner.kill()
        owner.wait()
        assert keeping.process.wait(20) == 0


def test_there_is_one_keeper_however_many_are_started(keeping: Keeping) -> None:
    folder = keeping.start()
    first, guest = keeping.process, keeping.guest
    assert keeping.start_in(folder, machine.Options()).wait(20) == 0
    assert session.keeper_of(folder) == first.pid
    with connected(folder) as client:
        client.post(RUN, {"fresh": False})
        assert guest.receive()[0] == RUN
    keeping.process = first


def test_a_keeper_whose_folder_is_gone_ends_and_leaves_its_successor_alone(keeping: Keeping) -> None:
    folder = keeping.start()
    old, old_guest = keeping.process, keeping.guest
    shutil.rmtree(folder)
    keeping.start()
    new = session.keeper_of(folder)
    assert new == keeping.process.pid
    assert old.wait(20) == 0
    old_guest.close()
    assert session.keeper_of(folder) == new and (folder / session.SOCKET).exists()


def test_a_keeper_tells_why_its_guests_have_ended(keeping: Keeping) -> None:
    with connected(keeping.start()) as client:
        client.post(RUN, {"fresh": False})
        assert keeping.guest.receive()[0] == RUN
        keeping.guest.close()
        kind, text = client.receive()
        assert kind == ERROR and b"ended by itself" in text
        with pytest.raises(Closed):
            client.receive()


def run_in_thread(statuses: list[int]) -> threading.Thread:
    """Runs a command on kept guests."""
    command = commands.Command(["true"], Path("/"), {}, print, print)
    client = threading.Thread(
        target=lambda: statuses.append(session.run(machine.Options(), command, timeout_s=None)))
    client.start()
    return client


def test_a_client_whose_keeper_ends_before_its_turn_starts_another(keeping: Keeping,
                                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    folder = keeping.start()
    first = connected(folder)
    old = keeping.process
    started = threading.Event()

    def start(folder: Path, options: machine.Options) -> "subprocess.Popen[bytes]":
        made = keeping.start_in(folder, options)
        started.set()
        return made

    monkeypatch.setattr(session, "_start", start)
    statuses: list[int] = []
    with first:
        client = run_in_thread(statuses)
        time.sleep(0.5)  # it waits for its turn
        old.terminate()
        assert started.wait(20)
    assert keeping.guest.receive()[0] == RUN
    keeping.guest.post(EXIT, 7)
    client.join(20)
    assert statuses == [7] and old.wait(20) == 0


def test_a_client_that_dies_leaves_its_turn_to_the_next(keeping: Keeping) -> None:
    folder = keeping.start()
    with connected(folder) as client:
        client.post(RUN, {"fresh": False})
        assert keeping.guest.receive()[0] == RUN
    keeping.guest.post(OUT, b"nobody takes this")
    assert keeping.guest.receive()[0] == "SIGNAL"
    keeping.guest.post(EXIT, 143)
    with connected(folder) as client:
        client.post(RUN, {"fresh": False})
        assert keeping.guest.receive()[0] == RUN


def test_why_guests_cannot_start_is_told(keeping: Keeping, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_start", lambda folder, options: keeping.start_in(folder, options, failure="no memory"))
    command = commands.Command(["true"], Path("/"), {}, print, print)
    with pytest.raises(ToolError, match="cannot start a guest") as caught:
        session.run(machine.Options(), command, timeout_s=None)
    assert "no memory" in caught.value.where
    assert not list(session.root().iterdir())


def test_a_folder_is_removed_only_if_no_keeper_starts_or_listens_there(keeping: Keeping) -> None:
    folder = keeping.start()
    starting = session.root() / "starting"
    starting.mkdir()  # its keeper is about to take the lock
    session.remove_stale()
    assert folder.exists() and starting.exists()
    (starting / session.LOCK).touch()
    session.remove_stale()
    assert folder.exists() and not starting.exists()
