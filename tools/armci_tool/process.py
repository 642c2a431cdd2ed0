"""Runs commands so that nothing of them survives: not after a timeout, a signal, nor a death in the middle.

Every process of a command carries a marker in its environment (see leak_check.py). At the end everything that still
carries it is killed by its process id; this also finds ranks whose launcher gave them a process group or session of
their own.
"""

from __future__ import annotations

import math
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Callable, Iterator, Mapping, Optional, Sequence

from armci_tool import leak_check
from armci_tool.errors import ToolError

TIMEOUT_STATUS = 124
_READ_BYTES = 65536
# How often a command is looked at, for its time limits and for a signal to the tool.
_LOOK_EVERY_S = 0.1

LineHandler = Callable[[str], None]


@dataclass(frozen=True)
class Result:
    """The result of a command. `output` holds stdout and stderr in order, empty when they were inherited;
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


class _Stop:
    """A signal to the tool. It stops the main thread at once, or at the end of what must not be broken off, and every
    command that another thread runs."""

    def __init__(self) -> None:
        self.make: Optional[Callable[[], BaseException]] = None
        self._raised = False
        self._of_thread = threading.local()

    def raise_if_due(self) -> None:
        """In the main thread once: what it does to clean up may start commands."""
        is_main = threading.current_thread() is threading.main_thread()
        if self.make is None or self._is_held() or (is_main and self._raised):
            return
        self._raised = self._raised or is_main
        raise self.make()

    @contextmanager
    def held_back(self, held: bool = True) -> Iterator[None]:
        """Whether a signal waits for the end of this context."""
        self.raise_if_due()
        before, self._of_thread.held = self._is_held(), held
        try:
            self.raise_if_due()
            yield
        finally:
            self._of_thread.held = before
            self.raise_if_due()

    def _is_held(self) -> bool:
        return getattr(self._of_thread, "held", False)


_stop = _Stop()


def install_signal_handlers(raise_stopped: Callable[[int], BaseException]) -> None:
    """Turns SIGINT, SIGTERM and SIGHUP into an exception, once: later ones must not disturb the cleaning up. A SIGHUP
    that is ignored (nohup) stays so."""
    signals = [each for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
               if each != signal.SIGHUP or signal.getsignal(each) != signal.SIG_IGN]

    def handler(signum: int, _frame: object) -> None:
        for each in signals:
            signal.signal(each, signal.SIG_IGN)
        _stop.make = lambda: raise_stopped(signum)
        _stop.raise_if_due()

    for each in signals:
        signal.signal(each, handler)


def run(command: Sequence[str], *, cwd: Optional[Path] = None, environment: Optional[Mapping[str, str]] = None,
        timeout_s: Optional[float] = None, silence_s: Optional[float] = None, capture: bool = True,
        on_line: Optional[LineHandler] = None, job: bool = True, input_stays_open: bool = False,
        ending: leak_check.Ending = leak_check.Ending()) -> Result:
    """Runs `command` to its end and returns what happened; raises ToolError only when it cannot be started.

    `environment` is added to the present one. With `capture` false the output goes where ours goes. `on_line` sees
    each line of output as it arrives. The command is ended after `timeout_s`, and, when its output is captured, after
    `silence_s` without any. `job` false leaves daemons that the command starts alone (Bazel's server). With
    `input_stays_open` a command that gets no input of ours gets an empty one without an end, so that reading it waits.
    `ending` says how the command is ended before its time.
    """
    full_environment, marker = {**os.environ, **(environment or {})}, ""
    if job:
        full_environment, marker = leak_check.mark(full_environment)
    start = time.monotonic()
    survivors: list[str] = []
    with _stop.held_back(), leak_check.reaper(marker, ending) as watch_launcher:
        process = _start(command, cwd, full_environment, capture, input_stays_open)
        try:
            watch_launcher(process.pid)
            with _stop.held_back(False):
                output, timed_out = _collect(process, timeout_s, silence_s, on_line)
                if marker and not timed_out:
                    survivors = leak_check.surviving_processes(marker)
        finally:
            _end(process, marker, ending)
    status = TIMEOUT_STATUS if timed_out else _shell_status(process.returncode)
    return Result(tuple(command), status, output, time.monotonic() - start, timed_out, tuple(survivors))


def _start(command: Sequence[str], cwd: Optional[Path], environment: Mapping[str, str],
           capture: bool, input_stays_open: bool) -> "subprocess.Popen[bytes]":
    # A new session keeps a Ctrl-C at the terminal with us; the launcher then gets one orderly SIGTERM.
    if shutil.which(command[0], path=environment.get("PATH")) is None:
        raise ToolError(f"cannot run {command[0]}", where="it is not installed, or not executable",
                        next_step="run tools/armci setup")
    # The launcher reads ahead what we are given; only a job that the user started may have it.
    nothing = subprocess.PIPE if input_stays_open else subprocess.DEVNULL
    stdin = nothing if capture or _gives_nothing(0) else None
    try:
        return subprocess.Popen(list(command), cwd=cwd, env=dict(environment), start_new_session=True,
                                stdin=stdin, stdout=subprocess.PIPE if capture else None,
                                stderr=subprocess.STDOUT if capture else None)
    except OSError as error:
        raise ToolError(f"cannot run {command[0]}", where=str(error),
                        next_step="give a program that this machine can run") from error


def _gives_nothing(file: int) -> bool:
    try:
        # A terminal cannot be read from another session.
        return os.isatty(file) or os.fstat(file).st_rdev == os.stat(os.devnull).st_rdev
    except OSError:  # the file is closed
        return True


def _collect(process: "subprocess.Popen[bytes]", timeout_s: Optional[float], silence_s: Optional[float] = None,
             on_line: Optional[LineHandler] = None) -> tuple[str, bool]:
    """The output, and whether the time is up. Reads until the command itself has ended: a process it left behind may
    hold the pipe open."""
    last_output = start = time.monotonic()
    output, line = bytearray(), b""
    pipe = process.stdout
    if pipe is None:
        silence_s = None
    while True:
        _stop.raise_if_due()
        ended = process.poll() is not None
        data = _read_available(pipe, 0.0 if ended else _LOOK_EVERY_S) if pipe is not None else b""
        if data is None:
            pipe = None
        elif data:
            output += data
            last_output = time.monotonic()
            line = _hand_lines(line + data, on_line)
        elif ended:
            break
        elif pipe is None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_LOOK_EVERY_S)
        now = time.monotonic()
        if now - start > (timeout_s or math.inf) or now - last_output > (silence_s or math.inf):
            return output.decode("utf-8", "replace"), True
    if line and on_line:
        on_line(line.decode("utf-8", "replace"))
    return output.decode("utf-8", "replace"), False


def _read_available(pipe: IO[bytes], seconds: float) -> Optional[bytes]:
    """The bytes that come within the time, empty when none, None at the end of the file."""
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    return (os.read(pipe.fileno(), _READ_BYTES) or None) if poll.poll(seconds * 1000) else b""


def _hand_lines(data: bytes, on_line: Optional[LineHandler]) -> bytes:
    *lines, rest = data.split(b"\n")
    if on_line:
        for line in lines:
            on_line(line.decode("utf-8", "replace").rstrip("\r"))
    return rest


def _end(process: "subprocess.Popen[bytes]", marker: str, ending: leak_check.Ending) -> None:
    """Ends what is left: the launcher in good order first, so that it can tidy up, then the rest by process id."""
    if process.poll() is None:
        patience_s = ending.patience_s
        try:
            process.send_signal(ending.signum)
        except PermissionError:  # sudo: the keyboard alone may interrupt it
            patience_s = math.inf
        if patience_s == math.inf:
            print("armci: waiting for apt-get, which would leave broken packages if it were killed", file=sys.stderr)
        # A full pipe would hold it up.
        if _collect(process, patience_s)[1]:
            process.kill()
            process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    if marker:
        leak_check.kill_marked(marker)


def _shell_status(returncode: int) -> int:
    return 128 - returncode if returncode < 0 else returncode
