"""Progress lines: silent at first, one for each step that runs, in a log and on a terminal."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from armci_tool import console

# Two steps at once, the second inside the first and in a thread; a result is printed meanwhile.
_PROGRAM = """
import threading, time
from armci_tool import console
console.FIRST_LINE_AFTER_S = 0.1
over = threading.Event()
def step(label):
    with console.Progress(label) as progress:
        progress.note("detail of " + label)
        over.wait()
with console.Progress("outer"):
    threads = [threading.Thread(target=step, args=(label,)) for label in ("one", "two")]
    for thread in threads: thread.start()
    while len(console._display._shown) < 3 or console._display._live is None: time.sleep(0.01)
    time.sleep(1.5)
    print("a result [with] brackets")
    over.set()
    for thread in threads: thread.join()
print("the end")
"""
_ROOT = str(Path(console.__file__).resolve().parents[1])


def on_terminal(stdout_is_terminal: bool) -> tuple[str, str]:
    """The output of the program on the terminal, and on a pipe if its stdout is one."""
    master, slave = pty.openpty()
    process = subprocess.Popen([sys.executable, "-B", "-c", _PROGRAM], stdin=slave, stderr=slave,
                               stdout=slave if stdout_is_terminal else subprocess.PIPE,
                               env={**os.environ, "PYTHONPATH": _ROOT, "TERM": "xterm", "COLUMNS": "100"})
    os.close(slave)
    written = b""
    try:
        while data := os.read(master, 4096):
            written += data
    except OSError:  # the other end is closed
        pass
    os.close(master)
    piped = process.communicate()[0]
    assert process.returncode == 0
    return written.decode(), (piped or b"").decode()


def test_a_short_step_says_nothing() -> None:
    stream = io.StringIO()
    with console.Progress("short", stream):
        pass
    assert stream.getvalue() == ""


def test_a_log_has_lines_of_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "FIRST_LINE_AFTER_S", 0.02)
    monkeypatch.setattr(console, "LOG_INTERVAL_S", 0.05)
    stream = io.StringIO()

    def step(label: str) -> None:
        with console.Progress(label, stream) as progress:
            progress.note("x" * 200)
            time.sleep(0.5)

    threads = [threading.Thread(target=step, args=(label,)) for label in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = stream.getvalue().splitlines()
    assert all(re.match(r"  (one|two): 0\.\d s, x+$", line) for line in lines), lines
    assert {len(line) for line in lines} == {console.LINE_WIDTH}
    assert min(sum(label in line for line in lines) for label in ("one", "two")) >= 2


@pytest.mark.parametrize("stdout_is_terminal", [True, False])
def test_a_terminal_shows_all_steps_at_once_and_none_at_the_end(stdout_is_terminal: bool) -> None:
    written, piped = on_terminal(stdout_is_terminal)
    for line in (r"  outer: [\d.]+ s", r"  one: [\d.]+ s, detail of one", r"  two: [\d.]+ s, detail of two"):
        assert re.search(line, written), written
    results = (written if stdout_is_terminal else piped).replace("\r", "")
    assert "a result [with] brackets\n" in results and results.rstrip().endswith("the end")
    assert stdout_is_terminal or piped == "a result [with] brackets\nthe end\n"
    # The last thing that is done to the lines is to remove them.
    last = max(written.rfind(label) for label in ("outer:", "one:", "two:"))
    assert "\x1b[2K" in written[last:]
