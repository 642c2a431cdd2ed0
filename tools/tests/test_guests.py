"""Guests of tools/armci rdma, without one: their options, and jobs that have them as nodes."""

from __future__ import annotations

import os
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Iterator

import pytest
from armci_tool import launch, placement
from armci_tool.errors import ToolError
from armci_tool.launch import Launch
from armci_tool.placement import Placement, with_device
from armci_tool.rdma import agent, commands, machine, network, shell
from armci_tool.rdma import nodes as guests
from armci_tool.rdma.commands import END, ERROR, EXIT, OUT, Channel, Closed
from helpers import alive, pids_in

TWO_GUESTS = Placement(nodes=2, guest=True)


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder for all that is kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def test_each_guest_has_an_end_of_the_network_and_an_address_of_its_own() -> None:
    lines = [machine.command_line(machine.Options(guests=2), Path("/k"), guest, machine.Files(5, 6, 7 + guest))
             for guest in (0, 1)]
    for guest, line in enumerate(lines):
        assert f"stream,id=link,addr.type=fd,addr.str={7 + guest}" in line
        assert any(network.hardware_address(guest) in word and f"host_mtu={network.MTU}" in word for word in line)
    assert "-netdev" not in machine.command_line(machine.Options(), Path("/k"), 0, machine.Files(5, 6, 7))


def test_the_device_of_several_guests_is_on_the_network_between_them() -> None:
    single, second = machine.config(machine.Options(), 0), machine.config(machine.Options(guests=2), 1)
    assert (single["UNDER"], single["ADDRESS"], single["NODE_AGENT"]) == ("rdma0", "10.78.0.1", "")
    assert (second["UNDER"], second["ADDRESS"], second["NODE_AGENT"]) == ("eth0", "10.78.0.2", str(guests.AGENT))
    assert "10.78.0.1 guest0\n10.78.0.2 guest1\n" in second["HOSTS"]


def test_there_are_at_most_two() -> None:
    with pytest.raises(ToolError, match="cannot make 3 guests") as caught:
        machine.require(3)
    assert "at most 2" in caught.value.next_step


def test_nodes_of_what_needs_a_device_are_guests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "require", lambda count: None)
    assert with_device(Placement(nodes=2), "verbs") == TWO_GUESTS
    assert with_device(Placement(nodes=2), "") == Placement(nodes=2)
    assert with_device(Placement(nodes=1), "verbs") == Placement(nodes=1)
    assert (TWO_GUESTS.label, TWO_GUESTS.kind, TWO_GUESTS.arguments()) == ("2 nodes, guests", "nodes", ["--nodes", "2"])
    assert "ARMCI_NODE_SIZE" not in TWO_GUESTS.environment()
    # Namespaces are this machine, and its device is not theirs.
    monkeypatch.setattr(placement, "VERBS_DEVICES", "/dev/null")
    assert with_device(Placement(nodes=2), "verbs") == TWO_GUESTS
    assert not with_device(Placement(simulated_node_size=1), "verbs").guest


@pytest.mark.parametrize("mpi", sorted(launch.MPI_LIBRARIES))
def test_a_job_on_guests_is_started_in_the_first(mpi: str) -> None:
    line = Launch(("./p",), 3, mpi, placement=TWO_GUESTS).command_line(as_root=None, present={})
    assert line[1:4] == ["rdma", "--guests", "2"] and line[4] == "--keep-for"
    assert "guest0:2,guest1:1" in line and str(guests.AGENT) in line and network.INTERFACE in line
    assert os.access(guests.AGENT, os.X_OK)


def test_in_a_guest_everybody_is_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "--allow-run-as-root" in Launch(("./p",), 2, placement=TWO_GUESTS).command_line(present={})
    assert "--allow-run-as-root" not in Launch(("./p",), 2).command_line(present={})


def test_what_guests_preload_is_made_once_for_each_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "require", lambda guests: None)
    guests.require(2, "mpich_finalize")
    made = Path(guests.preload("mpich_finalize"))
    before = made.stat()
    guests.require(2, "mpich_finalize")
    assert os.path.samestat(made.stat(), before) and list(made.parent.iterdir()) == [made]
    assert guests.preload("") == ""


def test_what_runs_in_a_guest_needs_the_standard_library_alone() -> None:
    """The agent starts without the packages of Python, which takes half the time."""
    for module in ("agent", "shell"):
        line = [sys.executable, "-B", "-S", "-c", f"import armci_tool.rdma.{module}"]
        subprocess.run(line, env={"PYTHONPATH": str(guests.AGENT.parent)}, check=True)


@pytest.fixture(name="pair")
def fixture_pair() -> Iterator[tuple[Channel, Channel]]:
    """The client's end of a channel, and the agent's."""
    left, right = (Channel(end.detach()) for end in socket.socketpair())
    with left, right:
        yield left, right


def wanted(tmp_path: Path, body: str) -> dict[str, object]:
    """The value of a RUN."""
    return {"argv": ["sh", "-c", body], "cwd": str(tmp_path), "environment": dict(os.environ), "fresh": False}


def test_a_command_is_executed_to_its_end(pair: tuple[Channel, Channel], tmp_path: Path) -> None:
    client, served = pair
    assert agent.execute(served, wanted(tmp_path, "echo out; echo wrong >&2; exit 3")) == 3
    assert sorted(client.receive() for _ in range(2)) == [(ERROR, b"wrong\n"), (OUT, b"out\n")]


def test_what_a_command_leaves_behind_does_not_hold_it_up(pair: tuple[Channel, Channel], tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    before = time.monotonic()
    body = f"sleep 100 & echo $! > {pids}; kill -TERM $$"
    assert agent.execute(pair[1], wanted(tmp_path, body)) == 128 + signal.SIGTERM
    assert time.monotonic() - before < 20
    for pid in pids_in(pids):
        os.kill(pid, signal.SIGKILL)


def test_a_command_ends_when_its_time_is_up_though_it_prints_all_the_time(pair: tuple[Channel, Channel],
                                                                          tmp_path: Path) -> None:
    client, served = pair

    def serve() -> None:
        _, value = served.receive()
        served.post(EXIT, agent.execute(served, value))

    serves = threading.Thread(target=serve)
    serves.start()
    said: list[bytes] = []
    command = commands.Command(["sh", "-c", "trap 'echo ends; exit 0' TERM; while :; do echo on; done"], tmp_path,
                               os.environ, said.append, said.append)
    assert commands.run(client, command, timeout_s=0.5) == commands.TIMEOUT_STATUS
    serves.join()
    assert b"".join(said).endswith(b"ends\n")


def test_a_guest_runs_commands_of_another_as_a_remote_shell_does(monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
                                                                 capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    monkeypatch.chdir(tmp_path)
    with socketserver.ForkingTCPServer(("127.0.0.1", 0), agent.Neighbour) as server:
        monkeypatch.setattr(network, "NEIGHBOUR_PORT", server.server_address[1])
        serves = threading.Thread(target=server.serve_forever)
        serves.start()
        try:
            assert shell.main(["-x", "localhost", "pwd;", "echo 'a  b'", ">&2;", "exit 3"]) == 3
        finally:
            server.shutdown()
            serves.join()
    assert capfdbinary.readouterr() == (f"{tmp_path}\n".encode(), b"a  b\n")
    assert shell.main(["localhost", "true"]) == 255
    assert b"cannot run a command on localhost" in capfdbinary.readouterr().err


@pytest.mark.parametrize("by", ["closing", "END"])
def test_a_command_ends_with_its_client(pair: tuple[Channel, Channel], tmp_path: Path, by: str) -> None:
    client, served = pair
    pids = tmp_path / "pids"

    def end() -> None:
        client.receive()  # the command runs
        if by == "closing":
            client.close()
        else:
            client.post(END)

    ends = threading.Thread(target=end)
    ends.start()
    with pytest.raises(Closed):
        agent.execute(served, wanted(tmp_path, f"sleep 1000 & echo $! $$ > {pids}; echo on; wait"))
    ends.join()
    # The signal has been sent to all of them; the one without a waiting parent may take a moment.
    deadline = time.monotonic() + 5.0
    while any(alive(pid) for pid in pids_in(pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(alive(pid) for pid in pids_in(pids))
