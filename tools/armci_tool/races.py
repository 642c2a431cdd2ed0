"""The benchmark of the detector of data races: pairs of programs, one with a race and one without (conformance/race).

A job runs them all. The program prints the name of each before it starts, and the library the number of races at its end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Callable, Sequence

from armci_tool import bazel, console, launch, programs
from armci_tool.errors import ToolError
from armci_tool.placement import Placement
from armci_tool.results import FAILED, PASSED, Case

LABEL = "//conformance/race:race_pairs"
PROCESSES = 3
TIMEOUT_S = 600
# The least share of the programs with a race that are found, and of the findings that are right.
GOAL = 0.98
_PROGRAM = re.compile(r"program: (race|free): (.*)")
_END = re.compile(r"armci: data races: (\d+)")


@dataclass(frozen=True)
class Verdict:
    """The answer of the detector for one program."""

    name: str
    has_race: bool
    found: int
    said: str = ""

    @property
    def right(self) -> bool:
        """Whether it is so."""
        return self.has_race == (self.found > 0)


def label(implementation: str) -> str:
    """The program, linked with an implementation."""
    return programs.implementation_label(LABEL, implementation)


def read(lines: Sequence[str]) -> list[Verdict]:
    """The verdicts, in the order of the programs."""
    verdicts: list[Verdict] = []
    name, has_race = "", False
    said: list[str] = []
    for line in lines:
        if begun := _PROGRAM.search(line):
            has_race, name, said = begun[1] == "race", begun[2], []
        elif (ended := _END.search(line)) and name:
            verdicts.append(Verdict(name, has_race, int(ended[1]), "\n".join(said)))
            name = ""
        else:
            said.append(line)
    if name:
        raise ToolError(f"the program {name!r} did not end", where="\n".join(said[-10:]), next_step=f"run {LABEL} with ARMCI_CHECK=race")
    return verdicts


def examine(implementation: str, configuration: bazel.Configuration, placement: Placement, note: Callable[[str], None],
            text: str = "") -> list[Verdict]:
    """Runs the built program. Raises ToolError if the job fails."""
    binary = bazel.binary(label(implementation), configuration)
    environment = {**configuration.environment(), "ARMCI_CHECK": "race"}
    job = launch.Launch((str(binary), *([text] if text else [])), PROCESSES, configuration.mpi, environment, placement=placement)
    done = launch.start(job, timeout_s=TIMEOUT_S, on_line=note)
    if not done.ok:
        raise ToolError(f"the job of the pairs ended with status {done.status}", where=done.tail(20),
                        next_step=f"repeat it: tools/armci races --impl {implementation}")
    verdicts = read(done.output.splitlines())
    if not verdicts:
        raise ToolError(f"no pair has {text!r} in its name", next_step="leave --filter out")
    return verdicts


@dataclass(frozen=True)
class Score:
    """How many programs of each kind there were, and what was said of them."""

    found: int
    missed: int
    false: int

    @property
    def recall(self) -> float:
        """The share of programs with a race that were found."""
        return self.found / (self.found + self.missed) if self.found + self.missed else 1.0

    @property
    def precision(self) -> float:
        """The share of findings that are right."""
        return self.found / (self.found + self.false) if self.found + self.false else 1.0


def score(verdicts: Sequence[Verdict]) -> Score:
    """Of all verdicts."""
    return Score(sum(each.has_race and each.right for each in verdicts), sum(each.has_race and not each.right for each in verdicts),
                 sum(not each.has_race and not each.right for each in verdicts))


def render(scores: Sequence[tuple[str, Score]]) -> str:
    """A row for each run."""
    rows = [[title, str(each.found), str(each.missed), str(each.false), f"{each.precision:.3f}", f"{each.recall:.3f}"]
            for title, each in scores]
    return console.table(["run", "races found", "missed", "false", "precision", "recall"], rows, numeric_from=1)


def cases(verdicts: Sequence[Verdict]) -> list[Case]:
    """A case for each program."""
    return [Case(f"{'race' if each.has_race else 'free'}: {each.name}", PASSED if each.right else FAILED,
                 detail="" if each.right else "the race was not found" if each.has_race else each.said) for each in verdicts]
