"""Commands on a guest with a verbs device, as a user runs them. Needs what `tools/armci setup --rdma` installs."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Iterator

import pytest
from armci_tool.errors import ToolError
from armci_tool.rdma import machine, session
from guest_helpers import ARMCI, KEEP, START_S, assert_nothing_is_left, assert_they_go_with_their_tool, emulators, rdma, wait_for_emulators


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a guest that is kept while this file is tested."""
    folder = tmp_path_factory.mktemp("kept folder")
    started = rdma(*KEEP, "--", "true", cwd=folder)
    assert started.status == 0, started.output
    yield folder
    assert rdma("--stop", cwd=folder).status == 0
    assert_nothing_is_left()


def test_it_has_a_verbs_device_that_is_up(kept: Path) -> None:
    output = rdma(*KEEP, "--", "ibv_devinfo", cwd=kept).output
    assert "rxe0" in output and "PORT_ACTIVE" in output


@pytest.mark.parametrize("body, status", [("exit 0", 0), ("exit 3", 3), ("kill -TERM $$", 128 + signal.SIGTERM)])
def test_the_status_is_that_of_the_command(kept: Path, body: str, status: int) -> None:
    assert rdma(*KEEP, "--", "sh", "-c", body, cwd=kept).status == status


def test_a_command_that_is_not_there_says_so(kept: Path) -> None:
    result = rdma(*KEEP, "--", "no-such-command", cwd=kept)
    assert result.status == 127 and "no-such-command" in result.output


def test_outputs_stay_apart_and_whole(kept: Path) -> None:
    result = subprocess.run([str(ARMCI), "rdma", *KEEP, "--", "sh", "-c", "seq 100000; echo wrong >&2"], cwd=kept,
                            capture_output=True, timeout=START_S, check=True)
    assert result.stdout == b"".join(b"%d\n" % number for number in range(1, 100001))
    assert result.stderr == b"wrong\n"


def test_arguments_and_environment_arrive_as_they_are(kept: Path) -> None:
    os.environ["TOLD_TO_THE_GUEST"] = "two words; $HOME\nand a line"
    try:
        output = rdma(*KEEP, "--", "sh", "-c", 'printf "%s|" "$TOLD_TO_THE_GUEST" "$@"', "sh", "a b", "", "*", cwd=kept)
    finally:
        del os.environ["TOLD_TO_THE_GUEST"]
    assert output.output == "two words; $HOME\nand a line|a b||*|"


def test_it_runs_in_our_folder_and_may_write_there(kept: Path) -> None:
    (kept / "given").write_text("from here")
    assert rdma(*KEEP, "--", "sh", "-c", "cat given > taken && pwd", cwd=kept).output.strip() == str(kept)
    assert (kept / "taken").read_text() == "from here"


def test_what_it_writes_elsewhere_stays_in_the_guest(kept: Path, tmp_path: Path) -> None:
    other = tmp_path / "file"
    other.write_text("ours")
    assert rdma(*KEEP, "--", "sh", "-c", f"echo theirs > {other}; cat {other}", cwd=kept).output == "theirs\n"
    assert other.read_text() == "ours"


def test_a_kept_guest_sees_files_that_have_changed_since(kept: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    for word in ("old", "a newer one"):
        program.unlink(missing_ok=True)
        program.write_text(f"echo {word}\n")
        assert rdma(*KEEP, "--", "sh", str(program), cwd=kept).output == f"{word}\n"


def test_commands_with_keep_share_a_guest_and_leave_each_other_nothing(kept: Path) -> None:
    boot = [*KEEP, "--", "cat", "/proc/sys/kernel/random/boot_id"]
    assert rdma(*boot, cwd=kept).output == rdma(*boot, cwd=kept).output
    rdma(*KEEP, "--", "sh", "-c", "sleep 1000 & setsid sleep 1001 &", cwd=kept)
    left = rdma(*KEEP, "--", "sh", "-c", "ps -e -o args | grep '[s]leep 100'", cwd=kept)
    assert left.output == ""


def test_a_command_is_ended_when_its_time_is_up_and_the_guest_serves_on(kept: Path) -> None:
    result = rdma(*KEEP, "--timeout", "1", "--", "sh", "-c", "trap '' TERM; while true; do sleep 1; done", cwd=kept)
    assert result.status == 124 and "was ended after 1 s" in result.output
    assert rdma(*KEEP, "--", "echo", "on", cwd=kept).output == "on\n"


def test_a_command_that_prints_all_the_time_is_ended_too(kept: Path) -> None:
    result = subprocess.run([str(ARMCI), "rdma", *KEEP, "--timeout", "1", "--", "yes"], cwd=kept, timeout=START_S,
                            stdout=subprocess.DEVNULL, check=False)
    assert result.returncode == 124
    assert rdma(*KEEP, "--", "sh", "-c", "setsid yes & echo on", cwd=kept).output.startswith("on\n")


def test_a_command_without_outputs_can_be_ended(kept: Path) -> None:
    assert rdma(*KEEP, "--timeout", "1", "--", "sh", "-c", "exec >&- 2>&-; sleep 1000", cwd=kept).status == 124
    assert rdma(*KEEP, "--", "echo", "on", cwd=kept).output == "on\n"


def test_a_command_ends_with_its_client(kept: Path) -> None:
    client = subprocess.Popen([str(ARMCI), "rdma", *KEEP, "--", "sh", "-c", "echo on; exec sleep 1000"], cwd=kept,
                             stdout=subprocess.PIPE)
    assert client.stdout is not None and client.stdout.readline() == b"on\n"
    client.kill()
    client.wait()
    client.stdout.close()
    assert rdma(*KEEP, "--", "sh", "-c", "ps -e -o args | grep '[s]leep 1000'", cwd=kept).output == ""


def test_a_guest_of_its_own_leaves_nothing(tmp_path: Path) -> None:
    before = emulators()
    assert rdma("--", "true", cwd=tmp_path).status == 0
    assert emulators() == before


def test_a_guest_goes_when_its_tool_is_killed(tmp_path: Path) -> None:
    assert_they_go_with_their_tool(cwd=tmp_path, guests=1)


def test_stopping_ends_the_command_too(tmp_path: Path) -> None:
    before = emulators()
    client = subprocess.Popen([str(ARMCI), "rdma", "--keep", "--", "sh", "-c", "echo on; exec sleep 1000"], cwd=tmp_path,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert client.stdout is not None and client.stdout.readline() == "on\n"
    # As --stop does; the guests of the other tests stay.
    os.kill(session.keeper_of(session.name_of(machine.Options(folder=str(tmp_path)))), signal.SIGTERM)
    _, said = client.communicate(timeout=20)
    assert client.returncode == 2 and "the guest ended while it ran a command" in said
    wait_for_emulators(before)


def test_a_kept_guest_goes_with_its_owner_or_its_keeper(tmp_path: Path) -> None:
    before = emulators()
    owner = subprocess.Popen(["sleep", "1000"])
    assert rdma("--keep-for", str(owner.pid), "--", "true", cwd=tmp_path).status == 0
    owner.kill()
    owner.wait()
    wait_for_emulators(before)
    assert rdma("--keep-for", str(os.getpid()), "--", "true", cwd=tmp_path).status == 0
    wanted = machine.Options(folder=str(tmp_path), owner=os.getpid())
    os.kill(session.keeper_of(session.name_of(wanted)), signal.SIGKILL)
    wait_for_emulators(before)


def test_without_a_kernel_it_says_what_to_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(ToolError) as caught:
        machine.require()
    assert "setup --rdma" in caught.value.next_step
