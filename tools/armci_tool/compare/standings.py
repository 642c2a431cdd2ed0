"""Who wins where: every answer against the fastest one."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import geometric_mean
from typing import Mapping, Optional, Sequence, TypeVar

from armci_tool.compare import statistics
from armci_tool.compare.cells import LIBRARY, Cell, Question, by_question
from armci_tool.compare.statistics import Interval

# Where what counts is the call, the copy, and the way between; names of columns.
_SIZE_CLASSES = (("up to 1 KiB", 2**10), ("up to 64 KiB", 2**16), ("larger", 2**62))
_ANY_SIZE = "fastest"


@dataclass(frozen=True)
class Standing:
    """An answer: its time over that of the fastest library, or what a raw layer takes over it."""

    cell: Cell
    over_fastest: Optional[Interval]
    is_fastest: bool

    @property
    def verdict(self) -> str:
        """Against the fastest; empty where nothing can be said."""
        if self.is_fastest:
            return "fastest"
        return statistics.verdict(self.over_fastest) if self.over_fastest else ""

    @property
    def wins(self) -> bool:
        """Whether nobody is known to be faster."""
        return self.cell.kind == LIBRARY and self.verdict in ("fastest", statistics.SAME_SPEED)


def standings(cells: Sequence[Cell]) -> dict[Question, list[Standing]]:
    """For each question its answers. The fastest is a library, as the raw layers promise less."""
    return {question: _of_one(answers) for question, answers in by_question(cells).items()}


def _of_one(answers: Sequence[Cell]) -> list[Standing]:
    timed = [cell for cell in answers if cell.kind == LIBRARY and cell.level is not None]
    if not timed:
        return [Standing(cell, None, False) for cell in answers]
    fastest = min(timed, key=lambda cell: cell.value)
    return [Standing(cell, cell.over(fastest.medians), cell is fastest) for cell in answers]


@dataclass
class Score:
    """Of a contestant: questions that others answered as well, and those of them in which nobody is known to be faster."""

    wins: int = 0
    asked: int = 0


def scores(found: Mapping[Question, Sequence[Standing]]) -> dict[str, Score]:
    """Of each library."""
    made: dict[str, Score] = {}
    for answers in found.values():
        against = [one for one in answers if one.cell.kind == LIBRARY and one.over_fastest is not None]
        for one in against:
            score = made.setdefault(one.cell.contestant, Score())
            score.asked += len(against) > 1
            score.wins += len(against) > 1 and one.wins
    return made


@dataclass(frozen=True)
class Winners:
    """Of an operation in a class of sizes: who won most often; by how much the next was behind, where somebody was for
    certain; whether of somebody it is unclear."""

    names: tuple[str, ...]
    ahead: Optional[float]
    unclear: bool
    others: tuple[str, ...]

    @property
    def text(self) -> str:
        """For a cell of a table."""
        if not self.others and len(self.names) > 2:
            return "all alike"
        best = f"all but {self.others[0]}" if len(self.others) == 1 and len(self.names) > 2 else " = ".join(self.names)
        factor = self.ahead or 0.0
        ahead = f" ({factor:.2f}x)" if 0 < factor < 9.995 else f" ({factor:.0f}x)" if factor else ""
        return best + ahead + (" ?" if self.unclear else "")


T = TypeVar("T")
# Benchmark, case and processes.
Operation = tuple[str, str, int]
Row = dict[str, Winners]
# Of each contestant, over the first one.
Means = dict[str, float]


def winners(found: Mapping[Question, Sequence[Standing]]) -> dict[Operation, Row]:
    """By benchmark, case and processes, and in them by class of sizes."""
    grouped: dict[Operation, dict[str, list[Sequence[Standing]]]] = {}
    for question, answers in found.items():
        libraries = [one for one in answers if one.cell.kind == LIBRARY and one.over_fastest is not None]
        if len(libraries) > 1:
            row = grouped.setdefault((question.benchmark, question.case, question.processes), {})
            row.setdefault(size_class(amount(question, libraries)), []).append(libraries)
    return {key: {title: _winners(answers) for title, answers in row.items()} for key, row in grouped.items()}


def means(found: Mapping[Question, Sequence[Standing]], first: str) -> dict[Operation, dict[str, Means]]:
    """The geometric mean over sizes of the time over that of `first`; by operation, class of sizes and contestant."""
    grouped: dict[Operation, dict[str, dict[str, list[float]]]] = {}
    for question, answers in found.items():
        timed = {one.cell.contestant: one.cell for one in answers
                 if one.cell.kind == LIBRARY and one.cell.level is not None}
        if first not in timed or len(timed) < 2:
            continue
        row = grouped.setdefault((question.benchmark, question.case, question.processes), {})
        ratios = row.setdefault(size_class(amount(question, answers)), {})
        for name, cell in timed.items():
            # Round by round, as everywhere; those of no common round have nothing in common.
            over = cell.over(timed[first].medians)
            if name != first and over is not None:
                ratios.setdefault(name, []).append(over.middle)
    return {key: {title: {name: geometric_mean(found) for name, found in ratios.items()} for title, ratios in row.items()}
            for key, row in grouped.items()}


def tables(found: Mapping[Operation, dict[str, T]]) -> list[tuple[list[str], dict[Operation, dict[str, T]]]]:
    """What winners() or means() found as tables with their columns: of operations that have sizes, and of others."""
    split: list[tuple[list[str], dict[Operation, dict[str, T]]]] = []
    for columns in ([title for title, _ in _SIZE_CLASSES], [_ANY_SIZE]):
        rows = {key: row for key, row in found.items() if any(title in row for title in columns)}
        if rows:
            split.append(([title for title in columns if any(title in row for row in rows.values())], rows))
    return split


def amount(question: Question, answers: Sequence[Standing]) -> Optional[int]:
    """What the size says, else what the program says that it moves: `64 x 64` of a patch are so many doubles."""
    return question.bytes or int(max(one.cell.moved for one in answers)) or None


def size_class(size: Optional[int]) -> str:
    """The name of the class."""
    return _ANY_SIZE if size is None else next(title for title, most in _SIZE_CLASSES if size <= most)


def _winners(answers: Sequence[Sequence[Standing]]) -> Winners:
    counts: dict[str, int] = {}
    for one in answers:
        for standing in one:
            counts[standing.cell.contestant] = counts.get(standing.cell.contestant, 0) + standing.wins
    names = tuple(name for name, count in counts.items() if count == max(counts.values()))
    others = [standing for one in answers for standing in one if standing.cell.contestant not in names]
    behind = [standing.over_fastest.middle for standing in others
              if standing.over_fastest and standing.verdict == statistics.SLOWER]
    unclear = any(one.verdict == statistics.UNCLEAR for one in others)
    return Winners(names, min(behind) if behind else None, unclear, tuple(name for name in counts if name not in names))
