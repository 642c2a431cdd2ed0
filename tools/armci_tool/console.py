"""Progress lines and tables. Progress goes to stderr, results to stdout."""

from __future__ import annotations

import os
import sys
import threading
import time
from itertools import zip_longest
from typing import TYPE_CHECKING, Optional, Sequence, TextIO

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

FIRST_LINE_AFTER_S = 2.0
# Without a terminal each report is a line of a log, so they are rare.
LOG_INTERVAL_S = 30.0
REFRESHES_PER_S = 2
LINE_WIDTH = 110


def duration(seconds: float) -> str:
    """`0.4 s`, `37 s` or `3 min 05 s`."""
    if seconds < 100:
        return f"{seconds:.{1 if seconds < 10 else 0}f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60:02d} s"


class Progress:
    """Shows that a long step runs; silent when it ends within two seconds.

    Use as a context manager. `detail` may be set from any thread at any time. Several may run at once, nested or in
    threads: a terminal shows a line for each, and a log gets lines of each.
    """

    def __init__(self, label: str, stream: Optional[TextIO] = None) -> None:
        self.label = label
        self.detail = ""
        # Not sys.stderr: while a display is on, rich puts a stream there that denies to be a terminal.
        self._stream = stream or sys.__stderr__
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._report, daemon=True)
        self._start = 0.0

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.monotonic() - self._start

    def note(self, text: str) -> None:
        """Sets the detail: for callers that need a function to report to."""
        self.detail = text

    def line(self) -> str:
        """Label, time and detail."""
        text = f"  {self.label}: {duration(self.seconds)}" + (f", {self.detail}" if self.detail else "")
        return text[:LINE_WIDTH]

    def __enter__(self) -> "Progress":
        self._start = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _report(self) -> None:
        if self._done.wait(FIRST_LINE_AFTER_S):
            return
        if self._stream.isatty() and os.environ.get("TERM") != "dumb":
            _display.add(self, self._stream)
            self._done.wait()
            _display.remove(self)
            return
        while True:
            print(self.line(), file=self._stream, flush=True)
            if self._done.wait(LOG_INTERVAL_S):
                return


class _Display:
    """The lines at the bottom of the terminal, one for each Progress. What is printed meanwhile scrolls above them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shown: list[Progress] = []
        self._live: "Optional[Live]" = None

    def add(self, progress: Progress, stream: TextIO) -> None:
        """From now on it has a line."""
        from rich.console import Console
        from rich.live import Live
        with self._lock:
            self._shown.append(progress)
            if self._live is None:
                # Results that go to a file or a pipe do not pass through the display.
                self._live = Live(get_renderable=self._lines, console=Console(file=stream, force_terminal=True),
                                  transient=True, refresh_per_second=REFRESHES_PER_S,
                                  redirect_stdout=sys.stdout.isatty(), redirect_stderr=stream is sys.stderr)
                self._live.start(refresh=True)

    def remove(self, progress: Progress) -> None:
        """From now on it has no line."""
        with self._lock:
            self._shown.remove(progress)
            if not self._shown and self._live is not None:
                self._live.stop()
                self._live = None

    def _lines(self) -> "Text":
        from rich.text import Text
        return Text("\n".join(progress.line() for progress in list(self._shown)), no_wrap=True, overflow="ellipsis")


_display = _Display()


def table(header: Sequence[str], rows: Sequence[Sequence[str]], numeric_from: int = 1) -> str:
    """Columns padded to their widest cell; those from `numeric_from` on are aligned to the right."""
    widths = [max(map(len, column)) for column in zip_longest(header, *rows, fillvalue="")]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join("  ".join(f"{cell:{'>' if i >= numeric_from else '<'}{widths[i]}}" for i, cell in enumerate(line))
                     .rstrip() for line in lines)


def time_text(nanoseconds: float) -> str:
    """Three digits and a unit; `-` for what was not measured."""
    if nanoseconds <= 0:
        return "-"
    for unit, size in (("ns", 1.0), ("us", 1e3), ("ms", 1e6)):
        if nanoseconds < 1000 * size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds / 1e9:.3g} s"
