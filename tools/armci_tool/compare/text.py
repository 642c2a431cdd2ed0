"""A comparison on the screen, and the tables that the page has as well."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Optional, Sequence

from armci_tool import console
from armci_tool.compare import cells, earlier, guidelines, ranking, statistics
from armci_tool.compare.cells import LIBRARY, title
from armci_tool.compare.record import Comparison
from armci_tool.console import time_text

_SHOWN = 20
_SAID = {statistics.SLOWER: "slower", statistics.SAME_SPEED: "as fast", statistics.UNCLEAR: "unclear", "": "unclear"}


@dataclass(frozen=True)
class Table:
    """Cells that are words, but those from `numbers_from` on."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers_from: int = 9

    @property
    def text(self) -> str:
        """For the screen."""
        return console.table(self.header, self.rows, self.numbers_from)


def render(made: Comparison) -> str:
    """All of it, the longest table first, so that what follows from it is seen at the end."""
    tables = [_kernels(made), scores(made), *winners(made), *means(made)]
    marks = "; ! ours is not ahead of a peer" if len(made.behind) else ""
    parts = [answers(made).text, "in brackets: time over that of the fastest library; * no library is known to be faster, "
             f"? not enough is known{marks}", *(one.text for one in tables if one.rows), *_guidelines(made), _changes(made), *_behind(made),
             *("\n".join([one.title, *("  " + line for line in one.last_lines)]) for one in made.course.failures)]
    return "\n\n".join(part for part in parts if part)


def figure(cell: Any) -> str:
    """Time, or rate where the program wants one; what is counted as it is."""
    if cell.counted:
        return f"{cell.value:.3g}"
    if cell.moved:
        return f"{cell.rate:.3g} GB/s" if cell.rate >= 1 else f"{1e3 * cell.rate:.3g} MB/s"
    return time_text(cell.value)


def ratio(value: float) -> str:
    """Three digits; nothing of what is not known."""
    if math.isnan(value):
        return "-"
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def has_several(made: Comparison) -> bool:
    """Whether cells have to say on how many processes they are."""
    return bool(made.cells.table.processes.nunique() > 1)


def answers(made: Comparison) -> Table:
    """Of all libraries to all questions, and the fastest raw layer that any of them is held against."""
    several = has_several(made)
    rows = []
    for asked in cells.answers(made.cells.table):
        own = {name: one for name, one in asked.items() if one.kind == LIBRARY}
        for one in [*own.values()][:1]:
            rows.append([one.benchmark, one.case, one.size, *[str(one.processes)] * several,
                         *(_answer(own.get(name), made) for name in made.names), _raw(asked)])
    return Table(["benchmark", "case", "size", *["proc."] * several, *made.names, "raw"], rows, numbers_from=3)


def _answer(one: Optional[Any], made: Comparison) -> str:
    if one is None:
        return "-"
    if math.isnan(one.over_fastest):
        return figure(one)
    mark = "*" if one.wins else "?" if one.verdict == statistics.UNCLEAR else " "
    return f"{figure(one)} ({one.over_fastest:.2f}){mark}" + "!" * (one.Index in made.behind.index)


def _raw(asked: Mapping[str, Any]) -> str:
    held = [asked[name] for name in {one.baseline for one in asked.values()} if name in asked]
    best = min(held, key=lambda cell: float(cell.value), default=None)
    return f"{figure(best)} {best.candidate}" if best else "-"


def _kernels(made: Comparison) -> Table:
    """Each against the computation by messages in its own program."""
    table = made.cells.table
    rows = [[title(next(iter(own.values())), True),
             *(statistics.text(own[name], "over_baseline") if name in own else "-" for name in made.names)]
            for own in cells.answers(table[table.kernel & table.over_baseline.notna()])]
    return Table(["kernel: time over that by messages in the same program", *made.names], rows)


def scores(made: Comparison) -> Table:
    """How often each library wins."""
    return Table(["library", "no library is known to be faster", "of"],
                 [[name, str(wins), str(of)] for name, wins, of in ranking.scores(made.cells).itertuples()], 1)


def winners(made: Comparison) -> list[Table]:
    """Of each operation, by classes of sizes."""
    return [Table(["fastest (ahead of the next by; ? not of all)", *found.columns],
                  [[_operation(made, key), *row] for key, row in zip(found.index, found.fillna("-").to_numpy())])
            for found in ranking.winners(made.cells)]


def means(made: Comparison) -> list[Table]:
    """Of each operation the time over that of the first library: `6.20 | 2.40 | -`, by classes of sizes."""
    return [] if len(made.names) < 2 else list(_means(made))


def _means(made: Comparison) -> Iterator[Table]:
    first, *others = made.names
    for found in ranking.means(made.cells, made.names):
        classes = list(dict.fromkeys(title for title, _ in found.columns))
        rows = []
        for (*key, over), row in zip(found.index, found.to_dict("records")):
            figures = [[ratio(row.get((title, name), math.nan)) for title in classes] for name in others]
            rows.append([_operation(made, key) + (f" (over {over})" if over != first else ""),
                         *(" | ".join(one) if set(one) != {"-"} else "-" for one in figures)])
        sizes = f" ({' | '.join(classes)})" if len(classes) > 1 else ""
        yield Table([f"time over that of {first}, geometric mean{sizes}", *others], rows)


def _operation(made: Comparison, key: Sequence[Any]) -> str:
    return f"{key[0]}: {key[1]}" + (f", {key[2]} processes" if has_several(made) else "")


def ahead(made: Comparison) -> str:
    """In how many cells."""
    return f"ours is ahead of every peer in {int(made.against_peers.ahead.sum())} of {len(made.against_peers)} cells"


def behind(made: Comparison, most: Optional[int] = None) -> Table:
    """The cells in which ours is not ahead of a peer, the slowest first."""
    return Table(["ours", "case", "time", "fastest peer", "its time", "ratio", "ours is"],
                 [[one.candidate, title(one, has_several(made)), time_text(one.value), one.peer, time_text(one.peer_ns),
                   statistics.text(one, "over_peer"), _SAID[one.said]] for one in made.behind[:most].itertuples()])


def _behind(made: Comparison) -> list[str]:
    if made.against_peers.empty:
        return []
    more = f"; not in these, the slowest {_SHOWN}:" if len(made.behind) > _SHOWN else "; not in these:"
    return [ahead(made) + (more + "\n" + behind(made, _SHOWN).text if len(made.behind) else "")]


def rules(made: Comparison) -> Table:
    """The result of each guideline."""
    return Table(["guideline", "checked", "violated", "to check it"],
                 [[one.rule, *([str(one.checked), str(one.violated)] if one.checked else ["not checked", "-"]), one.hint]
                  for one in guidelines.tally(made.checks)])


def violations(made: Comparison, found: Sequence[Any]) -> Table:
    """Of guidelines."""
    return Table(["candidate", "case", "against", "ratio", "bound", "rule"],
                 [[one.candidate, title(one, has_several(made)), one.other, statistics.text(one), f"{one.bound:.2f}",
                   one.rule] for one in found])


def changed(made: Comparison, found: Sequence[Any]) -> Table:
    """Cells that an earlier run has as well."""
    return Table(["candidate", "case", "before", "now", "now / before"],
                 [[one.candidate, title(one, has_several(made)), time_text(one.old), time_text(one.new),
                   statistics.text(one)] for one in found], 2)


def _guidelines(made: Comparison) -> list[str]:
    found = guidelines.violations(made.checks)
    more = f", the worst {_SHOWN}:" if len(found) > _SHOWN else ":"
    return [rules(made).text, *[f"guidelines: {len(found)} of {len(made.checks)} checks violated{more}\n"
                                + violations(made, found[:_SHOWN]).text] * bool(found)]


def against(made: Comparison) -> str:
    """How many cells have changed."""
    slower, faster = earlier.regressions(made.changes), earlier.gains(made.changes)
    return (f"against {made.baseline}: {len(made.changes)} cells in both; {len(slower)} slower and {len(faster)} faster "
            f"by more than {earlier.REGRESSION - 1:.0%} for certain")


def _changes(made: Comparison) -> str:
    if not made.baseline:
        return ""
    shown = [*earlier.regressions(made.changes)[:_SHOWN], *earlier.gains(made.changes)[:_SHOWN]]
    return "\n".join([against(made), *(one.text for one in made.agreements), *[changed(made, shown).text] * bool(shown)])
