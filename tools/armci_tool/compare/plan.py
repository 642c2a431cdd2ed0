"""The plan of a comparison: candidates, benchmarks, rounds and seconds, chosen so that the comparison ends in time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Callable, Optional, Sequence

from armci_tool import bench
from armci_tool.compare.candidates import VERBS, Candidate
from armci_tool.console import duration
from armci_tool.errors import ToolError
from armci_tool.placement import Placement

# All rounds of a comparison, unless the user says how often and how long. With programs that are built, the command ends
# within five minutes.
BOX_S = 255.0
QUICK_BOX_S = 120.0
# An interval needs the least; more are for what is left of the box.
ROUNDS_LEAST, ROUNDS = 3, 5
# Of a program in a round; every case gets its least anyway.
SECONDS_LEAST, SECONDS_MOST = 0.3, 4.0
# The other time of a job, by the kind of place.
_START_S = {"machine": 1.0, "simulated": 1.2, "nodes": 3.5}
_GUEST_START_S = 12.0
# A program is too slow for the box if it alone takes a sixth of a round, and a few times what was planned.
_SLOW_PROGRAMS, _SLOW_TIMES = 6, 4.0

# Without names, besides all kernels: what most programs do, and what the guidelines are about.
DEFAULT_BENCHMARKS = ("transfers", "patches", "aggregates", "contention", "barrier")
# With more than two processes.
WITH_MORE = ("fence_all",)


Quick = Callable[[bench.Question], bool]


@dataclass(frozen=True)
class Entry:
    """A benchmark in a place, and its candidates."""

    question: bench.Question
    processes: int
    placement: Placement
    candidates: tuple[Candidate, ...]
    quick: bool = False  # with fewer cases


@dataclass(frozen=True)
class Plan:
    """The programs to run. With a box, rounds beyond the least are for what is left of it."""

    entries: tuple[Entry, ...]
    rounds: int
    seconds: float
    quick: bool = False
    box_s: Optional[float] = None

    @property
    def rounds_least(self) -> int:
        """Those that are run however long they take."""
        return self.rounds if self.box_s is None else min(ROUNDS_LEAST, self.rounds)

    @property
    def round_s(self) -> float:
        """The time of a round, estimated before it starts."""
        return sum(len(entry.candidates) * self.planned_s(entry) for entry in self.entries)

    @property
    def estimate_s(self) -> float:
        """The same of all."""
        most = self.rounds * self.round_s
        return most if self.box_s is None else min(self.box_s, most)

    @property
    def text(self) -> str:
        """For the first line."""
        names = list(dict.fromkeys(one.name for entry in self.entries for one in entry.candidates))
        counts = sorted({entry.processes for entry in self.entries})
        place = self.entries[0].placement.label
        rounds = f"{self.rounds_least} to {self.rounds}" if self.rounds_least < self.rounds else str(self.rounds)
        return (f"plan: {', '.join(names)}; {len({entry.question.name for entry in self.entries})} benchmarks, "
                f"{' and '.join(map(str, counts))} processes{', ' + place if place else ''}; {rounds} rounds of "
                f"{self.seconds:.1f} s for each program{', with fewer cases' if self.quick else ''}: about "
                f"{duration(self.estimate_s)}")

    def planned_s(self, entry: Entry) -> float:
        """The estimated time of one of its programs."""
        return start_s(entry.placement) + self.seconds

    def bound_s(self, entry: Entry) -> Optional[float]:
        """The time limit of one of its programs; None where there is no box."""
        if self.box_s is None:
            return None
        return max(self.box_s / (ROUNDS_LEAST * _SLOW_PROGRAMS), _SLOW_TIMES * self.planned_s(entry))


def start_s(where: Placement) -> float:
    """The time of a job before and after the measurement."""
    return _GUEST_START_S if where.guest else _START_S[where.kind]


def choose(names: Sequence[str], between_nodes: bool, rdma: bool,
           counts: Sequence[int] = (bench.DEFAULT_PROCESSES,)) -> list[bench.Question]:
    """The benchmarks named, else those of a usual comparison that can be run there on so many processes."""
    if names:
        chosen = bench.choose(names, between_nodes, VERBS if rdma else "")
        for question in chosen:
            if between_nodes and not question.between_nodes:
                raise ToolError(f"{question.name} needs all processes on one node",
                                next_step="leave it out, or compare on one node")
        return chosen
    known = bench.questions()
    first = [*DEFAULT_BENCHMARKS, *(WITH_MORE if max(counts) > bench.DEFAULT_PROCESSES else ())]
    usual = [question for name in first for question in known if question.name == name]
    usual += [question for question in known if question.is_kernel]
    return [question for question in usual if question.device == "" and (question.between_nodes or not between_nodes)]


def entries(questions: Sequence[bench.Question], counts: Sequence[int], where: Placement, rdma: bool,
            candidates: Sequence[Candidate], quick: Quick = lambda question: False) -> tuple[Entry, ...]:
    """Each benchmark at each number of processes that it takes, or at the least that it needs."""
    made: dict[tuple[str, int], Entry] = {}
    for count in counts:
        for question in questions:
            processes = question.processes(count)
            taking = tuple(one for one in candidates if one.takes(question))
            if taking and question.takes(processes):
                place = bench.place(question, where, VERBS) if rdma else where
                made.setdefault((question.name, processes), Entry(question, processes, place, taking, quick(question)))
    if not made:
        raise ToolError("no candidate takes part in any of the benchmarks",
                        where="; ".join(left_out(questions, counts)) or ", ".join(one.name for one in questions),
                        next_step="name others, or see tools/armci compare --help")
    return tuple(made.values())


def left_out(questions: Sequence[bench.Question], counts: Sequence[int]) -> list[str]:
    """Benchmarks that are not measured on some of the numbers of processes, for a reader."""
    return [f"{question.name} takes powers of two: not measured on {count} processes"
            for count in counts for question in questions if not question.takes(question.processes(count))]


def make(what: tuple[Entry, ...], quick: bool = False, rounds: Optional[int] = None,
         seconds: Optional[float] = None) -> Plan:
    """So long that the least rounds fit into the time, with fewer cases where they do not; what the user says is done."""
    box = QUICK_BOX_S if quick else BOX_S
    given = seconds if seconds is not None else _seconds_that_fit(what, rounds or ROUNDS_LEAST, box)
    made = Plan(what, rounds or ROUNDS, given, quick, None if rounds else box)
    if rounds or made.rounds_least * made.round_s <= box:
        return made
    return replace(made, entries=tuple(replace(entry, quick=True) for entry in what), quick=True)


def order(candidates: Sequence[Candidate], turn: int) -> list[Candidate]:
    """Of a round. Each is the first in its turn, and the direction changes, as one may find the machine as the one
    before has left it."""
    first = turn % len(candidates)
    turned = [*candidates[first:], *candidates[:first]]
    return turned if turn % 2 == 0 else [turned[0], *reversed(turned[1:])]


def _seconds_that_fit(what: Sequence[Entry], rounds: int, box: float) -> float:
    runs = sum(len(entry.candidates) for entry in what)
    starts = sum(len(entry.candidates) * start_s(entry.placement) for entry in what)
    return min(SECONDS_MOST, max(SECONDS_LEAST, (box / rounds - starts) / runs))
