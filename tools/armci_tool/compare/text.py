"""A comparison on the screen."""

from __future__ import annotations

from typing import Mapping, Optional, Sequence

from armci_tool import console
from armci_tool.compare import earlier, standings, statistics
from armci_tool.compare.cells import LIBRARY, Cell
from armci_tool.compare.record import Comparison
from armci_tool.compare.statistics import Interval

_SHOWN = 20


def render(made: Comparison) -> str:
    """All of it, the longest table first, so that what follows from it is seen at the end."""
    parts = [_answers(made), _kernels(made), _scores(made), _winners(made), _means(made), _violations(made), _changes(made), _failures(made)]
    return "\n\n".join(part for part in parts if part)


def figure(cell: Cell) -> str:
    """Time, or rate where the program asks for one; what is counted as it is."""
    if cell.level is None:
        return f"{cell.value:.3g}"
    if cell.moved and cell.rate:
        return f"{cell.rate:.3g} GB/s" if cell.rate >= 1 else f"{1e3 * cell.rate:.3g} MB/s"
    return console.time_text(cell.value)


def times(found: Optional[Interval]) -> str:
    """`1.23 (1.10 to 1.38)`; a question mark where one round says nothing for certain."""
    if found is None:
        return "-"
    return f"{found.middle:.2f} " + (f"({found.low:.2f} to {found.high:.2f})" if found.bounded else "(?)")


def contestants(made: Comparison) -> list[str]:
    """The libraries that answered anything, in the order in which they were named."""
    answered = {cell.contestant for cell in made.cells if cell.kind == LIBRARY}
    return [one["name"] for one in made.contestants if one["name"] in answered]


def _answers(made: Comparison) -> str:
    names = contestants(made)
    several = len({question.processes for question in made.standings}) > 1
    rows = []
    for question, answers in made.standings.items():
        own = {one.cell.contestant: one for one in answers if one.cell.kind == LIBRARY}
        if not own:
            continue
        row = [question.benchmark, question.case, question.size] + [str(question.processes)] * several
        for name in names:
            row.append(_answer(own.get(name)))
        rows.append([*row, _raw(answers)])
    header = ["benchmark", "case", "size", *(["proc."] * several), *names, "raw"]
    return console.table(header, rows, numeric_from=3) + \
        "\n\nin brackets: time over that of the fastest library; * nobody is known to be faster, ? not enough is known"


def _answer(one: Optional[standings.Standing]) -> str:
    if one is None:
        return "-"
    if one.over_fastest is None:
        return figure(one.cell)
    mark = "*" if one.wins else "?" if one.verdict == statistics.UNCLEAR else " "
    return f"{figure(one.cell)} ({one.over_fastest.middle:.2f}){mark}"


def _raw(answers: Sequence[standings.Standing]) -> str:
    """The fastest that any of them is held against."""
    names = {one.cell.baseline for one in answers} - {""}
    held = [one.cell for one in answers if one.cell.kind != LIBRARY and one.cell.contestant in names]
    if not held:
        return "-"
    best = min(held, key=lambda cell: cell.value)
    return f"{figure(best)} {best.contestant}"


def _kernels(made: Comparison) -> str:
    """Each against the computation by messages in its own program."""
    names = contestants(made)
    rows = []
    for question, answers in made.standings.items():
        own = {one.cell.contestant: one.cell for one in answers if one.cell.over_baseline is not None}
        if question.benchmark in made.kernels and own:
            rows.append([f"{question.title}, {question.processes} processes",
                         *(times(own[name].over_baseline) if name in own else "-" for name in names)])
    header = ["kernel: time over that by messages in the same program", *names]
    return console.table(header, rows, numeric_from=9) if rows else ""


def _scores(made: Comparison) -> str:
    rows = [[name, str(score.wins), str(score.asked)]
            for name, score in standings.scores(made.standings).items() if score.asked]
    return console.table(["library", "nobody is known to be faster", "of"], rows) if rows else ""


def _winners(made: Comparison) -> str:
    found = standings.winners(made.standings)
    several = len({processes for _, _, processes in found}) > 1
    parts = []
    for columns, rows in standings.tables(found):
        lines = [[f"{benchmark}: {case}" + (f", {processes} processes" if several else ""),
                  *[row[title].text if title in row else "-" for title in columns]]
                 for (benchmark, case, processes), row in rows.items()]
        parts.append(console.table(["fastest (ahead of the next by; ? not of all)", *columns], lines, numeric_from=9))
    return "\n\n".join(parts)


def means_text(row: Mapping[str, standings.Means], columns: Sequence[str], contestant: str) -> str:
    """`6.20 | 2.40 | -`, a figure for each column."""
    found = [row.get(title, {}).get(contestant) for title in columns]
    return " | ".join(_mean(one) for one in found) if any(found) else "-"


def _mean(ratio: Optional[float]) -> str:
    if ratio is None:
        return "-"
    return f"{ratio:.2f}" if ratio < 9.995 else f"{ratio:.1f}" if ratio < 99.95 else f"{ratio:.0f}"


def _means(made: Comparison) -> str:
    names = contestants(made)
    if len(names) < 2:
        return ""
    found = standings.means(made.standings, names[0])
    several = len({processes for _, _, processes in found}) > 1
    parts = []
    for columns, rows in standings.tables(found):
        lines = [[f"{benchmark}: {case}" + (f", {processes} processes" if several else ""),
                  *(means_text(row, columns, name) for name in names[1:])]
                 for (benchmark, case, processes), row in rows.items()]
        sizes = f" ({' | '.join(columns)})" if len(columns) > 1 else ""
        parts.append(console.table([f"time over that of {names[0]}, geometric mean{sizes}", *names[1:]], lines,
                                   numeric_from=9))
    return "\n\n".join(parts)


def _violations(made: Comparison) -> str:
    found = made.violations
    rules = [[one.rule, str(one.checked) if one.checked else "not checked", str(one.violated) if one.checked else "-",
              one.hint] for one in made.tallies]
    parts = [console.table(["guideline", "checked", "violated", "to check it"], rules, numeric_from=9)]
    if found:
        rows = [[one.contestant, one.question.title, one.other, times(one.ratio), f"{one.bound:.2f}", one.rule.rule]
                for one in found[:_SHOWN]]
        parts.append(f"guidelines: {len(found)} of {len(made.checks)} checks violated" + _more(found) + "\n"
                     + console.table(["contestant", "case", "against", "ratio", "bound", "rule"], rows, numeric_from=9))
    return "\n\n".join(parts)


def _changes(made: Comparison) -> str:
    if not made.baseline:
        return ""
    worse, better = earlier.regressions(made.changes), earlier.gains(made.changes)
    lines = [f"against {made.baseline}: {len(made.changes)} cells in both; {len(worse)} slower and {len(better)} faster by "
             f"more than {earlier.REGRESSION - 1:.0%} for certain", *(one.text for one in made.agreements)]
    rows = [[one.contestant, one.question.title, console.time_text(one.old.middle), console.time_text(one.new.middle),
             times(one.ratio)] for one in [*worse[:_SHOWN], *better[:_SHOWN]]]
    if rows:
        lines.append(console.table(["contestant", "case", "before", "now", "now / before"], rows, numeric_from=2))
    return "\n".join(lines)


def _failures(made: Comparison) -> str:
    return "\n\n".join("\n".join([one.title, *("  " + line for line in one.last_lines)]) for one in made.course.failures)


def _more(found: Sequence[object]) -> str:
    return f", the worst {_SHOWN}:" if len(found) > _SHOWN else ":"
