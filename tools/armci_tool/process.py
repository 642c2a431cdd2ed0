"""Runs commands so that nothing of them survives: not after a timeout, a signal, nor a death in the middle.

Every process of a command carries a marker in its environment (see leftovers.py). At the end everything that still
carries it is killed by its process id; this also finds ranks whose launcher gave them a process group or session of
their own.
"""

from __future__ import annotations

import math
import os
import selectors
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Mapping, Optional, Sequence

from armci_tool import leftovers, warden
from armci_tool.errors import ToolError

TIMEOUT_STATUS = 124
_READ_BYTES = 65536

LineHandler = Callable[[str], None]


@dataclass(frozen=True)
class Result:
    """What became of a command. `output` holds stdout and stderr in order, empty when they were inherited;
    `left_behind` names what outlived a command that ended by itself."""

    command: tuple[str, ...]
    status: int
    output: str
    seconds: float
    timed_out: bool = False
    left_behind: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """True when it ended by itself with status 0."""
        return self.status == 0 and not self.timed_out

    def tail(self, lines: int = 40) -> str:
        """The last lines of the output."""
        return "\n".join(self.output.rstrip().splitlines()[-lines:])


def install_signal_handlers(raise_stopped: Callable[[int], BaseException]) -> None:
    """Turns SIGINT, SIGTERM and SIGHUP into an exception, once: later ones must not disturb the cleaning up."""
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def handler(signum: int, _frame: object) -> None:
        for each in signals:
            signal.signal(each, signal.SIG_IGN)
        raise raise_stopped(signum)

    for each in signals:
        signal.signal(each, handler)


def run(command: Sequence[str], *, cwd: Optional[Path] = None, environment: Optional[Mapping[str, str]] = None,
        timeout_s: Optional[float] = None, silence_s: Optional[float] = None, capture: bool = True,
        on_line: Optional[LineHandler] = None, job: bool = True) -> Result:
    """Runs `command` to its end and returns what happened; raises ToolError only when it cannot be started.

    `environment` is added to the present one. With `capture` false the output goes where ours goes. `on_line` sees
    each line of output as it arrives. The command is ended after `timeout_s`, and, when its output is captured, after
    `silence_s` without any. `job` false leaves daemons that the command starts alone (Bazel's server).
    """
    full_environment, marker = {**os.environ, **(environment or {})}, ""
    if job:
        full_environment, marker = leftovers.mark(full_environment)
    start = time.monotonic()
    timed_out = False
    output = ""
    survivors: list[str] = []
    with warden.standing_by(marker) as watch_launcher:
        process = _start(command, cwd, full_environment, capture)
        try:
            watch_launcher(process.pid)
            if capture:
                output, timed_out = _collect(process, timeout_s, silence_s, on_line)
            else:
                timed_out = not _wait(process, timeout_s)
            if marker and not timed_out:
                survivors = leftovers.surviving_processes(marker)
        finally:
            _end(process, marker)
    status = TIMEOUT_STATUS if timed_out else _shell_status(process.returncode)
    return Result(tuple(command), status, output, time.monotonic() - start, timed_out, tuple(survivors))


def _start(command: Sequence[str], cwd: Optional[Path], environment: Mapping[str, str],
           capture: bool) -> "subprocess.Popen[bytes]":
    # A new session keeps a Ctrl-C at the terminal with us; the launcher then gets one orderly SIGTERM.
    if shutil.which(command[0], path=environment.get("PATH")) is None:
        raise ToolError(f"cannot run {command[0]}", where="it is not installed, or not executable",
                        next_step="run tools/armci setup")
    # The launcher reads ahead what we are given; only a job that the user started may have it. A terminal cannot be
    # read from another session.
    stdin = subprocess.DEVNULL if capture or os.isatty(0) else None
    try:
        return subprocess.Popen(list(command), cwd=cwd, env=dict(environment), start_new_session=True,
                                stdin=stdin, stdout=subprocess.PIPE if capture else None,
                                stderr=subprocess.STDOUT if capture else None)
    except OSError as error:
        raise ToolError(f"cannot run {command[0]}", where=str(error)) from error


def _collect(process: "subprocess.Popen[bytes]", timeout_s: Optional[float], silence_s: Optional[float],
             on_line: Optional[LineHandler]) -> tuple[str, bool]:
    """Reads the output until the command itself has ended: a process it left behind may hold the pipe open."""
    assert process.stdout is not None
    last_output = start = time.monotonic()
    chunks: list[bytes] = []
    pending = b""
    open_pipe = True
    os.set_blocking(process.stdout.fileno(), False)
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            if open_pipe:
                selector.select(0.1)
            elif process.poll() is None:
                _wait(process, 0.1)
            ended = process.poll() is not None
            data = _read_available(process.stdout.fileno()) if open_pipe else b""
            if data is None:
                open_pipe, data = False, b""
                selector.unregister(process.stdout)
            if data:
                chunks.append(data)
                last_output = time.monotonic()
                pending = _hand_lines(pending + data, on_line)
                continue
            if ended:
                break
            now = time.monotonic()
            if now - start > (timeout_s or math.inf) or now - last_output > (silence_s or math.inf):
                return _text(chunks), True
    if pending and on_line:
        on_line(pending.decode("utf-8", "replace"))
    return _text(chunks), False


def _read_available(descriptor: int) -> Optional[bytes]:
    """The bytes that are there, empty when none, None at the end of the file."""
    try:
        data = os.read(descriptor, _READ_BYTES)
    except BlockingIOError:
        return b""
    return data if data else None


def _hand_lines(data: bytes, on_line: Optional[LineHandler]) -> bytes:
    *lines, rest = data.split(b"\n")
    if on_line:
        for line in lines:
            on_line(line.decode("utf-8", "replace").rstrip("\r"))
    return rest


def _text(chunks: Sequence[bytes]) -> str:
    return b"".join(chunks).decode("utf-8", "replace")


def _wait(process: "subprocess.Popen[bytes]", timeout_s: Optional[float]) -> bool:
    try:
        process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        return False
    return True


def _end(process: "subprocess.Popen[bytes]", marker: str) -> None:
    """Ends what is left: the launcher in good order first, so that it can tidy up, then the rest by process id."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        if not _wait(process, warden.GRACE_S):
            process.kill()
            process.wait()
    if process.stdout is not None:
        process.stdout.close()
    if marker:
        warden.kill_marked(marker)


def _shell_status(returncode: int) -> int:
    return 128 - returncode if returncode < 0 else returncode
