"""Guesses which calls of a recorded test show its failure, and how a program can tell: the likeliest first.

Each guess is tried on the library, so a wrong one costs time and no more.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import Iterator, Optional, Sequence

from armci_tool.reproducers import slices
from armci_tool.reproducers.program import Judge
from armci_tool.reproducers.trace import Call, Event, Process, signature
from armci_tool.reproducers.words import Names, Writer, result_type
from armci_tool.reproducers.places import Places

# How many calls before the failure a program has.
_LENGTHS = (1, 2, 3, 5, 8, 12)
# How far back a value that a test objects to is looked for.
_RECENT = 40
_QUIET = (*slices.LEFT_OUT, *slices.STARTS, "ARMCI_INIT_HANDLE")
_MEETS = ("ARMCI_Barrier", "ARMCI_Malloc", "ARMCI_Free", "ARMCI_Create_mutexes", "ARMCI_Destroy_mutexes", "armci_msg_barrier",
          "ARMCI_Finalize", "ARMCI_AllFence")


@dataclass(frozen=True)
class Guess:
    """Processes, the first of which fails; the calls of each that a program begins with; and the judge."""

    processes: tuple[Process, ...]
    seeds: dict[int, list[Call]]
    judge: Judge


def guesses(processes: Sequence[Process], detail: str) -> Iterator[Guess]:
    """Of all jobs of a test; `detail` is the failure as the suite reports it."""
    children: dict[str, list[Process]] = {}
    for process in processes:
        if process.child:
            children.setdefault(process.child, []).append(process)
    # The child that the report names comes first, then the latest.
    named = sorted(children.values(), key=lambda job: (not _is_named(job, detail), -job[0].calls()[0].time if job[0].calls() else 0))
    if "!= (0), actual: 0 vs 0" in detail:
        for job in named:
            yield from _should_end(job, detail)
    for job in named:
        yield from _of_job(job, detail)
        yield from _should_end(job, detail)
    # A launch behind the death of the job runs no test.
    own = [process for process in processes if not process.child and process.events("test")]
    if own and (not children or any(process.inside() for process in own)):
        yield from _of_job(own, detail)


def _is_named(job: Sequence[Process], detail: str) -> bool:
    return any(word in detail for word in job[0].child.split()[1:])


def _of_job(job: Sequence[Process], detail: str) -> Iterator[Guess]:
    yield from _progress(job)
    if "the job ended with status" in detail or "hung in" in detail or job[0].child:
        yield from _deaths(job)
    for process in job:
        for failure in process.events("fail")[:3]:
            yield from _assertion(job, process, failure)
    if not any(process.events("fail") for process in job) and not job[0].child:
        yield from _deaths(job)


def _first(job: Sequence[Process], process: Process) -> tuple[Process, ...]:
    return (process, *(one for one in job if one is not process))


def _loud(process: Process, before: Optional[int] = None) -> list[Call]:
    return [call for call in process.calls() if call.name not in _QUIET and (before is None or call.time < before)]


def _deaths(job: Sequence[Process]) -> Iterator[Guess]:
    """The call that did not come back, with more and more of those before it."""
    stuck = [(process, call) for process in job for call in process.inside()[:1]
             if not slices.lacks_members(process, call, job)]
    stuck.sort(key=lambda one: (one[1].name in _MEETS, slices.is_collective(one[1].name), one[1].time))
    for length in _LENGTHS:
        for process, call in stuck:
            calls = [one for one in _loud(process) if one.time < call.time][-(length - 1):] if length > 1 else []
            yield Guess(_first(job, process), {process.identifier: [*calls, call]}, Judge())
    for length in _LENGTHS[1:]:
        # Nothing is known of the call: memory was corrupted, or all wait for each other.
        yield Guess(tuple(job), {one.identifier: _loud(one)[-length:] for one in job}, Judge())


def _progress(job: Sequence[Process]) -> Iterator[Guess]:
    """A process waited in vain without a call of the library, and another one was inside of one."""
    for waiting in job:
        for event in waiting.events("gave_up")[:1]:
            for process in job:
                before = _loud(process, event.time)
                if process is waiting or not before:
                    continue
                judge = Judge("progress", other=waiting.rank)
                for length in (1, 2, 3, 5, 8):
                    yield Guess(_first(job, process), {process.identifier: before[-length:]}, judge)


def _should_end(job: Sequence[Process], detail: str) -> Iterator[Guess]:
    """A child job came to its end that was to be ended by a call."""
    for process in job:
        calls = [call for call in _loud(process) if call.name not in _MEETS]
        named = [call for call in calls if call.name in detail or call.name in process.child]
        for call in [*reversed(named), *reversed(calls)][:3]:
            if result_type(call.name) is None:
                yield Guess(_first(job, process), {one.identifier: [each for each in _loud(one) if each.name == call.name][-1:]
                                                   for one in job}, Judge("ends"))


def _assertion(job: Sequence[Process], process: Process, failure: Event) -> Iterator[Guess]:
    """The call whose value the test objects to, or whose effect."""
    recent = _loud(process, failure.time)[-_RECENT:]
    if not recent:
        return
    for call, judge in _judges(process, recent, failure.text):
        until = recent[:recent.index(call) + 1]
        for length in _LENGTHS:
            yield Guess(_first(job, process), {process.identifier: until[-length:]}, judge)
    if "differ" in failure.text or "Which is" in failure.text:
        gets = [call for call in recent if call.name == "ARMCI_Get"][-1:]
        for length in (2, 3, 4, 5, 6, 8):
            for call in gets:
                until = [one for one in recent[:recent.index(call) + 1] if one.name not in _MEETS]
                yield Guess(_first(job, process), {process.identifier: until[-length:]}, Judge("bytes"))
                # The other processes may be what it takes.
                others = {one.identifier: _loud(one, failure.time)[-length:] for one in job if one is not process}
                yield Guess(_first(job, process), {**others, process.identifier: until[-length:]}, Judge("bytes"))


def _judges(process: Process, recent: Sequence[Call], text: str) -> Iterator[tuple[Call, Judge]]:
    if found := re.search(r"returned (-?\d+)", text):
        yield from _results(recent, text, found[1], "==", "0")
    if "warning" in text:
        for call in [one for one in reversed(recent) if any(each.type.startswith("const char") for each in signature(one.name).parameters)][:3]:
            yield call, Judge("warns")
    if found := re.search(r"% (\d+)\n\s+Which is: (\d+)", text):
        for call in [one for one in recent if "Malloc" in one.name][-1:]:
            yield call, Judge("value", "==", "0", f"(unsigned long){{base}} % {found[1]}")
    if found := re.search(r"Expected: \((.*)\) (\S+) \((.*)\), actual: (\S+) vs (\S+)", text):
        yield from _results(recent, found[1], found[4], found[2], found[5].rstrip(","))
    if found := re.search(r"Expected equality of these values:\n(.*)", text, re.DOTALL):
        expressions, values = _sides(found[1])
        if len(values) == 2:
            yield from _results(recent, expressions, values[0], "==", values[1])
            yield from _results(recent, expressions, values[1], "==", values[0])
            yield from _elements(process, recent, values[0], values[1])
            yield from _elements(process, recent, values[1], values[0])


def _sides(text: str) -> tuple[str, list[str]]:
    """The two expressions together, and the values of each: `Which is` where that differs."""
    values: list[str] = []
    expressions = ""
    for line in text.splitlines():
        if found := re.match(r"\s+Which is: (.*)", line):
            if values:
                values[-1] = found[1]
        elif line.startswith("  ") and len(values) < 2:
            values.append(line.strip())
            expressions += line.strip() + " "
    return expressions, values


def _number(text: str) -> Optional[float]:
    if text in ("true", "false"):
        return float(text == "true")
    try:
        return float(text.split(" ")[0].rstrip("uUlLfF")) if "0x" not in text else float(int(text, 16))
    except ValueError:
        return None


def _results(recent: Sequence[Call], expression: str, found: str, operator: str, wanted: str) -> Iterator[tuple[Call, Judge]]:
    """Calls that returned the value, those first that the expression names."""
    value, target = _number(found), _number(wanted)
    if value is None or target is None or operator not in ("==", "!=", "<", ">", "<=", ">="):
        return
    same = [call for call in reversed(recent) if call.result and "GetValue" not in call.name and result_type(call.name) and _number(call.result) == value]
    # A call that the expression does not name is meant where its result code is no success.
    is_code = value != 0 and (operator, target) == ("==", 0)
    same = [call for call in same if f"{call.name}(" in expression] or [call for call in same if is_code]
    kind = "double" if not target.is_integer() else "long"
    for call in same[:2]:
        yield call, Judge("result", operator, repr(target) if kind == "double" else str(int(target)), type=kind)


def _elements(process: Process, recent: Sequence[Call], found: str, wanted: str) -> Iterator[tuple[Call, Judge]]:
    """Calls that left the value, or this row of values, in a buffer."""
    values, targets = _row(found), _row(wanted)
    if len(values) != len(targets) or values == targets or not values:
        return
    at = next(number for number, pair in enumerate(zip(values, targets)) if pair[0] != pair[1])
    for call in list(reversed(recent))[:12]:
        for name in ("x", "rank", "size", "msglen"):
            if signature(call.name).index(name) < 0 or call.result is None:
                continue
            writer = Writer(Places(process, []), Names())
            element = writer.element(call, name) if name == "x" else ("int", "i", 1)
            content = call.content(name, after=True)
            seen = list(struct.unpack(f"={len(content) // struct.calcsize(element[1])}{element[1]}",
                                      content[:len(content) // struct.calcsize(element[1]) * struct.calcsize(element[1])]))
            if seen[:len(values)] == values[:len(seen)] and seen:
                place = f"(({element[0]} *){{{name}}})[{at}]"
                yield call, Judge("value", "==", f"{targets[at]:g}", place, "double" if element[1] in "fd" else "long")


def _row(text: str) -> list[float]:
    """The numbers of `{ 1, 2 }`, or of one number."""
    inner = text.strip().strip("{}").split(",")
    numbers = [_number(one.strip()) for one in inner if one.strip() not in ("", "...")]
    return [one for one in numbers if one is not None]
