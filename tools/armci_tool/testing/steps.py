"""A step of `tools/armci test`: what it needs, what it does, and how it is repeated alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import Callable, Optional, Sequence

from armci_tool.bazel import Configuration
from armci_tool.results import Case

Note = Callable[[str], None]
# What a target begins with that is a query of labels.
QUERY = "query: "
# Gets the progress line to say what is running now.
StepFunction = Callable[[Note], Sequence[Case]]


class Level(IntEnum):
    """How much is asked for; each level has the steps of those before it."""

    QUICK = 0  # while working
    USUAL = 1  # before a change lands
    FULL = 2  # every combination


@dataclass(frozen=True)
class PlannedStep:
    """A step before it runs."""

    name: str
    function: StepFunction
    rerun: str
    level: Level = Level.USUAL
    # What Bazel has to build before, and how: labels, or QUERY and an expression.
    targets: tuple[str, ...] = ()
    configuration: Optional[Configuration] = None
    # Files that change its result and that Bazel knows nothing of: paths or folders from the root.
    files: tuple[str, ...] = ()
    # It waits, or computes on one core: another step may run at the same time.
    waits: bool = False
    # Nothing runs beside it, and nothing after it starts before its end.
    alone: bool = False

    # It builds for the others of its configuration.
    builds: bool = False

    def is_build_of(self, other: "PlannedStep") -> bool:
        """Whether the other step needs this one's end."""
        return self.builds and self.configuration == other.configuration

    @property
    def slug(self) -> str:
        """For the name of its log."""
        return re.sub(r"[^\w.+-]+", "-", self.name).strip("-")
