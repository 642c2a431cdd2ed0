"""Keepers of guests (keeper.py, session.py), with a test in place of the guests."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import IO, Iterator, Optional

import pytest
from armci_tool.errors import ToolError
from armci_tool.rdma import commands, machine, session
from armci_tool.rdma.commands import ERROR, EXIT, OUT, READY, RUN, Channel, Closed

# A keeper of guests that are the process at the other end of a pair of sockets.
KEEPER = """
import json
import sys
import time
from armci_tool.errors import ToolError
from armci_tool.rdma import keeper, machine
from armci_tool.rdma.commands import Channel

class Fake(machine.Guests):
    channel = Channel(int(sys.argv[2]))

    def __enter__(self):
        if sys.argv[4:] == ["wait"]:
            time.sleep(1000)
        if sys.argv[4:]:
            raise ToolError(sys.argv[4])
        return self

sys.exit(keeper.main(machine.Options(**json.loads(sys.argv[1])), Fake, float(sys.argv[3])))
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

    def start(self, options: machine.Options = machine.Options(), idle_s: float = 100.0) -> str:
        """Returns the name, which can be connected to."""
        self.begin(options, None, idle_s)
        deadline = time.monotonic() + 20
        while not (channel := session.connect(session.name_of(options))) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert channel
        channel.close()
        return session.name_of(options)

    def begin(self, options: machine.Options, log: Optional[IO[bytes]] = None, idle_s: float = 100.0,
              failure: str = "") -> "subprocess.Popen[bytes]":
        """The same, and does not wait for it. With `failure` its guests cannot start; "wait": it takes long."""
        guest, theirs = socket.socketpair()
        self.guest = Channel(guest.detach())
        with theirs:
            line = [sys.executable, "-B", "-c", KEEPER, json.dumps(asdict(options)), str(theirs.fileno()), str(idle_s)]
            self.process = subprocess.Popen([*line, *filter(None, [failure])], pass_fds=[theirs.fileno()], stderr=log,
                                            env={**os.environ, "PYTHONPATH": str(Path(machine.__file__).parents[2])})
        return self.process


def connected(name: str) -> Channel:
    """A client whose turn it is."""
    channel = session.connect(name)
    assert channel is not None
    assert channel.receive()[0] == READY
    return channel


def test_a_keeper_hands_on_and_is_found_by_its_name(keeping: Keeping, tmp_path: Path,
                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    name = keeping.start()
    with connected(name) as client:
        client.post(RUN, {"fresh": True})
        assert keeping.guest.receive() == (RUN, {"fresh": True})
        keeping.guest.post(EXIT, 3)
        assert client.receive() == (EXIT, 3)
    assert session.names() == [name] and session.keeper_of(name) == keeping.process.pid
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))
    assert not session.names()


def test_another_user_is_not_served_and_not_trusted(keeping: Keeping, monkeypatch: pytest.MonkeyPatch) -> None:
    name = keeping.start()
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(ToolError, match="another user"):
        session.connect(name)
    here, there = socket.socketpair()
    with here, there:
        assert session.peer(here) == 0


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
    assert not session.names()


def test_a_keeper_ends_while_a_client_says_nothing(keeping: Keeping) -> None:
    name = keeping.start(idle_s=1.0)
    with connected(name):
        assert keeping.process.wait(20) == 0
    assert session.keeper_of(name) == 0


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
    name = keeping.start()
    first, guest = keeping.process, keeping.guest
    assert keeping.begin(machine.Options()).wait(20) == session.NAME_TAKEN
    assert session.keeper_of(name) == first.pid
    with connected(name) as client:
        client.post(RUN, {"fresh": False})
        assert guest.receive()[0] == RUN
    keeping.process = first


def test_a_keeper_reports_why_its_guests_have_ended(keeping: Keeping) -> None:
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
    first = connected(keeping.start())
    old = keeping.process
    started = threading.Event()

    def start(options: machine.Options, log: IO[bytes]) -> "subprocess.Popen[bytes]":
        made = keeping.begin(options, log)
        started.set()
        return made

    monkeypatch.setattr(session, "_start", start)
    statuses: list[int] = []
    with first:
        client = run_in_thread(statuses)
        time.sleep(0.5)  # the client waits for its turn
        old.terminate()
        assert started.wait(20)
    assert keeping.guest.receive()[0] == RUN
    keeping.guest.post(EXIT, 7)
    client.join(20)
    assert statuses == [7] and old.wait(20) == 0


def test_a_client_that_dies_leaves_its_turn_to_the_next(keeping: Keeping) -> None:
    name = keeping.start()
    with connected(name) as client:
        client.post(RUN, {"fresh": False})
        assert keeping.guest.receive()[0] == RUN
    keeping.guest.post(OUT, b"no client reads this")
    assert keeping.guest.receive()[0] == "SIGNAL"
    keeping.guest.post(EXIT, 143)
    with connected(name) as client:
        client.post(RUN, {"fresh": False})
        assert keeping.guest.receive()[0] == RUN


def test_a_client_whose_keeper_is_ended_while_it_starts_does_not_start_another(
        keeping: Keeping, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_start", lambda options, log: keeping.begin(options, log, failure="wait"))

    def stop() -> None:
        while not session.stop_all():
            time.sleep(0.01)

    stops = threading.Thread(target=stop)
    stops.start()
    with pytest.raises(ToolError, match="cannot start a guest") as caught:
        session.run(machine.Options(), commands.Command(["true"], Path("/"), {}, print, print), timeout_s=None)
    stops.join()
    assert "SIGTERM" in caught.value.where


def test_why_guests_cannot_start_is_reported(keeping: Keeping, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_start", lambda options, log: keeping.begin(options, log, failure="no memory"))
    command = commands.Command(["true"], Path("/"), {}, print, print)
    with pytest.raises(ToolError, match="cannot start a guest") as caught:
        session.run(machine.Options(), command, timeout_s=None)
    assert "no memory" in caught.value.where
    assert not session.names()
