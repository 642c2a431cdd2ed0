"""The two ways a command ends early: an error the user can act on, and a signal."""

from __future__ import annotations

import signal


class ToolError(Exception):
    """Something the user can mend: what happened, where, and what to do next."""

    def __init__(self, what: str, *, where: str = "", next_step: str = "", status: int = 2) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.next_step = next_step
        self.status = status

    def render(self) -> str:
        """The text for stderr, one line per part that is known."""
        lines = [f"armci: {self.what}"]
        if self.where:
            lines.append("  where: " + self.where.strip().replace("\n", "\n         "))
        if self.next_step:
            lines.append(f"  next: {self.next_step}")
        return "\n".join(lines)


class Stopped(BaseException):
    """A termination signal arrived; running jobs are ended on the way out."""

    def __init__(self, signum: int) -> None:
        super().__init__(signum)
        self.signum = signum

    @property
    def status(self) -> int:
        """The exit status a shell reports for a process that died of the signal."""
        return 128 + self.signum

    def render(self) -> str:
        """The text for stderr."""
        return f"armci: stopped by {signal.Signals(self.signum).name}; its jobs have been ended"
