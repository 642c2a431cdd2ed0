"""Which library wins where, and by how much: tables of operations by classes of sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

from armci_tool.compare import statistics
from armci_tool.compare.cells import LIBRARY, NO_SIZE, SIZE_CLASSES, Cells

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import]

OPERATION = ["benchmark", "case", "processes"]


def compared(cells: Cells) -> DataFrame:
    """The times of libraries that can be held against another one."""
    timed = cells.table[(cells.table.kind == LIBRARY) & cells.table.over_fastest.notna()]
    return timed[timed.groupby("question").question.transform("size") > 1]


def scores(cells: Cells) -> DataFrame:
    """Of each library: the questions in which none is known to be faster (wins), and of how many."""
    return compared(cells).groupby("candidate", sort=False).wins.agg(["sum", "size"]).set_axis(["wins", "of"], axis=1)


def against_peers(cells: Cells, own: Sequence[str], peers: Sequence[str]) -> DataFrame:
    """The cells of ours that a peer has too, the slowest first: `peer`, its time `peer_ns`, the ratio `over_peer` to the
    fastest of them, and what that says (`ahead` where ours is faster for certain)."""
    timed = cells.timed
    theirs = timed[timed.candidate.isin(peers)]
    best = theirs.loc[theirs.groupby("question").value.idxmin()].set_index("question")
    found = timed[timed.candidate.isin(own) & timed.question.isin(best.index)].set_index("cell")
    best = best.loc[found.question]
    over = cells.logs.loc[found.index] - cells.logs.loc[best.cell].to_numpy()
    found = found.join(statistics.intervals(over, "over_peer")).assign(peer=best.candidate.to_numpy(),
                                                                       peer_ns=best.value.to_numpy())
    found["said"] = statistics.verdicts(found, "over_peer")
    found["ahead"] = found.said == statistics.FASTER
    return found.sort_values("over_peer", ascending=False, kind="stable")


def winners(cells: Cells) -> list[DataFrame]:
    """The libraries that win most often, as text."""
    import pandas
    names = [*OPERATION, "size_class"]
    rows = [(*key, winners_text(group)) for key, group in compared(cells).groupby(names, sort=False)]
    made = pandas.DataFrame(rows, columns=[*names, "text"])
    return _tables(made, OPERATION, made.pivot_table("text", OPERATION, "size_class", "first"))


def winners_text(group: DataFrame) -> str:
    """`a = b (1.20x) ?`: by how much the next was behind, where one was for certain; whether of one it is unclear."""
    counts = group.groupby("candidate", sort=False).wins.sum()
    names = list(counts.index[counts == counts.max()])
    others = group[~group.candidate.isin(names)]
    if len(names) > 2 and others.empty:
        return "all alike"
    beaten = list(others.candidate.unique())
    best = f"all but {beaten[0]}" if len(beaten) == 1 and len(names) > 2 else " = ".join(names)
    ahead = others.over_fastest[others.verdict == statistics.SLOWER].min()
    factor = "" if not ahead > 0 else f" ({ahead:.2f}x)" if ahead < 9.995 else f" ({ahead:.0f}x)"
    return best + factor + (" ?" if (others.verdict == statistics.UNCLEAR).any() else "")


def means(cells: Cells, names: Sequence[str]) -> list[DataFrame]:
    """The geometric mean over sizes of the time over that of the first of `names` that took part in the operation: it is
    named in the index; columns by class of sizes and library."""
    import numpy
    timed = cells.timed.set_index("cell")
    timed["first"] = timed.candidate.map({name: number for number, name in enumerate(names)})
    timed["first"] = timed.groupby(OPERATION)["first"].transform("min").map(dict(enumerate(names)))
    firsts = timed[timed.candidate == timed["first"]].reset_index().set_index("question").cell
    # Round by round, as everywhere; those of no common round have nothing in common.
    over = cells.logs.loc[timed.index] - cells.logs.reindex(timed.question.map(firsts)).to_numpy()
    timed["mean"] = over.mean(axis=1)
    others = timed[(timed.candidate != timed["first"]) & timed["mean"].notna()]
    index = [*OPERATION, "first"]
    return _tables(others, index, numpy.exp(others.pivot_table("mean", index, ["size_class", "candidate"])))


def _tables(order: DataFrame, index: Sequence[str], found: DataFrame) -> list[DataFrame]:
    """Of operations that have sizes, and of others, in the order in which they were met."""
    import pandas
    found = found.reindex(pandas.MultiIndex.from_frame(order[list(index)].drop_duplicates()))
    split = []
    for classes in (list(SIZE_CLASSES), [NO_SIZE]):
        columns = [column for title in classes for column in found.columns if title in (column, column[0])]
        split.append(found[columns].dropna(how="all"))
    return [table for table in split if not table.empty]
