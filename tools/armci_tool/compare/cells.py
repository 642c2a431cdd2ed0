"""The samples of all runs as tables: a cell is the answer of a candidate to one case of one benchmark, in one place.

A program measures the library that it is linked with and the raw layers below; each series says which ("layer").
Libraries are candidates; so is each raw layer, with the samples of all programs, for it is the same in all. What a
program measures of its own library in another way (row by row, in place of one strided call) is a case of that library.
The raw side of a kernel is a whole computation, whose time depends on where its loops lie in the program: it is no
candidate, and each library is held against the one in its own program.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, Optional

from armci_tool.compare import statistics

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import]

LIBRARY, RAW, FASTEST = "library", "raw", "fastest"
# The columns of a question: every candidate answers it.
QUESTION = ["benchmark", "case", "size", "placement", "processes"]
CELL = [*QUESTION, "candidate"]
# Of each series: `beside` is a raw layer in the same program, and empty for the cell's own samples.
_COLUMNS = [*CELL, "kind", "kernel", "counted", "moved", "beside", "is_baseline", "round", "samples"]
# Where what counts is the call, the copy, and the way between.
SIZE_CLASSES = {"up to 1 KiB": 2**10, "up to 64 KiB": 2**16, "larger": 2**62}
NO_SIZE = "fastest"

UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_SIZE = re.compile(r"^(?:(\d+)(?: rows| segments)? ?x )?(\d+) (B|KiB|MiB|GiB)$")


@dataclass(frozen=True)
class Cells:
    """Columns of `table`, a row for each cell, the answers to a question together:

    kind, kernel      library or raw; whether it is of a whole computation
    counted           not timed, one value in each round
    moved             bytes in an iteration, where the program wants rates
    bytes, amount     of the size, rows and segments together; that, or what is moved; nothing where there is neither
    value             the time (an interval), or what was counted; rate: bytes per nanosecond
    spread            from the tenth to the ninetieth of a hundred samples of a round, as a part of its median
    quiet_ns          what the best tenth of the best round stays below: other programs on the machine enter it least
    p99_ns            what 99 of 100 samples stay below; a sample of short calls is the mean of many
    baseline          the fastest raw layer that it is held against, baseline_ns its time, over_baseline the ratio to it
    over_fastest      the ratio to the fastest library, as the raw layers promise less; verdict: what that says
    wins              whether no library is known to be faster
    """

    table: DataFrame
    logs: DataFrame  # logarithms of the medians, by cell and round; nothing where it is counted
    raw: DataFrame  # the same of the raw layers that it is held against, in its own programs, by cell and layer

    def __len__(self) -> int:
        return len(self.table)

    @property
    def timed(self) -> DataFrame:
        """The cells of libraries that are times, with their numbers in a column."""
        return self.table[(self.table.kind == LIBRARY) & ~self.table.counted].reset_index()


def bytes_of(size: str) -> Optional[int]:
    """`8 B`, `64 KiB`, `16 x 1 KiB`, `64 rows x 1 KiB`; None where it is no amount of bytes."""
    found = _SIZE.match(size)
    return int(found.group(1) or 1) * int(found.group(2)) * UNITS[found.group(3)] if found else None


def title(row: Any, with_processes: bool = False) -> str:
    """`rma: put, 8 B`."""
    return (f"{row.benchmark}: {row.case}" + (f", {row.size}" if row.size not in ("", "-") else "")
            + (f", {row.processes} processes" if with_processes else ""))


def answers(table: DataFrame) -> list[dict[str, Any]]:
    """The cells of each question by candidate."""
    made: dict[int, dict[str, Any]] = {}
    for row in table.itertuples():
        made.setdefault(row.question, {})[row.candidate] = row
    return list(made.values())


def collect(runs: Iterable[Mapping[str, Any]]) -> Cells:
    """From runs as results.json keeps them (see record); the questions in the order in which they were met."""
    import numpy
    import pandas
    series = [row for run in runs for case in _once(run) for row in _series(run, case)]
    found = pandas.DataFrame(series, columns=_COLUMNS)
    found["question"] = found.groupby(QUESTION, sort=False).ngroup()
    found = found.sort_values("question", kind="stable")
    found["cell"] = found.groupby(CELL, sort=False).ngroup()
    table = found.drop_duplicates("cell").set_index("cell").drop(columns=["beside", "is_baseline", "round", "samples"])
    table = table.astype({"counted": bool, "kernel": bool, "moved": float})
    samples = found[["cell", "beside", "round", "samples"]].explode("samples").astype({"samples": float})
    if not numpy.isfinite(samples.samples).all():
        raise ValueError("samples that are no numbers")
    medians = samples.groupby(["cell", "beside", "round"]).samples.median().unstack("round").astype(float)
    own = medians[medians.index.get_level_values("beside") == ""].droplevel("beside")
    held = found[found.is_baseline.astype(bool)]
    raw = numpy.log(medians[medians.index.isin(list(zip(held.cell, held.beside)))])
    logs = numpy.log(own.where(~table.counted))
    table = _described(table, samples[samples.beside == ""], own, logs)
    return Cells(_compared(table, logs, raw), logs, raw)


def _described(table: DataFrame, samples: DataFrame, medians: DataFrame, logs: DataFrame) -> DataFrame:
    """Each cell by itself."""
    import pandas
    table = table.join(statistics.intervals(logs, "value"))
    table["value"] = table.value.where(~table.counted, medians.median(axis=1))
    table["rounds"] = medians.count(axis=1)
    by_round = samples.groupby(["cell", "round"]).samples
    tenth, nine_tenths = (by_round.quantile(share).unstack("round") for share in (0.1, 0.9))
    table["spread"] = ((nine_tenths - tenth) / medians).median(axis=1)
    table["quiet_ns"], table["p99_ns"] = tenth.min(axis=1), samples.groupby("cell").samples.quantile(0.99)
    table["bytes"] = pandas.array(table["size"].map(bytes_of), dtype="Int64")
    moved = table.moved.where(table.moved > 0)
    table["rate"] = moved.fillna(table.bytes.astype(float)) / table.value.where(~table.counted)
    # The amount that the program says that it moves: `64 x 64` of a patch are so many doubles.
    table["amount"] = table.bytes.astype(float).fillna(moved.groupby(table.question).transform("max"))
    classes = pandas.cut(table.amount, [0, *SIZE_CLASSES.values()], labels=list(SIZE_CLASSES))
    table["size_class"] = classes.astype(object).fillna(NO_SIZE)
    return table


def _compared(table: DataFrame, logs: DataFrame, raw: DataFrame) -> DataFrame:
    """Each cell against the fastest library, and against the raw layer beside it."""
    import numpy
    order = numpy.exp(raw).median(axis=1).sort_values(kind="stable").index
    best = raw.loc[order].groupby(level="cell").head(1).reset_index("beside")
    table["baseline"] = best.beside.reindex(table.index).fillna("")
    beside = best.drop(columns="beside").reindex(table.index)
    table["baseline_ns"] = numpy.exp(beside.mean(axis=1))
    table = table.join(statistics.intervals(logs - beside, "over_baseline"))
    timed = table[(table.kind == LIBRARY) & ~table.counted]
    fastest = table.question.map(timed.groupby("question").value.idxmin())
    table = table.join(statistics.intervals(logs - logs.reindex(fastest).to_numpy(), "over_fastest"))
    table["verdict"] = numpy.where(table.index == fastest, FASTEST, statistics.verdicts(table, "over_fastest"))
    table["wins"] = (table.kind == LIBRARY) & table.verdict.isin([FASTEST, statistics.SAME_SPEED])
    return table


def _once(run: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The cases of a run. A kernel may measure the same twice: `SpMV, aggregated` has nothing that `SpMV` has not."""
    cases: list[Mapping[str, Any]] = (run["data"] or {}).get("cases", [])
    if not run.get("kernel"):
        return cases
    return [case for case in cases if not any(_has_all_of(other, case) for other in cases)]


def _has_all_of(other: Mapping[str, Any], case: Mapping[str, Any]) -> bool:
    ways = [{series["name"] for series in one.get("series", ())} for one in (case, other)]
    return case["name"].startswith(other["name"] + ", ") and case["size"] == other["size"] and bool(ways[0]) \
        and ways[0] <= ways[1]


def _series(run: Mapping[str, Any], case: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Rows of _COLUMNS."""
    def row(name: str, candidate: str, kind: str, samples: list[float], counted: bool = False, beside: str = "",
            is_baseline: bool = False) -> tuple[Any, ...]:
        return (run["benchmark"], name, case["size"], run["placement"], run["processes"], candidate, kind,
                bool(run.get("kernel")), counted, case.get("bytes", 0), beside, is_baseline, run["round"], samples)

    if "value" in case:
        yield row(case["name"], run["contestant"], LIBRARY, [float(case["value"])], counted=True)
        return
    kept = [series for series in case["series"]
            if series["samples_ns"] and min(series["samples_ns"]) > 0 and series["role"] != "allowance"]
    raw = [series for series in kept if not _is_own(series)]
    for series in kept:
        if _is_own(series):
            name = case["name"] + ("" if series["role"] == "subject" else f", {series['name']}")
            yield row(name, run["contestant"], LIBRARY, series["samples_ns"])
            for one in raw:
                yield row(name, run["contestant"], LIBRARY, one["samples_ns"], beside=one["name"],
                          is_baseline=one["role"] == "baseline")
        elif not run.get("kernel"):
            yield row(case["name"], series["name"], RAW, series["samples_ns"])


def _is_own(series: Mapping[str, Any]) -> bool:
    """Whether it is of the library. In old files without the layer, what is not the subject is taken for raw."""
    return bool(series["role"] == "subject" or series.get("layer") == LIBRARY)
