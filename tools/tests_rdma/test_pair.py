"""Two guests with a network between them, and jobs that have them as nodes."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Iterator

import pytest
from armci_tool import launch, process
from armci_tool.launch import Launch
from armci_tool.placement import Placement
from guest_helpers import ARMCI, KEEP, assert_nothing_is_left, assert_they_go_with_their_tool, emulators, rdma, wait_for_emulators

SOURCE = Path(__file__).parents[1] / "tests" / "node_program.c"
MESSAGE_BYTES = 4 << 20
SLEEPS = (str(ARMCI), "rdma", "--guests", "2", "--", "sh", "-c")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of two guests that are kept while this file is tested."""
    folder = tmp_path_factory.mktemp("kept pair")
    started = rdma("--guests", "2", *KEEP, "--", "true", cwd=folder)
    assert started.status == 0, started.output
    yield folder
    assert rdma("--stop", cwd=folder).status == 0
    assert_nothing_is_left()


def sh(pair: Path, body: str) -> process.Result:
    """Runs it in the first guest of those kept."""
    return rdma("--guests", "2", *KEEP, "--", "sh", "-c", body, cwd=pair)


def test_a_command_runs_in_the_first_and_may_run_others_in_the_second(pair: Path) -> None:
    output = sh(pair, "hostname; $NODE_AGENT guest1 hostname; $NODE_AGENT guest0 hostname").output
    assert output == "guest0\nguest1\nguest0\n"


def test_status_outputs_words_and_folder_arrive_as_by_a_remote_shell(pair: Path) -> None:
    said = sh(pair, "$NODE_AGENT -x guest1 'pwd; echo \"a  b\" | cat; exit 3'; echo $?").output
    assert said == f"{pair}\na  b\n3\n"
    outputs = sh(pair, "$NODE_AGENT guest1 'seq 20000; echo wrong >&2' 2>wrong | md5sum; seq 20000 | md5sum; cat wrong")
    there, here, wrong = outputs.output.splitlines()
    assert there == here and wrong == "wrong"


def test_a_guest_that_is_not_there_says_so(pair: Path) -> None:
    result = sh(pair, "$NODE_AGENT guest7 true")
    assert result.status == 255 and "cannot run a command on guest7" in result.output and "next:" in result.output


def test_the_devices_reach_each_other_with_large_packets(pair: Path) -> None:
    assert "active_mtu:\t\t4096" in sh(pair, "ibv_devinfo").output
    program = "ibv_rc_pingpong -d rxe0 -g 1 -m 4096 -n 200"
    output = sh(pair, f"$NODE_AGENT guest1 '{program}' > there & "
              f"for i in 1 2 3 4 5 6 7 8; do sleep 1; {program} guest1 && break; done; wait")
    assert "200 iters in" in output.output


def test_a_command_in_the_second_guest_ends_with_its_client(pair: Path) -> None:
    output = sh(pair, "$NODE_AGENT guest1 'echo on; exec sleep 1001' > out & client=$!; "
              "while ! grep -q on out; do sleep 0.1; done; kill -KILL $client; for i in 1 2 3 4 5 6 7 8 9; do sleep 1; "
              "$NODE_AGENT guest1 'ps -e -o args | grep -q [s]leep.1001' || { echo gone; break; }; done")
    assert output.output.endswith("gone\n")


def test_what_is_left_in_the_second_goes_with_the_command(pair: Path) -> None:
    sh(pair, "$NODE_AGENT guest1 'touch /dev/shm/left; setsid sleep 1002 >/dev/null 2>&1 &'")
    assert sh(pair, "$NODE_AGENT guest1 'ls /dev/shm; ps -e -o args | grep [s]leep.1002'").output == ""


def test_both_see_files_that_have_changed_since(pair: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    for word in ("old", "a newer one"):
        program.unlink(missing_ok=True)
        program.write_text(f"echo {word}\n")
        assert sh(pair, f"sh {program}; $NODE_AGENT guest1 sh {program}").output == f"{word}\n" * 2


def test_a_command_is_ended_when_its_time_is_up_and_both_serve_on(pair: Path) -> None:
    body = "$NODE_AGENT guest1 'sleep 1003'"
    assert rdma("--guests", "2", *KEEP, "--timeout", "3", "--", "sh", "-c", body, cwd=pair).status == 124
    assert sh(pair, "$NODE_AGENT guest1 'ps -e -o args | grep [s]leep.1003; echo on'").output == "on\n"


@pytest.mark.parametrize("mpi", sorted(launch.MPI_LIBRARIES))
@pytest.mark.parametrize("processes", [2, 4])
def test_guests_are_nodes_of_a_job(monkeypatch: pytest.MonkeyPatch, pair: Path, mpi: str, processes: int) -> None:
    program = pair / f"program_{mpi}"
    made = process.run([launch.mpi_library(mpi).compiler, "-O1", "-o", str(program), str(SOURCE)])
    assert made.ok, made.output
    monkeypatch.chdir(pair)
    result = launch.start(Launch((str(program),), processes, mpi, placement=Placement(2, guest=True)), timeout_s=180)
    assert result.ok, result.output
    per_node = processes // 2
    ranks = sorted(re.findall(r"RANK (\d+) (\S+) (\d+)", result.output))
    assert ranks == [(str(r), f"guest{r // per_node}", str(per_node)) for r in range(processes)]
    crossed = {kind: int(count) for kind, count in re.findall(r"NETWORK (\w+) (\d+)", result.output)}
    assert crossed["far"] >= MESSAGE_BYTES and crossed["put"] >= MESSAGE_BYTES, result.output


def test_one_does_not_live_without_the_other(tmp_path: Path) -> None:
    before = emulators()
    tool = subprocess.Popen([*SLEEPS, "echo on; exec sleep 1000"], cwd=tmp_path, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)
    assert tool.stdout is not None and tool.stdout.readline() == "on\n"
    _, second = [line for line in emulators() if line not in before]
    os.kill(int(second.split()[0]), 9)
    _, said = tool.communicate(timeout=20)
    assert tool.returncode == 2 and "the guest ended while it ran a command" in said
    wait_for_emulators(before)


def test_both_go_when_their_tool_is_killed(tmp_path: Path) -> None:
    assert_they_go_with_their_tool("--guests", "2", cwd=tmp_path, guests=2)


def test_three_are_refused(tmp_path: Path) -> None:
    result = rdma("--guests", "3", "--", "true", cwd=tmp_path)
    assert result.status == 2 and "at most 2" in result.output
