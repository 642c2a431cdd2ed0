"""Runs one case of the fault programs under MPI and finds out everything it left behind.

A job is judged by four things: its exit status, the lines it printed, the time from the fault to its end, and what
remains: processes (found by a marker in their environment, in any session) and files.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Callable, Mapping, Optional, Sequence

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from armci_tool import leak_check  # noqa: E402  (needs the path set above)
from armci_tool.launch import Launch  # noqa: E402
from armci_tool.placement import Placement  # noqa: E402

# The launcher has this long to tidy up.
_GRACE_S = 5.0

# The wrapper of each rank: stderr goes to a file of the job, because a launcher may throw away what an aborting
# process wrote last. Appending keeps the lines of all ranks.
RANK_SHELL = 'exec "$0" "$@" 2>>"$FAULT_STDERR"'
DEADLINE_S = 90.0


@dataclass(frozen=True)
class Outcome:
    """The end of a job; `seconds` counts from the last fault (a signal sent), or from the start."""

    command: tuple[str, ...]
    status: Optional[int]  # None: it had to be ended by the test
    stdout: tuple[str, ...]
    stderr: tuple[str, ...]  # of the ranks, then of the launcher
    seconds: float
    survivors: tuple[int, ...]

    def lines(self, beginning: str) -> list[str]:
        """The lines of stdout that begin so, in no particular order."""
        return sorted(line for line in self.stdout if line.startswith(beginning))

    def library_lines(self, containing: str = "") -> list[str]:
        """The lines of the library on stderr."""
        return [line for line in self.stderr if line.startswith("armci: ") and containing in line]

    def describe(self) -> str:
        """For the message of a failed assertion."""
        return "\n".join([" ".join(self.command), f"status {self.status} after {self.seconds:.1f} s, "
                          f"survivors {list(self.survivors)}", "--- stdout", *self.stdout, "--- stderr", *self.stderr])


@dataclass
class Pipe:
    """Lines of a pipe, collected by a thread."""

    lines: list[str] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def collect(self, stream: IO[str]) -> threading.Thread:
        """Starts reading."""
        def read() -> None:
            for line in stream:
                with self.changed:
                    self.lines.append(line.rstrip("\n"))
                    self.changed.notify_all()
        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        return thread


class Job:
    """A running job. Use as a context: nothing of it is left at the end of the block, after an exception too."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.command = tuple(command)
        self.stdout, self.stderr = Pipe(), Pipe()
        prefix = ["setpriv", "--pdeathsig", "TERM", "--"] if shutil.which("setpriv") else []
        self.rank_stderr = tempfile.NamedTemporaryFile(prefix="armci-fault-", suffix=".stderr")
        full, self.marker = leak_check.mark({**os.environ, **environment, "FAULT_STDERR": self.rank_stderr.name})
        self.since = time.monotonic()
        self.process = subprocess.Popen([*prefix, *command], env=full, stdin=subprocess.DEVNULL, text=True,
                                        errors="replace", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        start_new_session=True)
        assert self.process.stdout and self.process.stderr
        self.readers = [self.stdout.collect(self.process.stdout), self.stderr.collect(self.process.stderr)]

    def __enter__(self) -> "Job":
        return self

    def __exit__(self, *_: object) -> None:
        # A launcher that is killed leaves the shared memory of its MPI library behind.
        if self.process.poll() is None:
            self.process.terminate()
            leak_check.wait_for_end(self.process.pid, _GRACE_S)
        leak_check.kill_marked(self.marker)
        self.process.wait()
        self.rank_stderr.close()

    def ready_processes(self, count: int) -> dict[int, int]:
        """Waits until `count` ranks have said READY; their process ids by rank."""
        deadline = time.monotonic() + DEADLINE_S
        with self.stdout.changed:
            while True:
                ready = [line.split() for line in self.stdout.lines if line.startswith("READY ")]
                if len(ready) >= count:
                    return {int(rank): int(pid) for _, rank, pid in ready}
                remaining = deadline - time.monotonic()
                if remaining <= 0 or self.process.poll() is not None:
                    raise AssertionError("the job did not get ready\n" + self._outcome(self.process.poll()).describe())
                # Wakes up now and then to notice that the job has ended without another line.
                self.stdout.changed.wait(min(remaining, 1.0))

    def rank_line(self, pattern: str, ask: Callable[[], None] = lambda: None) -> str:
        """Waits for a line of a rank's stderr in which the pattern is found; `ask` is called before each look."""
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline and self.process.poll() is None:
            ask()
            time.sleep(0.1)  # between two looks at a file
            for line in self._rank_lines():
                if re.search(pattern, line):
                    return line
        raise AssertionError(f"no line has {pattern}\n" + self._outcome(self.process.poll()).describe())

    def send(self, pid: int, number: signal.Signals) -> None:
        """Sends a signal; the time of the outcome counts from here."""
        self.since = time.monotonic()
        os.kill(pid, number)

    def finish(self, within_s: float = DEADLINE_S) -> Outcome:
        """Waits for the end of the launcher and of every process of the job, together at most `within_s`."""
        deadline = self.since + within_s
        status: Optional[int] = None
        try:
            status = self.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            pass
        while status is not None and (pids := self.survivors()) and time.monotonic() < deadline:
            leak_check.wait_for_end(pids[0], deadline - time.monotonic())
        for reader in self.readers:
            reader.join(max(0.1, deadline - time.monotonic()) if status is not None else 0.1)
        return self._outcome(status)

    def _rank_lines(self) -> list[str]:
        self.rank_stderr.seek(0)
        return self.rank_stderr.read().decode("utf-8", "replace").splitlines()

    def _outcome(self, status: Optional[int]) -> Outcome:
        return Outcome(self.command, status, tuple(self.stdout.lines), (*self._rank_lines(), *self.stderr.lines),
                       time.monotonic() - self.since, tuple(self.survivors()))

    def survivors(self) -> list[int]:
        """Processes of the job that are alive, the launcher included."""
        return leak_check.marked_processes(self.marker)


@dataclass(frozen=True)
class Program:
    """The fault programs of one implementation, on one MPI library."""

    binary: Path
    mpi: str

    def launch(self, case: Sequence[str], processes: int, environment: Mapping[str, str],
               placement: Placement = Placement()) -> Launch:
        """The launch of a case."""
        return Launch(("sh", "-c", RANK_SHELL, str(self.binary), *case), processes, self.mpi, environment,
                      placement=placement)

    def command(self, case: Sequence[str], processes: int, environment: Mapping[str, str]) -> list[str]:
        """The launch line of a case."""
        return self.launch(case, processes, environment).command_line()

    def start(self, *case: object, processes: int = 3, environment: Optional[Mapping[str, str]] = None,
              placement: Placement = Placement()) -> Job:
        """Starts a case."""
        job = self.launch([str(word) for word in case], processes, environment or {}, placement)
        return Job(job.command_line(), job.settings())

    def run(self, *case: object, processes: int = 3, environment: Optional[Mapping[str, str]] = None,
            within_s: float = DEADLINE_S, placement: Placement = Placement()) -> Outcome:
        """Runs a case to its end."""
        with self.start(*case, processes=processes, environment=environment, placement=placement) as job:
            return job.finish(within_s)
