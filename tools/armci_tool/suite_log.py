"""Follows the lines that the conformance suite prints (see conformance/README.md).

After a death the test that was running is known. A run that claims to be in order is judged by all that the job
printed, how it ended and what it left.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field, replace
from typing import Callable, Sequence

from armci_tool.results import FAILED, PASSED, SKIPPED, Case

DEATH_LINES = 300
# Lines of the library that a failure shows.
LIBRARY_LINES = 5

_BEGIN = re.compile(r"^RUN   (\S+)$")
_FACT = re.compile(r"^INFO  (\S+)  (.+?) = (.*)$")
_VERDICT = re.compile(r"^(PASS|FAIL|SKIP)  (\S+)  \[[^\]]*\]  (\d+(?:\.\d+)?) s(?:  (.*))?$")
_CLOSING_LIST = re.compile(r"^failed: \S+$")
_END = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped \(np ")
_START = re.compile(r"^conformance: ARMCI_Init (begins|is done)$")
_INIT_FAILURE = re.compile(r"conformance: rank \d+: ARMCI_Init returned ")
_SEED = re.compile(r"\bseed (\d+)$")
_OF_THE_LIBRARY = "armci: "
_WHOLE = (_BEGIN, _FACT, _VERDICT, _CLOSING_LIST, _END, _START)
# A launcher reads stdout and stderr in pieces, and may put a line of the library into the middle of one of the suite.
_TORN = re.compile(rf"^((?:RUN|PASS|FAIL|SKIP|INFO|failed:|conformance:|\d+ passed,) .*?|[A-Z]{{1,4}})({_OF_THE_LIBRARY}.*)$")
# Texts of the MPI libraries, the C and C++ run times and the sanitizers when a process dies of an error. Tests that end
# a job on purpose keep the output of that job to themselves.
_ABORT_TEXTS = (
    r"MPI_ABORT was invoked", r"application called MPI_Abort", r"Abort\(\d+\) on node \d+",
    r"BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES", r"mpirun noticed that process rank",
    r"Primary job +terminated", r"\*\*\* Process received signal \*\*\*", r"\*\*\* An error occurred in MPI_",
    r"Fatal error in (?:internal_|P?MPI)", r"Assertion failed in file", r"Assertion [`'].*' failed",
    r"terminate called (?:after|without)", r"Segmentation fault", r"double free or corruption", r"corrupted size vs",
    r"malloc\(\): ", r"free\(\): invalid", r"munmap_chunk\(\): ", r"\*\*\* stack smashing detected",
    r"(?:ERROR|WARNING): (?:Address|Thread|Leak|Memory)Sanitizer", r": runtime error: ", r"Caught signal \d+ \(",
)
_ABORT = re.compile("|".join(_ABORT_TEXTS))
_OUTCOMES = {"PASS": PASSED, "FAIL": FAILED, "SKIP": SKIPPED}


@dataclass
class SuiteLog:
    """The state after the suite's lines so far."""

    on_test: Callable[[str], None] = lambda name: None
    running: str = ""
    complete: bool = False
    seed: str = ""
    cases: dict[str, Case] = field(default_factory=dict)
    # Lines since the last test began or got its verdict; after a failure they have the expectation.
    lines: list[str] = field(default_factory=list)
    # The last lines of all. The launcher forwards stdout and stderr apart: what a dying rank says may come in before
    # the line that its test began.
    recent: deque[str] = field(default_factory=lambda: deque(maxlen=DEATH_LINES))
    # Abort text since the last test began; and what came while none was running.
    aborts: list[str] = field(default_factory=list)
    stray_aborts: list[str] = field(default_factory=list)
    # Tests that have failed by abort text alone.
    suspects: list[str] = field(default_factory=list)
    init_failed: bool = False
    # Between the lines that init begins and is done.
    starting: bool = False
    # Lines that no suite prints by itself: the library prints to the same stream.
    contradictions: list[str] = field(default_factory=list)
    # The failed test that the coming lines describe.
    _failed: str = ""
    _words: list[str] = field(default_factory=list)
    # Of the test whose verdict is to come.
    _facts: list[tuple[str, str]] = field(default_factory=list)
    # The beginning of a line of the suite, whose end is to come.
    _torn: str = ""

    def feed(self, line: str) -> None:
        """Takes the next line of output."""
        if self._torn and not line.startswith(_OF_THE_LIBRARY):
            line, self._torn = self._torn + line, ""
        torn = None if any(whole.match(line) for whole in _WHOLE) else _TORN.match(line)
        if torn:
            self._torn, line = torn.groups()
        self._take(line)

    def _take(self, line: str) -> None:
        if begin := _BEGIN.match(line):
            self._close_failure()
            self._facts = []
            self.running = begin[1]
            self.on_test(self.running)
        elif fact := _FACT.match(line):
            self._facts.append((fact[2], fact[3]))
        elif said := _VERDICT.match(line):
            said_by_library = [each for each in dict.fromkeys(self.lines) if each.startswith(_OF_THE_LIBRARY)][:LIBRARY_LINES]
            self._close_failure()
            self._judge(said[1], said[2], float(said[3]), said[4] or "")
            # The library often prints the cause while the test runs, before the verdict.
            self.lines = said_by_library if self._failed else []
        elif _CLOSING_LIST.match(line):
            self._close_failure()
        elif end := _END.match(line):
            self._close_failure()
            self._end(line, tuple(map(int, end.groups())))
        elif start := _START.match(line):
            self.starting = start[1] == "begins"
        else:
            self.lines.append(line)
            self.recent.append(line)
            if is_abort_text(line):
                (self.aborts if self.running else self.stray_aborts).append(line)
            self.init_failed = self.init_failed or bool(_INIT_FAILURE.search(line))
            if not self.seed and (seed := _SEED.search(line)):
                self.seed = seed[1]

    def close(self) -> None:
        """No more lines will come."""
        if self._torn:
            self._take(self._torn)
        self._close_failure(keep_lines=True)

    def objections(self, status: int, left_behind: Sequence[str]) -> list[str]:
        """The faults of a job whose suite came to its end, apart from its tests. After a failed test some
        launchers print abort text of any status but 0, which is no news."""
        said_fail = "FAIL" in self._words
        found = [f"the suite contradicts itself, or the library speaks for it: {line}" for line in self.contradictions]
        if status not in (0, 1):
            found.append(f"the job ended with status {status} after the last test")
        elif bool(status) != said_fail:
            found.append(f"the job ended with status {status}, though {'a' if said_fail else 'no'} test failed")
        if not said_fail:
            found += [f"abort text: {line}" for line in self.stray_aborts]
        return found + [f"left behind: {item}" for item in left_behind]

    def _end(self, line: str, said: tuple[int, ...]) -> None:
        if self.running or self.complete:
            self.contradictions.append(f"the end is reported {'twice' if self.complete else 'in ' + self.running}: {line}")
            return
        self.complete = True
        seen = tuple(sum(word == each for each in self._words) for word in _OUTCOMES)
        if said != seen:
            self.contradictions.append("the last line counts other verdicts than were reported before "
                                       f"({', '.join(map(str, seen))}): {line}")

    def _judge(self, word: str, name: str, seconds: float, text: str) -> None:
        expected = name == self.running or (word == "SKIP" and not self.running)
        if not expected or name in self.cases:
            how = "once more" if name in self.cases else "out of turn"
            self.contradictions.append(f"a verdict of {name} {how}: {word}")
            return
        self._words.append(word)
        case = Case(name, _OUTCOMES[word], seconds, text, tuple(self._facts))
        if word == "FAIL":
            self._failed = name
        elif self.aborts:
            claim = f"abort text in a test that claims to have {case.outcome}:"
            case = replace(case, outcome=FAILED, detail="\n".join([claim, *self.aborts]))
            self.suspects.append(name)
        self.cases[name] = case
        self._facts, self.aborts, self.running = [], [], ""

    def _close_failure(self, keep_lines: bool = False) -> None:
        if self._failed:
            self.cases[self._failed] = replace(self.cases[self._failed], detail="\n".join(self.lines))
            self._failed = ""
        if not keep_lines:
            self.lines = []


def is_abort_text(line: str) -> bool:
    """Whether a line of output reports the death of a process."""
    return _ABORT.search(line) is not None
