"""Reads what conformance/record wrote: the calls of each process of a job, and the events of the harness.

conformance/record/record.h has the form of the files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Iterator, Optional, Union

from armci_tool.repository import ROOT

API_TABLE = ROOT / "spec" / "api_table.h"


@dataclass(frozen=True)
class Parameter:
    """A parameter of a call: `void *` and `src`, for example. An array counts as a pointer."""

    type: str
    name: str


@dataclass(frozen=True)
class Signature:
    """The declaration of a call."""

    result: str
    parameters: tuple[Parameter, ...]

    def index(self, name: str) -> int:
        """The place of a parameter; -1 if there is none of that name."""
        return next((at for at, parameter in enumerate(self.parameters) if parameter.name == name), -1)


@dataclass
class Call:
    """A call as one process made it. `result` is None while it has not returned."""

    time: int
    thread: int
    name: str
    values: list[str]
    before: dict[int, bytes] = field(default_factory=dict)
    after: dict[int, bytes] = field(default_factory=dict)
    # Of a vector call: bytes, number of segments, and the addresses of both sides.
    descriptors: list[tuple[int, int, list[tuple[int, int]]]] = field(default_factory=list)
    result: Optional[str] = None

    def value(self, name: str) -> Optional[int]:
        """An argument by the name of its parameter; None if there is none, or it is no whole number."""
        at = signature(self.name).index(name)
        if at < 0 or at >= len(self.values):
            return None
        try:
            return int(self.values[at], 0)
        except ValueError:
            return None

    def content(self, name: str, after: bool = False) -> bytes:
        """The bytes that a pointer argument points to."""
        at = signature(self.name).index(name)
        before = self.before.get(at, b"")
        return self.after.get(at, before) if after else before


@dataclass(frozen=True)
class Event:
    """A word of the harness: a meeting of the ranks, a failed assertion, the start of a child case."""

    time: int
    thread: int
    kind: str
    text: str


@dataclass
class Process:
    """All that is known of one process, in order. `rank` is -1 for one that MPI never knew."""

    identifier: int
    rank: int = -1
    size: int = 1
    # The level of threads that MPI provides.
    level: int = 3
    # MPI had started before the first call that starts the library.
    mpi_first: bool = False
    # Constants of the library's headers: name by kind and value.
    constants: dict[tuple[str, int], str] = field(default_factory=dict)
    steps: list[Union[Call, Event]] = field(default_factory=list)

    def calls(self) -> list[Call]:
        """The calls alone."""
        return [step for step in self.steps if isinstance(step, Call)]

    def events(self, kind: str) -> list[Event]:
        """The events of a kind."""
        return [step for step in self.steps if isinstance(step, Event) and step.kind == kind]

    @property
    def child(self) -> str:
        """The child case that it runs, with its argument; empty for a process of the suite itself."""
        return next((event.text.strip() for event in self.events("child")), "")

    def inside(self) -> list[Call]:
        """The calls that did not return, the latest first."""
        return [call for call in reversed(self.calls()) if call.result is None]


@lru_cache(maxsize=None)
def signatures() -> dict[str, Signature]:
    """All calls of the table of functions."""
    text = re.sub(r"\s*\\\n\s*", " ", API_TABLE.read_text(encoding="utf-8"))
    found = re.findall(r"\bX\(([^,()]+), \w+, (\w+), \(((?:[^()]|\([^()]*\))*)\),", text)
    return {name: Signature(result.strip(), tuple(_parameters(parameters))) for result, name, parameters in found}


def signature(name: str) -> Signature:
    """The declaration of one call."""
    return signatures()[name]


def _parameters(text: str) -> Iterator[Parameter]:
    for one in text.split(","):
        if found := re.fullmatch(r"\s*(.*?)\s*(\**)\s*(\w+)\s*(\[\])?\s*", one):
            kind, stars, name, array = found.groups()
            if kind:
                yield Parameter(f"{kind} {stars}{'*' if array else ''}".strip(), name)


def read(folder: Path) -> list[Process]:
    """The processes of all jobs that wrote there, those with a rank by rank."""
    processes = [_process(path) for path in folder.glob("*.setup")]
    return sorted((one for one in processes if one.steps), key=lambda one: (one.rank < 0, one.rank, one.identifier))


def _process(path: Path) -> Process:
    made = Process(int(path.stem))
    steps: dict[tuple[int, int, str], Union[Call, Event]] = {}
    for each in (path, *(path.with_suffix(f".{turn}") for turn in (0, 1))):
        if each.is_file():
            _read_file(each, made, steps)
    made.steps = sorted(steps.values(), key=lambda step: step.time)
    return made


def _read_file(path: Path, process: Process, steps: dict[tuple[int, int, str], Union[Call, Event]]) -> None:
    """A call that stands in two files has the same time and thread in both."""
    latest: dict[int, Call] = {}
    for line in path.read_text(errors="replace").splitlines():
        words = line.split(" ")
        if len(words) < 3 or not words[0].isdigit() or not words[1].isdigit():
            continue
        time, thread, kind, rest = int(words[0]), int(words[1]), words[2], words[3:]
        if kind == "P":
            process.rank, process.size, process.level = (int(word) for word in rest[:3])
            process.mpi_first = not any(isinstance(step, Call) and _starts(step.name) for step in steps.values())
        elif kind == "N":
            process.constants.setdefault((rest[0], int(rest[2])), rest[1])
        elif kind == "C" and rest and rest[0] in signatures():
            latest[thread] = Call(time, thread, rest[0], rest[1:])
            steps[(time, thread, "call")] = latest[thread]
        elif kind == "E" and rest:
            steps[(time, thread, "event")] = Event(time, thread, rest[0], " ".join(rest[1:]).replace("\t", "\n"))
        elif thread in latest:
            _add(latest[thread], kind, rest)


def _starts(name: str) -> bool:
    return name.startswith("ARMCI_Init") and name != "ARMCI_Initialized"


def _add(call: Call, kind: str, words: list[str]) -> None:
    """A further line of a call."""
    if kind == "R":
        call.result = words[0] if words else ""
    elif kind in ("A", "B") and len(words) == 2:
        (call.after if kind == "A" else call.before)[int(words[0])] = bytes.fromhex(words[1])
    elif kind == "V" and len(words) >= 2:
        addresses = [int(word, 16) for word in words[2:]]
        call.descriptors.append((int(words[0]), int(words[1]), list(zip(addresses[::2], addresses[1::2]))))
