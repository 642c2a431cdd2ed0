"""Litmus programs: their text, parsed and checked.

A program has a text for each process, steps with `;` between them, and says where its variables lie:

    x=1        store 1 in x                      r1=x      read x into r1
    g=r1       store what r1 holds               x+=1      accumulate 1 to x
    r1=x+10    fetch-and-add 10 on x; r1 gets the value before, `_` drops it
    r1=x?2     compare-and-swap from 0 to 2; r1 gets the value before
    x,f=1      store 1 in x, and 1 in f as the flag of that store
    fence x    fence to the target of x          allfence
    notify 1   notify process 1                  await 0   wait for a notification of process 0
    send 1     a message to process 1            recv 0    take a message of process 0
    lock, unlock: of one mutex                   barrier   ARMCI_Barrier, by all processes
    wait       completes the non-blocking operations of the process, locally

`~` before a store, a read or an accumulate makes it non-blocking: it completes at the next `wait`, or at the end of the
text. Places are "x@A y@B", where different letters are different targets, or "x@P1", in the memory of process 1. An
outcome is the values of the registers, and of the variables among them after a barrier.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import Enum, auto


class Act(Enum):
    STORE = auto()
    STORE_FLAG = auto()
    FORWARD = auto()
    ACCUMULATE = auto()
    READ = auto()
    FETCH_ADD = auto()
    SWAP_ZERO = auto()
    FENCE = auto()
    ALL_FENCE = auto()
    NOTIFY = auto()
    AWAIT = auto()
    SEND = auto()
    RECV = auto()
    LOCK = auto()
    UNLOCK = auto()
    BARRIER = auto()
    WAIT = auto()


ATOMIC = {Act.FETCH_ADD, Act.SWAP_ZERO}
STORES = {Act.STORE, Act.STORE_FLAG, Act.FORWARD, Act.ACCUMULATE} | ATOMIC
READS = {Act.READ} | ATOMIC
_WORDS = {"wait": Act.WAIT, "allfence": Act.ALL_FENCE, "lock": Act.LOCK, "unlock": Act.UNLOCK, "barrier": Act.BARRIER}
_OF_PROCESS = {"notify": Act.NOTIFY, "await": Act.AWAIT, "send": Act.SEND, "recv": Act.RECV}


@dataclass(frozen=True)
class Step:
    """One step; what does not apply is empty. `source` of a FORWARD is the register that it stores."""

    act: Act
    variable: str = ""
    value: int = 0
    register: str = ""
    source: str = ""
    flag: str = ""
    process: int = -1
    nonblocking: bool = False


@dataclass(frozen=True)
class Program:
    """A parsed program. `targets` has the place of each variable, `outcome` the names whose values are the outcome."""

    processes: tuple[tuple[Step, ...], ...]
    targets: dict[str, str] = field(hash=False)
    outcome: tuple[str, ...]

    def nonblocking(self) -> Program:
        """The form in which each store, read and accumulate is non-blocking."""
        free = {Act.STORE, Act.STORE_FLAG, Act.FORWARD, Act.ACCUMULATE, Act.READ}
        return replace(self, processes=tuple(tuple(replace(step, nonblocking=step.act in free) for step in steps)
                                             for steps in self.processes))


def parse(places: str, texts: list[str], outcome: str) -> Program:
    """Raises ValueError for a text that is no program."""
    targets = dict(place.split("@", 1) for place in places.split())
    processes = tuple(tuple(_step(text.strip(), targets) for text in process.split(";")) for process in texts)
    program = Program(processes, targets, tuple(outcome.split()))
    _check(program)
    return program


def _step(text: str, targets: dict[str, str]) -> Step:
    if text in _WORDS:
        return Step(_WORDS[text])
    if found := re.fullmatch(r"(notify|await|send|recv) (\d)", text):
        return Step(_OF_PROCESS[found[1]], process=int(found[2]))
    if found := re.fullmatch(r"fence (\w+)", text):
        return Step(Act.FENCE, found[1])
    nonblocking = text.startswith("~")
    left, _, right = text.removeprefix("~").partition("=")
    if found := re.fullmatch(r"(\w+),(\w+)", left):
        return Step(Act.STORE_FLAG, found[1], int(right), flag=found[2], nonblocking=nonblocking)
    if left.endswith("+"):
        return Step(Act.ACCUMULATE, left[:-1], int(right), nonblocking=nonblocking)
    if left in targets:
        if right.isdigit():
            return Step(Act.STORE, left, int(right), nonblocking=nonblocking)
        return Step(Act.FORWARD, left, source=right, nonblocking=nonblocking)
    if found := re.fullmatch(r"(\w+)([+?])(\d+)", right):
        if nonblocking:
            raise ValueError(f"{text}: atomic operations block here")
        return Step(Act.FETCH_ADD if found[2] == "+" else Act.SWAP_ZERO, found[1], int(found[3]), left)
    return Step(Act.READ, right, register=left, nonblocking=nonblocking)


def _check(program: Program) -> None:
    """Also keeps a value from depending on itself: a forwarded register comes from the same process, before."""
    written = {step.register for steps in program.processes for step in steps if step.act in READS} - {"_"}
    for steps in program.processes:
        open_reads: set[str] = set()
        known: set[str] = set()
        for step in steps:
            if step.flag and program.targets[step.flag] != program.targets[step.variable]:
                raise ValueError(f"the flag {step.flag} lies at another target than {step.variable}")
            if step.register in known:
                raise ValueError(f"{step.register} is read twice")
            known |= {step.register} - {"", "_"}
            for name in filter(None, (step.variable, step.flag)):
                if name not in program.targets:
                    raise ValueError(f"{name} is no variable; the places are {program.targets}")
            if step.act is Act.READ and step.nonblocking:
                open_reads.add(step.register)
            if step.act is Act.WAIT:
                open_reads.clear()
            if step.source and (step.source not in known or step.source in open_reads):
                raise ValueError(f"{step.variable}={step.source} comes before the read is complete")
            if step.process >= len(program.processes):
                raise ValueError(f"there is no process {step.process}")
    for name in program.outcome:
        if name not in written and name not in program.targets:
            raise ValueError(f"{name} of the outcome is neither a register nor a variable")
