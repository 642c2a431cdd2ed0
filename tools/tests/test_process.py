"""Commands end with everything they started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from armci_tool import process
from armci_tool.errors import ToolError
from helpers import alive, pids_in, script


def test_output_and_status_come_through(tmp_path: Path) -> None:
    result = process.run([str(script(tmp_path, "p", "echo out; echo err >&2; exit 7"))])
    assert result.status == 7
    assert result.output == "out\nerr\n"
    assert not result.ok


def test_status_of_a_killed_command_is_that_of_a_shell(tmp_path: Path) -> None:
    assert process.run([str(script(tmp_path, "p", "kill -9 $$"))]).status == 128 + 9


def test_lines_arrive_whole_and_in_order(tmp_path: Path) -> None:
    lines: list[str] = []
    process.run([str(script(tmp_path, "p", "printf 'a'; printf 'b\\nc\\nno newline'"))], on_line=lines.append)
    assert lines == ["ab", "c", "no newline"]


def test_large_output_is_complete(tmp_path: Path) -> None:
    result = process.run([str(script(tmp_path, "p", "seq 1 100000"))])
    assert result.output.splitlines()[-1] == "100000"
    assert len(result.output.splitlines()) == 100000


def test_timeout_ends_the_command_and_reports_124(tmp_path: Path) -> None:
    result = process.run([str(script(tmp_path, "p", "echo begun; exec sleep 100"))], timeout_s=0.5)
    assert result.timed_out
    assert result.status == process.TIMEOUT_STATUS
    assert result.output == "begun\n"


def test_silence_ends_the_command_but_talking_does_not(tmp_path: Path) -> None:
    talking = script(tmp_path, "talking", "for i in 1 2 3 4 5 6; do echo $i; sleep 0.2; done")
    assert process.run([str(talking)], silence_s=1).ok
    silent = script(tmp_path, "silent", "echo once; exec sleep 100")
    assert process.run([str(silent)], silence_s=0.5).timed_out


@pytest.mark.parametrize("how", ["&", "& wait"])
def test_processes_that_left_the_session_are_ended(tmp_path: Path, how: str) -> None:
    pids = tmp_path / "pids"
    body = f"setsid sh -c 'trap \"\" TERM; echo $$ >>{pids}; exec sleep 100' {how}\nwhile ! [ -s {pids} ]; do :; done"
    process.run([str(script(tmp_path, "p", body))], timeout_s=1)
    survivors = pids_in(pids)
    assert survivors
    assert not [pid for pid in survivors if alive(pid)]


def test_daemons_survive_where_that_is_asked_for(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    body = f"setsid sh -c 'echo $$ >>{pids}; exec sleep 100' >/dev/null 2>&1 &\nwhile ! [ -s {pids} ]; do :; done"
    process.run([str(script(tmp_path, "p", body))], job=False)
    [pid] = pids_in(pids)
    assert alive(pid)
    os.kill(pid, signal.SIGKILL)


def test_missing_command_is_an_error_with_a_next_step() -> None:
    with pytest.raises(ToolError) as caught:
        process.run(["no-such-command-at-all"])
    assert "no-such-command-at-all" in caught.value.render()
    assert "next:" in caught.value.render()


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_signal_to_the_tool_ends_the_job(tmp_path: Path, signum: signal.Signals) -> None:
    pids = tmp_path / "pids"
    job = script(tmp_path, "job", f"setsid sh -c 'echo $$ >>{pids}; exec sleep 100' & echo $$ >>{pids}; exec sleep 100")
    program = ("import sys; from armci_tool import process; from armci_tool.errors import Stopped\n"
               "process.install_signal_handlers(Stopped)\n"
               "try:\n    process.run([sys.argv[1]])\nexcept Stopped as stopped:\n    sys.exit(stopped.status)\n")
    root = str(Path(process.__file__).resolve().parents[1])
    # A shell's background job ignores SIGINT, and its children inherit that: give them the default back.
    tool = subprocess.Popen([sys.executable, "-B", "-c", program, str(job)], env={**os.environ, "PYTHONPATH": root},
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    deadline = time.monotonic() + 20
    while not pids.exists() or len(pids_in(pids)) < 2:
        assert time.monotonic() < deadline, "the job did not start"
        time.sleep(0.02)
    tool.send_signal(signum)
    assert tool.wait(20) == 128 + signum
    assert not [pid for pid in pids_in(pids) if alive(pid)]


def test_death_of_the_tool_ends_the_job_with_one_signal(tmp_path: Path) -> None:
    # A launcher takes a second SIGTERM as an order to go at once. The tool has threads of its own.
    pids, signals = tmp_path / "pids", tmp_path / "signals"
    job = script(tmp_path, "job", f"""
trap 'echo TERM >>{signals}; ended=yes' TERM
setsid sh -c 'trap "" TERM; echo $$ >>{pids}; exec sleep 100' &
echo $$ >>{pids}
while [ -z "$ended" ]; do sleep 0.01; done
sleep 0.5
""")
    program = ("import sys, threading, time; from armci_tool import process\n"
               "threading.Thread(target=time.sleep, args=(100,), daemon=True).start()\n"
               "process.run([sys.argv[1]])\n")
    root = str(Path(process.__file__).resolve().parents[1])
    tool = subprocess.Popen([sys.executable, "-B", "-c", program, str(job)], env={**os.environ, "PYTHONPATH": root})
    deadline = time.monotonic() + 20
    while not pids.exists() or len(pids_in(pids)) < 2:
        assert time.monotonic() < deadline, "the job did not start"
        time.sleep(0.02)
    tool.kill()
    tool.wait(20)
    while [pid for pid in pids_in(pids) if alive(pid)]:
        assert time.monotonic() < deadline, "the job survives the tool"
        time.sleep(0.02)
    assert signals.read_text().split() == ["TERM"]
