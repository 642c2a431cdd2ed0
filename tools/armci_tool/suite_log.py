"""Follows the lines that the conformance suite prints (see conformance/README.md), so that after a death the test that was
running is known."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field, replace
from typing import Callable, Optional

from armci_tool import verdict
from armci_tool.results import FAILED, PASSED, SKIPPED, Case

DEATH_LINES = 300
# Lines of the library that a failure shows.
TOLD_LINES = 5

_BEGIN = re.compile(r"^RUN   (\S+)$")
_FACT = re.compile(r"^INFO  (\S+)  (.+?) = (.*)$")
_VERDICT = re.compile(r"^(PASS|FAIL|SKIP)  (\S+)  \[[^\]]*\]  (\d+(?:\.\d+)?) s(?:  (.*))?$")
_CLOSING_LIST = re.compile(r"^failed: \S+$")
_END = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped \(np ")
_START = re.compile(r"^conformance: ARMCI_Init (begins|is done)$")
_INIT_FAILURE = re.compile(r"conformance: rank \d+: ARMCI_Init returned ")
_SEED = re.compile(r"\bseed (\d+)$")
_OF_THE_LIBRARY = "armci: "
_OUTCOMES = {"PASS": PASSED, "FAIL": FAILED, "SKIP": SKIPPED}


@dataclass
class SuiteLog:
    """What the suite's lines say so far."""

    on_test: Callable[[str], None] = lambda name: None
    running: str = ""
    complete: bool = False
    seed: str = ""
    cases: dict[str, Case] = field(default_factory=dict)
    # Lines since the last test began or got its verdict; after a failure they tell what was expected.
    lines: list[str] = field(default_factory=list)
    # The last lines of all. The launcher forwards stdout and stderr apart: what a dying rank says may come in before
    # the line that its test began.
    recent: deque[str] = field(default_factory=lambda: deque(maxlen=DEATH_LINES))
    # Abort text since the last test began; and what came while none was running.
    aborts: list[str] = field(default_factory=list)
    stray_aborts: list[str] = field(default_factory=list)
    said_fail: bool = False
    # Tests that have failed by abort text alone.
    suspects: list[str] = field(default_factory=list)
    init_failed: bool = False
    # Between the lines that init begins and is done.
    starting: bool = False
    # What a suite that is left alone would not say: the library prints to the same stream.
    contradictions: list[str] = field(default_factory=list)
    _failed: Optional[Case] = None
    _words: list[str] = field(default_factory=list)
    # Of the test whose verdict is to come.
    _facts: list[tuple[str, str]] = field(default_factory=list)

    def feed(self, line: str) -> None:
        """Takes the next line of output."""
        if begin := _BEGIN.match(line):
            self._close_failure()
            self._facts = []
            self.running = begin.group(1)
            self.on_test(self.running)
        elif fact := _FACT.match(line):
            self._facts.append((fact.group(2), fact.group(3)))
        elif said := _VERDICT.match(line):
            told = [each for each in dict.fromkeys(self.lines) if each.startswith(_OF_THE_LIBRARY)][:TOLD_LINES]
            self._close_failure()
            self._judge(said.group(1), said.group(2), float(said.group(3)), said.group(4) or "")
            # What the library said while the test ran often tells why, and comes before the verdict.
            self.lines = told if self._failed is not None else []
        elif _CLOSING_LIST.match(line):
            self._close_failure()
        elif end := _END.match(line):
            self._close_failure()
            self._end(line, tuple(map(int, end.groups())))
        elif start := _START.match(line):
            self.starting = start.group(1) == "begins"
        else:
            self.lines.append(line)
            self.recent.append(line)
            if verdict.is_abort_text(line):
                (self.aborts if self.running else self.stray_aborts).append(line)
            self.init_failed = self.init_failed or bool(_INIT_FAILURE.search(line))
            if not self.seed and (seed := _SEED.search(line)):
                self.seed = seed.group(1)

    def close(self) -> None:
        """No more lines will come."""
        self._close_failure(keep_lines=True)

    def _end(self, line: str, said: tuple[int, ...]) -> None:
        if self.running or self.complete:
            self.contradictions.append(f"the end is told {'twice' if self.complete else 'in ' + self.running}: {line}")
            return
        self.complete = True
        seen = tuple(sum(word == each for each in self._words) for word in _OUTCOMES)
        if said != seen:
            self.contradictions.append("the last line counts other verdicts than were told before "
                                       f"({', '.join(map(str, seen))}): {line}")

    def _judge(self, word: str, name: str, seconds: float, text: str) -> None:
        expected = name == self.running or (word == "SKIP" and not self.running)
        if not expected or name in self.cases:
            self.contradictions.append(f"a verdict of {name} {'once more' if name in self.cases else 'out of turn'}: {word}")
            return
        self._words.append(word)
        case = Case(name, _OUTCOMES[word], seconds, text, tuple(self._facts))
        self._facts = []
        if self.aborts and case.outcome != FAILED:
            case = replace(case, outcome=FAILED, detail="\n".join(["abort text in a test that claims to have "
                                                                   f"{case.outcome}:", *self.aborts]))
            word = ""
            self.suspects.append(name)
        self.aborts = []
        self.cases[name] = case
        self.running = ""
        if word == "FAIL":
            self._failed = case
            self.said_fail = True

    def _close_failure(self, keep_lines: bool = False) -> None:
        if self._failed is not None:
            self.cases[self._failed.name] = replace(self._failed, detail="\n".join(self.lines))
            self._failed = None
        if not keep_lines:
            self.lines = []
