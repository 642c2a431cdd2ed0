"""The levels of a port: which clauses, and so which tests, are due once which members of a transport are written.

conformance/levels.toml gives every clause of spec/semantics.md one level. A test belongs to the highest level of the
clauses that it names, for what it checks needs all of them; an entry under [[later]] may put it off further, by its name. Levels are cumulative: a port that has reached level 3 passes the tests of 1 and 2 as well.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence

from armci_tool.errors import ToolError
from armci_tool.repository import ROOT

LEVELS_FILE = ROOT / "conformance" / "levels.toml"
FIRST = 1
LAST = 5
NUMBERS = range(FIRST, LAST + 1)

_HELP = "give the level as in the comment at the top of the file"


@dataclass(frozen=True)
class Level:
    """A step of a port. `members`: those of the transport that it adds."""

    number: int
    title: str
    members: tuple[str, ...]
    clauses: tuple[str, ...]


@dataclass(frozen=True)
class Later:
    """Tests, by a regular expression found in their names, that are due at this level although their clauses are before."""

    level: int
    tests: str
    reason: str

    def speaks_of(self, name: str) -> bool:
        """Whether a test is one of them."""
        return re.search(self.tests, name) is not None


@dataclass(frozen=True)
class Levels:
    """The table."""

    levels: tuple[Level, ...]
    later: tuple[Later, ...] = ()

    def of_clauses(self, named: Iterable[str]) -> int:
        """The highest level of these clauses; of one that the table does not have, the last."""
        by_clause = {clause: level.number for level in self.levels for clause in level.clauses}
        return max((by_clause.get(clause, LAST) for clause in named), default=LAST)

    def of_test(self, name: str, named: Iterable[str]) -> int:
        """When a test that names these clauses is due."""
        return max([self.of_clauses(named), *(one.level for one in self.later if one.speaks_of(name))])

    def above(self, number: int, tests: Mapping[str, Sequence[str]]) -> list[str]:
        """Names of the tests that are due later."""
        return [name for name, named in tests.items() if self.of_test(name, named) > number]


@lru_cache(maxsize=None)
def read(path: Path = LEVELS_FILE) -> Levels:
    """The table; raises ToolError where it cannot be understood."""
    try:
        data = tomllib.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ToolError("cannot read the levels", where=f"{path}: {error}") from error
    if stray := set(data) - {"level", "later"}:
        raise ToolError("cannot read the levels", where=f"{path}: {', '.join(sorted(stray))}",
                        next_step="write entries under [[level]] and [[later]]")
    found = tuple(_level(table, path) for table in data.get("level", []))
    if [level.number for level in found] != list(NUMBERS):
        raise ToolError("cannot read the levels", where=f"{path} has no levels {FIRST} to {LAST} in this order",
                        next_step=_HELP)
    return Levels(found, tuple(_later(table, path) for table in data.get("later", [])))


def _level(table: Mapping[str, Any], path: Path) -> Level:
    wanted = {"number": int, "title": str, "members": list, "clauses": list}
    _require(table, wanted, path)
    return Level(table["number"], table["title"], tuple(table["members"]), tuple(table["clauses"]))


def _later(table: Mapping[str, Any], path: Path) -> Later:
    _require(table, {"level": int, "tests": str, "reason": str}, path)
    if table["level"] not in NUMBERS:
        raise ToolError("cannot read the levels", where=f"{path}: there is no level {table['level']}", next_step=_HELP)
    try:
        re.compile(table["tests"])
    except re.error as error:
        raise ToolError("cannot read the levels", where=f"{path}: {table['tests']!r}: {error}", next_step=_HELP) from error
    return Later(table["level"], table["tests"], table["reason"])


def _require(table: Mapping[str, Any], wanted: Mapping[str, type], path: Path) -> None:
    wrong = [key for key, kind in wanted.items() if not isinstance(table.get(key), kind)]
    if wrong or set(table) - set(wanted):
        raise ToolError("cannot read the levels", where=f"{path}: an entry with {', '.join(map(repr, table))}: "
                        f"wrong or missing: {', '.join([*wrong, *sorted(set(table) - set(wanted))])}", next_step=_HELP)


def check(table: Levels, clauses: Iterable[str], tests: Mapping[str, Sequence[str]]) -> list[str]:
    """Sentences about what is wrong: each clause has one level and a test that is due there, and each [[later]] changes
    something."""
    known = list(clauses)
    listed = [clause for level in table.levels for clause in level.clauses]
    problems = [f"{LEVELS_FILE.name}: {clause} has no level" for clause in known if clause not in listed]
    problems += [f"{LEVELS_FILE.name}: {clause} has several levels" for clause in dict.fromkeys(listed)
                 if listed.count(clause) > 1]
    problems += [f"{LEVELS_FILE.name}: {clause} has a level, but spec/semantics.md does not have it"
                 for clause in dict.fromkeys(listed) if clause not in known]
    return problems + _out_of_place(table, tests) + _of_no_effect(table, tests)


def _out_of_place(table: Levels, tests: Mapping[str, Sequence[str]]) -> list[str]:
    problems = []
    for level in table.levels:
        for clause in level.clauses:
            due = [table.of_test(name, named) for name, named in tests.items() if clause in named]
            if due and level.number not in due:
                problems.append(f"{LEVELS_FILE.name}: {clause} has level {level.number}, but its first test is due at "
                                f"{min(due)}")
    return problems


def _of_no_effect(table: Levels, tests: Mapping[str, Sequence[str]]) -> list[str]:
    problems = []
    for one in table.later:
        meant = [name for name in tests if one.speaks_of(name)]
        if not meant:
            problems.append(f"{LEVELS_FILE.name}: no test's name has {one.tests!r}")
        elif all(table.of_clauses(tests[name]) >= one.level for name in meant):
            problems.append(f"{LEVELS_FILE.name}: {one.tests!r} changes nothing: by their clauses these tests are due at "
                            f"level {one.level} or later")
    return problems
