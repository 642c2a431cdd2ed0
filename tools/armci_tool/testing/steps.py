"""A step of `tools/armci test`: what it needs, what it does, and how it is repeated alone."""

from __future__ import annotations

import hashlib
import math
import os
import re
from dataclasses import dataclass
from enum import IntEnum
from typing import Callable, Optional, Sequence

from armci_tool.bazel import Configuration
from armci_tool.results import Case

Note = Callable[[str], None]
_SLUG_LENGTH = 120  # a file's name may have 255 bytes
ALL_CORES = math.inf
# Planned load for each core: a step often keeps fewer cores busy than it declares.
_OVERSUBSCRIPTION = 1.5
# The prefix of a target that is a query of labels.
QUERY = "query: "
# Gets the progress line to say what is running now.
StepFunction = Callable[[Note], Sequence[Case]]


class Level(IntEnum):
    """How much runs; each level has the steps of those before it."""

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
    # The targets that Bazel has to build before, and how: labels, or QUERY and an expression.
    targets: tuple[str, ...] = ()
    configuration: Optional[Configuration] = None
    # Files that change its result and that Bazel knows nothing of: paths or folders from the root.
    files: tuple[str, ...] = ()
    # Cores that the step keeps busy. Steps start while the sum stays below _OVERSUBSCRIPTION times the cores of the machine.
    cores: float = ALL_CORES
    # A resource that one running step at a time may use; empty: none.
    resource: str = ""
    # No other step runs beside this one, and no later step starts before it ends.
    alone: bool = False
    # This step builds for the other steps of its configuration.
    builds: bool = False

    def fits(self, running: Sequence["PlannedStep"]) -> bool:
        """Whether it may run beside these."""
        if any(step.alone or step.resource and step.resource == self.resource for step in running):
            return False
        cores = len(os.sched_getaffinity(0))
        return not running or sum(min(step.cores, cores) for step in (self, *running)) <= _OVERSUBSCRIPTION * cores

    def is_build_of(self, other: "PlannedStep") -> bool:
        """Whether the other step needs this one's end."""
        return self.builds and self.configuration == other.configuration

    def has_words(self, text: str) -> bool:
        """Whether the name contains the text at the beginning of a word: `form` is in `form of the sources`, not in `conformance`."""
        return re.search((r"\b" if text[:1].isalnum() else "") + re.escape(text), self.name) is not None

    @property
    def slug(self) -> str:
        """For the name of its log."""
        slug = re.sub(r"[^\w.+-]+", "-", self.name).strip("-")
        if len(slug) <= _SLUG_LENGTH:
            return slug
        # A step's name lists its settings, and has no longest length.
        return f"{slug[:_SLUG_LENGTH]}-{hashlib.sha256(slug.encode()).hexdigest()[:8]}"
