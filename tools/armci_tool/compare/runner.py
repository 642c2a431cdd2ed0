"""Runs a plan: each round runs every benchmark, and each benchmark runs the candidates in turns. The course records a
candidate that fails or hangs, and goes on."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Sequence

from armci_tool import bench, process
from armci_tool.compare import plan as planning
from armci_tool.compare.candidates import Candidate
from armci_tool.compare.plan import Entry, Plan
from armci_tool.errors import Stopped

# Of a program, beyond the requested time.
DEADLINE_S = 180.0
# A benchmark excludes a candidate that fails so often, or hangs once.
FAILURES_MOST = 2
LAST_LINES = 12
# Frames of a stack that the MPI library prints, and its rules: they would push out what was said.
_DECORATION = re.compile(r"^(\[[^]]*:\d+\] (\[ ?\d+\] .*|\*\*\* End of error message \*\*\*)|-{20,})$")
# Of what a program may take in a box: without a new case for so long it stands still.
_STANDSTILL = 0.5
# Of samples: more is below the resolution of a clock.
_DIGITS = 5

# The function that a library of another repository lacks (bench/session/missing.cc).
_MISSING = re.compile(r"bench: the library has no (\w+)")

RunProgram = Callable[..., bench.BenchRun]
# Of a program: its library, its benchmark and its number of processes.
Key = tuple[str, str, int]


@dataclass(frozen=True)
class Failure:
    """A program that ended with no result, or could not be built."""

    candidate: str
    benchmark: str
    processes: int
    round: int
    what: str
    last_lines: tuple[str, ...]
    seconds: float = 0.0

    @property
    def title(self) -> str:
        """For a line of its own."""
        when = f", {self.processes} processes, round {self.round + 1}" if self.processes else ""
        return f"{self.candidate}: {self.benchmark}{when}: {self.what}"


@dataclass
class Course:
    """The results of a plan."""

    runs: list[dict[str, Any]] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    rounds: int = 0
    seconds: float = 0.0
    left_out: list[str] = field(default_factory=list)
    stopped: Optional[Stopped] = None  # by a signal


def run(plan: Plan, programs: Mapping[tuple[str, str], Path], mpi: str, words: Sequence[str], note: Callable[[str], None],
        run_program: RunProgram = bench.run_program) -> Course:
    """Goes through the rounds; `words` are for the programs. Beyond the least, only what will fit into the box, if it takes
    as long as the one before. A signal ends it with the results so far, in `stopped`."""
    course = Course()
    try:
        _rounds(course, plan, programs, mpi, words, note, run_program)
    except Stopped as stopped:
        if not course.runs:
            raise
        course.stopped = stopped
        course.left_out.append(f"stopped in round {course.rounds + 1}: what comes later was not measured")
    return course


def _rounds(course: Course, plan: Plan, programs: Mapping[tuple[str, str], Path], mpi: str, words: Sequence[str],
            note: Callable[[str], None], run_program: RunProgram) -> None:
    start = time.monotonic()
    excluded: dict[Key, int] = {}
    for turn in range(plan.rounds):
        before = course.seconds
        for number, entry in enumerate(plan.entries):
            for one in planning.order(entry.candidates, turn):
                key = (one.name, entry.question.name, entry.processes)
                binary = programs.get(key[:2])
                if binary is None or excluded.get(key, 0) >= FAILURES_MOST:
                    continue
                note(f"round {turn + 1} of {plan.rounds}, benchmark {number + 1} of {len(plan.entries)}: "
                     f"{entry.question.name} with {one.name}{_left(start, turn, number, plan)}")
                program = bench.Program(entry.question.name, binary, mpi, entry.processes, entry.placement)
                failed = _run_one(course, plan, entry, one, turn, program, words, run_program)
                if failed is not None:
                    excluded[key] = excluded.get(key, 0) + (FAILURES_MOST if failed == process.TIMEOUT_STATUS else 1)
        course.rounds, course.seconds = turn + 1, time.monotonic() - start
        if turn == 0:
            for key in _too_long(course, plan):
                excluded[key] = FAILURES_MOST
                course.left_out.append(_left_out_text(key, course))
        if plan.box_s and course.rounds >= plan.rounds_least and 2 * course.seconds - before > plan.box_s:
            break


def _run_one(course: Course, plan: Plan, entry: Entry, one: Candidate, turn: int, program: bench.Program,
             words: Sequence[str], run_program: RunProgram) -> Optional[int]:
    """Returns the status if it failed. Wrong data is no result, however fast."""
    arguments = [*words, *["--quick"] * entry.quick, "--seconds", f"{plan.seconds:g}", "--seed", str(turn + 1)]
    begun = time.monotonic()
    limit, bound = DEADLINE_S + 10 * plan.seconds, plan.bound_s(entry)
    silence = bench.SILENCE_S + plan.seconds
    if bound is not None:
        # As it is, also where other limits are longer.
        limit = min(limit, bound / entry.placement.deadline_factor)
        # The limit on silence separates a hang from a slow candidate; a case of a kernel is a whole computation.
        silence = silence if entry.question.is_kernel else min(silence, limit * _STANDSTILL)
    ended = run_program(program, arguments, timeout_s=limit, silence_s=silence)
    if ended.out_of_time and bound is not None:
        course.left_out.append(f"{one.name}: {program.name} ({program.processes} processes) was left out: too slow for the "
                               f"time box; {last_lines(ended.text)[-1].removeprefix('bench: ')}; give --rounds to wait for it")
        # Its earlier rounds do not count, unless there is nothing else.
        left_out = (one.name, program.name, program.processes)
        course.runs = [run for run in course.runs
                       if (run["contestant"], run["benchmark"], run["processes"]) != left_out] or course.runs
        return ended.status
    if ended.status != 0 and (missing := _MISSING.search(ended.text)):
        course.left_out.append(f"{one.name}: {program.name} was left out: the library has no {missing.group(1)}")
        return process.TIMEOUT_STATUS  # so the runner starts it no more
    if ended.status != 0 or ended.data is None:
        course.failures.append(Failure(one.name, program.name, program.processes, turn, _fate(ended),
                                       last_lines(ended.text), time.monotonic() - begun))
        return ended.status or 1
    course.runs.append({
        "round": turn, "benchmark": program.name, "contestant": one.name, "placement": entry.placement.label,
        "processes": int(ended.data.get("ranks", program.processes)), "kernel": entry.question.is_kernel,
        "started_s": round(begun, 3), "seconds": round(time.monotonic() - begun, 3), "data": _trimmed(ended.data)})
    return None


def last_lines(text: str) -> tuple[str, ...]:
    """Of what a program said."""
    return tuple(line for line in text.splitlines() if line.strip() and not _DECORATION.match(line))[-LAST_LINES:]


def _fate(ended: bench.BenchRun) -> str:
    if ended.status == process.TIMEOUT_STATUS:
        return "took too long" if ended.out_of_time else "hung"
    return f"ended with status {ended.status}" if ended.status else "wrote no result"


def _trimmed(data: Mapping[str, Any]) -> dict[str, Any]:
    """The report of a program, without values that can be computed from it, or are there once more for its target."""
    kept = {key: data[key] for key in data if key not in ("cases", "question", "schema", "benchmark", "ranks")}
    kept["cases"] = [{**_only(case, "name", "size", "bytes", "value", "core_wait_share"), "series": [
        {**_only(series, "name", "role", "layer", "iterations", "dropped"),
         "samples_ns": [float(f"{sample:.{_DIGITS}g}") for sample in series["samples_ns"]]}
        for series in case.get("series", [])]} for case in data["cases"] if not case.get("is_repeated")]
    return kept


def _only(table: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: table[key] for key in keys if key in table}


def _too_long(course: Course, plan: Plan) -> list[Key]:
    """After the first round, where the least rounds do not fit into the box: the programs that take longest."""
    again = {key: (plan.rounds_least - 1) * seconds for key, seconds in _seconds(course).items()}
    expected = course.seconds + sum(again.values())
    found: list[Key] = []
    for key in sorted(again, key=lambda key: -again[key])[:-1]:
        if not plan.box_s or expected <= plan.box_s:
            break
        found.append(key)
        expected -= again[key]
    return found


def _seconds(course: Course) -> dict[Key, float]:
    """The time of each program with a result, in the first round."""
    return {(run["contestant"], run["benchmark"], run["processes"]): float(run["seconds"]) for run in course.runs}


def _left_out_text(key: Key, course: Course) -> str:
    name, benchmark, processes = key
    return (f"{name}: {benchmark} ({processes} processes) was left out after the first round, which took "
            f"{_seconds(course)[key]:.0f} s of it: give --rounds to wait for it")


def _left(start: float, turn: int, number: int, plan: Plan) -> str:
    """How long it may still take, once enough has run for an estimate."""
    done = turn + number / len(plan.entries)
    if done < 0.3:
        return ""
    passed = time.monotonic() - start
    left, least = [passed * (rounds - done) / done for rounds in (plan.rounds, plan.rounds_least)]
    if plan.box_s:
        left = min(left, max(least, plan.box_s - passed))
    return f", about {left:.0f} s left"
