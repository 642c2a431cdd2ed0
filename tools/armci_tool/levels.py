"""The levels of a port: which clauses, and so which tests, are due once which members of a transport are written.

conformance/levels.toml gives every clause of spec/semantics.md one level. A test belongs to the highest level of the
clauses that it names, for what it checks needs all of them; an entry under [[later]] may put it off further, by its
name. Levels are cumulative: a port that has reached level 3 passes the tests of 1 and 2 as well.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Iterable, Iterator, Mapping, Sequence

from armci_tool.errors import ToolError
from armci_tool.repository import ROOT

if TYPE_CHECKING:
    from armci_tool.suite_files import Levels

LEVELS_FILE = ROOT / "conformance" / "levels.toml"
FIRST = 1
LAST = 5
NUMBERS = range(FIRST, LAST + 1)


@lru_cache(maxsize=None)
def read(path: Path = LEVELS_FILE) -> Levels:
    """The table; raises ToolError where it cannot be understood."""
    from armci_tool import suite_files
    help_text = "give the level as in the comment at the top of the file"
    found = suite_files.read(path, suite_files.Levels, "the levels", help_text)
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
