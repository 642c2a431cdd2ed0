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


def test_a_command_that_may_not_be_signalled_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # sudo, to a user.
    real = subprocess.Popen.send_signal

    def refused(command: "subprocess.Popen[bytes]", signum: int) -> None:
        if signum == signal.SIGTERM:
            raise PermissionError
        real(command, signum)

    monkeypatch.setattr(subprocess.Popen, "send_signal", refused)
    ended = tmp_path / "ended"
    assert process.run([str(script(tmp_path, "p", f"sleep 1; echo >{ended}"))], timeout_s=0.2, job=False).timed_out
    assert ended.exists()


def test_a_signal_ends_the_client_and_leaves_its_daemon(tmp_path: Path) -> None:
    # As a build does, whose server belongs to the user.
    pids = tmp_path / "pids"
    client = script(tmp_path, "client", f"setsid sh -c 'echo $$ >>{pids}; exec sleep 100' >/dev/null 2>&1 &\n"
                    f"while ! [ -s {pids} ]; do :; done; echo $$ >>{pids}; exec sleep 100\n")
    tool = start_tool("process.run([sys.argv[1]], job=False)", client)
    wait_for_words(pids, 2)
    tool.send_signal(signal.SIGTERM)
    assert tool.wait(20) == 128 + signal.SIGTERM
    daemon, ended = pids_in(pids)
    assert alive(daemon) and not alive(ended)
    os.kill(daemon, signal.SIGKILL)


def test_missing_command_is_an_error_with_a_next_step() -> None:
    with pytest.raises(ToolError) as caught:
        process.run(["no-such-command-at-all"])
    assert "no-such-command-at-all" in caught.value.render()
    assert "next:" in caught.value.render()


_TOOL = """
import signal, sys, threading, time
from pathlib import Path
from armci_tool import leak_check, process
from armci_tool.errors import Stopped
process.install_signal_handlers(Stopped)
try:
    {work}
except Stopped as stopped:
    sys.exit(stopped.status)
"""
_ROOT = str(Path(process.__file__).resolve().parents[1])


def start_tool(work: str, *arguments: Path) -> "subprocess.Popen[bytes]":
    # A shell's background job ignores SIGINT, and its children inherit that: give them the default back.
    return subprocess.Popen([sys.executable, "-B", "-c", _TOOL.format(work=work), *map(str, arguments)],
                            env={**os.environ, "PYTHONPATH": _ROOT},
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


def wait_for_words(path: Path, count: int) -> None:
    deadline = time.monotonic() + 20
    while not path.exists() or len(path.read_text().split()) < count:
        assert time.monotonic() < deadline, "the job did not start"
        time.sleep(0.02)


SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
# In a thread beside others, as steps that run at the same time.
_IN_THREADS = ("threads = [threading.Thread(target=process.run, args=([word],)) for word in sys.argv[1:]]\n"
               "    for thread in threads: thread.start()\n"
               "    while True: time.sleep(0.01)")


@pytest.mark.parametrize("signum", SIGNALS)
@pytest.mark.parametrize("work", [
    "process.run([sys.argv[1]])", "process.run([sys.argv[1]], capture=False)", _IN_THREADS],
    ids=["captured", "to the terminal", "in a thread"])
def test_signal_to_the_tool_ends_the_job(tmp_path: Path, signum: signal.Signals, work: str) -> None:
    pids = tmp_path / "pids"
    job = script(tmp_path, "job", f"setsid sh -c 'echo $$ >>{pids}; exec sleep 100' & echo $$ >>{pids}; exec sleep 100")
    tool = start_tool(work, job)
    wait_for_words(pids, 2)
    tool.send_signal(signum)
    assert tool.wait(20) == 128 + signum
    assert not [pid for pid in pids_in(pids) if alive(pid)]


@pytest.mark.parametrize("step, interrupted", [
    ("_start", "[real(*words), signal.raise_signal(15)][0]"), ("_end", "[signal.raise_signal(15), real(*words)][1]")])
def test_a_signal_between_the_steps_of_a_run_leaves_nothing(tmp_path: Path, step: str, interrupted: str) -> None:
    pids = tmp_path / "pids"
    job = script(tmp_path, "job", f"setsid sh -c 'echo $$ >>{pids}; exec sleep 100' >/dev/null 2>&1 &\n"
                 f"while ! [ -s {pids} ]; do :; done\n")
    work = f"real = process.{step}\n    process.{step} = lambda *words: {interrupted}\n    process.run([sys.argv[1]])"
    assert start_tool(work, job).wait(20) == 128 + signal.SIGTERM
    time.sleep(0.2)
    assert not pids.exists() or not [pid for pid in pids_in(pids) if alive(pid)]


def test_a_signal_that_is_ignored_from_the_start_stays_so(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    job = script(tmp_path, "job", f"echo $$ >>{pids}; sleep 0.5")
    code = _TOOL.format(work="process.run([sys.argv[1]])")
    tool = subprocess.Popen(["nohup", sys.executable, "-B", "-c", code, str(job)], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": _ROOT})
    wait_for_words(pids, 1)
    tool.send_signal(signal.SIGHUP)
    assert tool.wait(20) == 0


def test_a_package_manager_is_never_broken_off(tmp_path: Path) -> None:
    # As apt-get does: it goes when its child has done its work, which says more than a pipe holds.
    said = tmp_path / "said"
    child = script(tmp_path, "dpkg", f"echo begun >>{said}; sleep 6; seq 1 100000; echo done >>{said}\n")
    manager = script(tmp_path, "apt", f"trap 'echo INT >>{said}' INT\ntrap 'echo TERM >>{said}; exit' TERM\n"
                     f"setsid {child} & wait $!\nwait $!\n")
    tool = start_tool("process.run([sys.argv[1]], job=False, ending=leak_check.PACKAGE_MANAGER)", manager)
    wait_for_words(said, 1)
    tool.send_signal(signal.SIGTERM)
    assert tool.wait(20) == 128 + signal.SIGTERM
    assert said.read_text().split() == ["begun", "INT", "done"]


@pytest.mark.parametrize("extra", ["", "real = process._start\n"
                                   "process._start = lambda *words: [real(*words), time.sleep(100)][0]\n"],
                         ids=["while the job runs", "before the reaper knows the launcher"])
def test_death_of_the_tool_ends_the_job_with_one_signal(tmp_path: Path, extra: str) -> None:
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
               f"{extra}process.run([sys.argv[1]])\n")
    tool = subprocess.Popen([sys.executable, "-B", "-c", program, str(job)], env={**os.environ, "PYTHONPATH": _ROOT})
    wait_for_words(pids, 2)
    tool.kill()
    tool.wait(20)
    deadline = time.monotonic() + 20
    while [pid for pid in pids_in(pids) if alive(pid)]:
        assert time.monotonic() < deadline, "the job survives the tool"
        time.sleep(0.02)
    assert signals.read_text().split() == ["TERM"]
