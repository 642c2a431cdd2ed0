"""What holds of any good implementation, whatever the machine: the direct way to move data is no slower than the
roundabout one. guidelines.json has a row for each rule; kinds:

    cases        a case against another one of the same size, of the same benchmark and contestant
    contestants  a contestant against another one in the same question; "where": "one node" for that alone
    places       one node against several, of the same contestant
    sizes        a message against the k messages of the next smaller size that make it up; the bound is of twice the
                 size. What a raw layer loses at the same step is granted: there a cache ends, and nobody can help it

A rule is violated where the whole interval of the ratio lies beyond "bound" (1 unless said); "by" is a benchmark that
has its cases. Rows of cases that were not measured are no error: it is told that the rule was not checked.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence

from armci_tool.compare import statistics
from armci_tool.compare.cells import RAW, Cell, Question, libraries
from armci_tool.compare.statistics import Interval
from armci_tool.errors import ToolError

TABLE = Path(__file__).with_name("guidelines.json")
# One in forty intervals lies beyond a bound that is kept exactly; what is hardly beyond is not worth a look.
_ROUNDING = 1 + statistics.SAME

Timed = Mapping[tuple[Question, str], Cell]
# Benchmark, placement, processes, and two sizes: the time of one message over that of as many bytes in smaller ones.
Steps = Mapping[tuple[str, str, int, int, int], float]

KINDS = ("cases", "contestants", "places", "sizes")


@dataclass(frozen=True)
class Rule:
    """A row of guidelines.json."""

    rule: str
    kind: str
    case: str = ""
    other: str = ""
    contestant: str = ""
    where: str = ""
    bound: float = 1.0
    by: str = ""

    @property
    def needs(self) -> str:
        """What a run has to have for it to be checked."""
        if self.kind == "places":
            return "--baseline with the results.json of a run in the other place"
        if self.kind == "contestants":
            return " and ".join([self.contestant, self.other]) + (" on one node" if self.where == "one node" else "")
        return f"the benchmark {self.by}" if self.by else "its cases"


@dataclass(frozen=True)
class Tally:
    """What became of a rule, of all rows with its name."""

    rule: str
    checked: int
    violated: int
    needs: tuple[str, ...]  # any of them

    @property
    def hint(self) -> str:
        """For a rule that was not checked."""
        return "" if self.checked else "takes " + ", or ".join(self.needs)


@dataclass(frozen=True)
class Check:
    """A rule where it could be checked: the time of the direct way over that of the other."""

    rule: Rule
    contestant: str
    question: Question
    other: str  # what the other way is
    ratio: Interval
    bound: float

    @property
    def violated(self) -> bool:
        """Beyond the bound for certain."""
        return self.ratio.bounded and self.ratio.low > self.bound * _ROUNDING

    def as_json(self) -> dict[str, Any]:
        """For results.json."""
        return {"rule": self.rule.rule, "bound": self.bound, "contestant": self.contestant,
                "question": asdict(self.question), "other": self.other, "ratio": self.ratio.as_json()}


@lru_cache(maxsize=None)
def rules(path: Path = TABLE) -> tuple[Rule, ...]:
    """The table."""
    made = []
    for number, row in enumerate(json.loads(path.read_text()), 1):
        try:
            made.append(Rule(**row))
        except TypeError as error:
            raise ToolError("cannot read a guideline", where=f"{path}, row {number}: {error}",
                            next_step="use the fields of the other rows") from error
        if made[-1].kind not in KINDS:
            raise ToolError(f"there is no kind of guideline {made[-1].kind!r}", where=f"{path}, row {number}",
                            next_step="use one of: " + ", ".join(KINDS))
    return tuple(made)


def check(cells: Sequence[Cell], table: Optional[Sequence[Rule]] = None, others: Sequence[Cell] = ()) -> list[Check]:
    """Every rule wherever it can be checked. `others` are cells of an earlier run in another place: what is told is of
    this run, they are only what the places of it are held against."""
    timed = _timed(cells)
    everywhere = {**_timed(others), **timed}
    steps = _raw_steps(cells)
    ways: Mapping[str, Callable[[Rule, Timed], Iterator[Check]]] = {
        "cases": _cases, "contestants": _contestants, "places": lambda rule, _: _places(rule, everywhere),
        "sizes": lambda rule, timed: _sizes(rule, timed, steps)}
    return [one for rule in (rules() if table is None else table) for one in ways[rule.kind](rule, timed)]


def _timed(cells: Sequence[Cell]) -> dict[tuple[Question, str], Cell]:
    return {(cell.question, cell.contestant): cell for cell in libraries(cells) if cell.level is not None}


def violations(checks: Sequence[Check]) -> list[Check]:
    """Those that are, the worst first."""
    return sorted((one for one in checks if one.violated), key=lambda one: -one.ratio.low / one.bound)


def tally(checks: Sequence[Check], table: Optional[Sequence[Rule]] = None) -> list[Tally]:
    """Every rule, those that were never checked as well."""
    made = []
    known = rules() if table is None else table
    for name in dict.fromkeys(rule.rule for rule in known):
        own = [one for one in checks if one.rule.rule == name]
        needs = tuple(dict.fromkeys(rule.needs for rule in known if rule.rule == name))
        made.append(Tally(name, len(own), sum(one.violated for one in own), needs))
    return made


def _cases(rule: Rule, timed: Timed) -> Iterator[Check]:
    for (question, contestant), cell in timed.items():
        if question.case == rule.case:
            other = timed.get((replace(question, case=rule.other), contestant))
            found = cell.over(other.medians) if other else None
            if found:
                yield Check(rule, contestant, question, rule.other, found, rule.bound)


def _contestants(rule: Rule, timed: Timed) -> Iterator[Check]:
    for (question, contestant), cell in timed.items():
        if contestant == rule.contestant and not (rule.where == "one node" and question.placement):
            other = timed.get((question, rule.other))
            found = cell.over(other.medians) if other else None
            if found:
                yield Check(rule, contestant, question, rule.other, found, rule.bound)


def _places(rule: Rule, timed: Timed) -> Iterator[Check]:
    for (question, contestant), cell in timed.items():
        if question.placement:
            continue
        for (elsewhere, name), other in timed.items():
            if elsewhere.placement and name == contestant and replace(elsewhere, placement="") == question:
                # Rounds of two places are no pairs.
                found = statistics.ratio_apart(list(cell.medians.values()), list(other.medians.values()))
                yield Check(rule, contestant, question, elsewhere.placement, found, rule.bound)


def _sizes(rule: Rule, timed: Timed, steps: Steps) -> Iterator[Check]:
    for smaller, larger, times in _neighbours(list(timed.values())):
        found = larger.over({one: times * median for one, median in smaller.medians.items()})
        if found:
            granted = max(1.0, steps.get(_step(smaller.question, larger.question), 1.0))
            yield Check(rule, larger.contestant, larger.question, f"{times} times {smaller.question.size}", found,
                        granted * rule.bound ** math.log2(times))


def _neighbours(cells: Sequence[Cell]) -> Iterator[tuple[Cell, Cell, int]]:
    """Answers to the same question of sizes that follow each other, and how many of the one make the other."""
    operations: dict[tuple[Question, str], list[tuple[int, Cell]]] = {}
    for cell in cells:
        # Rows and segments of several lengths are no multiples of one another.
        if cell.question.bytes and " x " not in cell.question.size and cell.level is not None:
            key = (replace(cell.question, size=""), cell.contestant)
            operations.setdefault(key, []).append((cell.question.bytes, cell))
    for sizes in operations.values():
        ordered = sorted(sizes, key=lambda one: one[0])
        for (less, smaller), (more, larger) in zip(ordered, ordered[1:]):
            if more > less and more % less == 0:
                yield smaller, larger, more // less


def _raw_steps(cells: Sequence[Cell]) -> Steps:
    """Of the raw layer that loses most."""
    made: dict[tuple[str, str, int, int, int], float] = {}
    for smaller, larger, times in _neighbours([cell for cell in cells if cell.kind == RAW]):
        key = _step(smaller.question, larger.question)
        made[key] = max(made.get(key, 0.0), larger.value / (times * smaller.value))
    return made


def _step(smaller: Question, larger: Question) -> tuple[str, str, int, int, int]:
    return (larger.benchmark, larger.placement, larger.processes, smaller.bytes or 0, larger.bytes or 0)
