"""The levels of a port: which clauses, and so which tests, are due once which members of a transport are written.

conformance/levels.toml gives every clause of spec/semantics.md one level. A test belongs to the highest level of the
clauses that it names, for what it checks needs all of them; an entry under [[later]] may put it off further, by its
name. Levels are cumulative: a port that has reached level 3 passes the tests of 1 and 2 as well.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Iterable, Iterator, Literal, Mapping, Sequence

from armci_tool import data_files
from armci_tool.data_files import Entry, Expression, Text
from armci_tool.errors import ToolError
from armci_tool.repository import ROOT

LEVELS_FILE = ROOT / "conformance" / "levels.toml"
FIRST = 1
LAST = 5
NUMBERS = range(FIRST, LAST + 1)

Number = Literal[1, 2, 3, 4, 5]


class Level(Entry):
    """A step of a port. `members`: those of the transport that it adds."""

    number: Number
    title: Text
    members: tuple[Text, ...]
    clauses: tuple[Text, ...]


class Later(Entry):
    """Tests, by a regular expression found in their names, that are due at this level although their clauses are
    before."""

    level: Number
    tests: Expression
    reason: Text


class Levels(Entry):
    """The table."""

    level: tuple[Level, ...]
    later: tuple[Later, ...] = ()

    def of_clauses(self, named: Iterable[str]) -> int:
        """The highest level of these clauses; of one that the table does not have, the last."""
        by_clause: dict[str, int] = {clause: level.number for level in self.level for clause in level.clauses}
        return max((by_clause.get(clause, LAST) for clause in named), default=LAST)

    def of_test(self, name: str, named: Iterable[str]) -> int:
        """When a test that names these clauses is due."""
        return max([self.of_clauses(named), *(one.level for one in self.later if one.tests.search(name))])

    def above(self, number: int, tests: Mapping[str, Sequence[str]]) -> list[str]:
        """Names of the tests that are due later."""
        return [name for name, named in tests.items() if self.of_test(name, named) > number]


@lru_cache(maxsize=None)
def read(path: Path = LEVELS_FILE) -> Levels:
    """The table; raises ToolError where it cannot be understood."""
    help_text = "give the level as in the comment at the top of the file"
    found = data_files.read(path, Levels, "the levels", help_text)
    if [level.number for level in found.level] != list(NUMBERS):
        raise ToolError("cannot read the levels", where=f"{path} has no levels 1 to {LAST} in this order",
                        next_step=help_text)
    return found


def check(table: Levels, clauses: Iterable[str], tests: Mapping[str, Sequence[str]]) -> list[str]:
    """Sentences about what is wrong: each clause has one level and a test that is due there, and each [[later]] changes
    something."""
    sentences = (*_unfit(table, list(clauses)), *_out_of_place(table, tests), *_of_no_effect(table, tests))
    return [f"{LEVELS_FILE.name}: {sentence}" for sentence in sentences]


def _unfit(table: Levels, clauses: Sequence[str]) -> Iterator[str]:
    listed = [clause for level in table.level for clause in level.clauses]
    yield from (f"{clause} has no level" for clause in clauses if clause not in listed)
    for clause in dict.fromkeys(listed):
        if listed.count(clause) > 1:
            yield f"{clause} has several levels"
        if clause not in clauses:
            yield f"{clause} has a level, but spec/semantics.md does not have it"


def _out_of_place(table: Levels, tests: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for level in table.level:
        for clause in level.clauses:
            due = [table.of_test(name, named) for name, named in tests.items() if clause in named]
            if due and level.number not in due:
                yield f"{clause} has level {level.number}, but its first test is due at {min(due)}"


def _of_no_effect(table: Levels, tests: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for one in table.later:
        meant = [name for name in tests if one.tests.search(name)]
        if not meant:
            yield f"no test's name has {one.tests.pattern!r}"
        elif all(table.of_clauses(tests[name]) >= one.level for name in meant):
            yield (f"{one.tests.pattern!r} changes nothing: by their clauses these tests are due at level "
                   f"{one.level} or later")
