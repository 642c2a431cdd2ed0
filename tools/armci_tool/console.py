"""Progress lines and tables. Progress goes to stderr, results to stdout."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Optional, Sequence, TextIO, Type

FIRST_LINE_AFTER_S = 2.0
# Without a terminal each report is a line of a log, so they are rare.
TERMINAL_INTERVAL_S = 0.5
LOG_INTERVAL_S = 30.0
LINE_WIDTH = 110


def duration(seconds: float) -> str:
    """`0.4 s`, `37 s` or `3 min 05 s`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60:02d} s"


class Progress:
    """Shows that something long is under way; silent when it ends within two seconds.

    Use as a context manager. `detail` may be set from any thread at any time.
    """

    def __init__(self, label: str, stream: Optional[TextIO] = None) -> None:
        self.label = label
        self.detail = ""
        self._stream = stream if stream is not None else sys.stderr
        self._terminal = self._stream.isatty()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._report, daemon=True)
        self._start = 0.0

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.monotonic() - self._start

    def note(self, text: str) -> None:
        """Sets the detail: for those that want a function to tell."""
        self.detail = text

    def __enter__(self) -> "Progress":
        self._start = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self._done.set()
        self._thread.join()

    def _report(self) -> None:
        if self._done.wait(FIRST_LINE_AFTER_S):
            return
        interval = TERMINAL_INTERVAL_S if self._terminal else LOG_INTERVAL_S
        while True:
            self._write_line()
            if self._done.wait(interval):
                break
        if self._terminal:
            self._stream.write("\r\033[K")
            self._stream.flush()

    def _write_line(self) -> None:
        text = f"  {self.label}: {duration(self.seconds)}"
        if self.detail:
            text += f", {self.detail}"
        text = text[:LINE_WIDTH]
        self._stream.write(f"\r\033[K{text}" if self._terminal else text + "\n")
        self._stream.flush()


def table(header: Sequence[str], rows: Sequence[Sequence[str]], numeric_from: int = 1) -> str:
    """Columns padded to their widest cell; those from `numeric_from` on are aligned to the right."""
    lines = [list(header)] + [list(row) for row in rows]
    widths = [max(len(line[column]) if column < len(line) else 0 for line in lines) for column in range(len(header))]
    rendered = []
    for number, line in enumerate(lines):
        cells = [cell.rjust(widths[i]) if i >= numeric_from else cell.ljust(widths[i]) for i, cell in enumerate(line)]
        rendered.append("  ".join(cells).rstrip())
        if number == 0:
            rendered.append("  ".join("-" * width for width in widths))
    return "\n".join(rendered)


def time_text(nanoseconds: float) -> str:
    """Three digits and a unit; `-` for what was not measured."""
    if nanoseconds <= 0:
        return "-"
    for unit, size in (("ns", 1.0), ("us", 1e3), ("ms", 1e6)):
        if nanoseconds < 1000 * size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds / 1e9:.3g} s"
