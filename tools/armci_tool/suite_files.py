"""The files that the suite's runner reads, as pydantic models: an error names the file, the entry and the key.

Functions that read import this module, and no module does at its top: the tool starts, and sets up, without pydantic.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Literal, Mapping, Optional, Pattern, Sequence, Type, TypeVar

from armci_tool.errors import ToolError
from armci_tool.levels import LAST

if TYPE_CHECKING:
    from armci_tool.conformance import SuiteRun

try:
    import pydantic
    from pydantic import Field, StrictBool, StrictInt, StrictStr
except ImportError as error:
    raise ToolError("the conformance suite needs python3-pydantic", where=str(error),
                    next_step="run tools/armci setup") from error


if TYPE_CHECKING:
    Text = str
    Expression = Pattern[str]
else:
    # Some text, not empty; and a regular expression.
    Text, Expression = pydantic.constr(strict=True, min_length=1), Pattern


class Entry(pydantic.BaseModel, extra=pydantic.Extra.forbid, frozen=True):
    """A table of a file, which has these keys and no others."""


Model = TypeVar("Model", bound=pydantic.BaseModel)


def read(path: Path, model: Type[Model], what: str, next_step: str = "") -> Model:
    """The file as a model; raises ToolError where it is no such file."""
    try:
        return model.parse_obj((tomllib if path.suffix == ".toml" else json).loads(path.read_text()))
    except pydantic.ValidationError as error:
        where = "; ".join(_sentence(problem) for problem in error.errors())
    except (OSError, ValueError) as error:
        where = str(error)
    raise ToolError(f"cannot read {what}", where=f"{path}: {where}", next_step=next_step)


def _sentence(problem: Mapping[str, Any]) -> str:
    """Entries of a list are counted from 1."""
    place = " ".join(str(part + 1) if isinstance(part, int) else part for part in problem["loc"])
    words = {"value_error.missing": "is missing", "value_error.extra": "is not understood"}
    return f"{place} {words.get(problem['type'], 'is wrong: ' + problem['msg'])}"


class KnownFailure(Entry):
    """An entry of the file. An empty condition is no condition."""

    implementation: Text
    clause: Text
    tests: list[Text] = Field(min_items=1)
    ticket: Text
    reason: Text
    evidence: Text
    mpi: list[Text] = []
    np_min: StrictInt = 1
    np_max: StrictInt = sys.maxsize
    place: list[Text] = []
    config: list[Text] = []
    quick: Optional[StrictBool] = None
    sometimes: StrictBool = False
    shows: StrictStr = ""

    def applies(self, run: SuiteRun) -> bool:
        """Whether it speaks of such a run."""
        return (self.implementation == run.implementation
                and (not self.mpi or run.mpi in self.mpi)
                and self.np_min <= run.processes <= self.np_max
                and (not self.place or run.placement.kind in self.place)
                and (not self.config or run.configuration.mode in self.config)
                and (self.quick is None or self.quick == run.selection.quick))

    def text(self) -> str:
        """One line for a report."""
        return f"known failure {self.ticket} of {self.clause}: {self.reason} ({self.evidence})"


class KnownFailures(Entry):
    """conformance/known_failures.toml."""

    known: list[KnownFailure] = []


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


class Waiver(Entry):
    """A clause of which no mutant can be made."""

    clause: Text
    reason: Text


class Waivers(Entry):
    """conformance/mutants/waivers.toml."""

    waiver: list[Waiver] = []


class MutantResult(pydantic.BaseModel):
    """A library with one defect, and the tests that found it."""

    name: StrictStr
    clause: StrictStr
    description: StrictStr
    state: StrictStr
    killed_by: tuple[StrictStr, ...]


class Mutation(pydantic.BaseModel):
    """mutants.json: what the suite made of defective libraries; the score is the share that it found."""

    # The sources, and the filter if not all mutants were run.
    commit: StrictStr
    part: StrictStr
    mutants: tuple[MutantResult, ...]
    score: float

    @property
    def perfect(self) -> bool:
        """Whether it found all of them."""
        return all(mutant.state == "killed" for mutant in self.mutants)

    @property
    def text(self) -> str:
        """The score in words."""
        killed = sum(mutant.state == "killed" for mutant in self.mutants)
        of_part = f" (only those of {self.part!r} were run)" if self.part else ""
        return f"{killed} of {len(self.mutants)} killed, score {self.score:.0%}{of_part}; commit {self.commit}"
