"""Rules of any good implementation on any machine: the direct way to move data is no slower than the roundabout
one. guidelines.json has a row for each rule; kinds:

    cases       a case against another one of the same size, of the same benchmark and candidate
    candidates  a candidate against another one in the same question; "where": "one node" for that alone
    places      one node against several, of the same candidate
    sizes       a message against the k messages of the next smaller size that make it up; the bound is of twice the
                size. What a raw layer loses at the same step is granted: there a cache ends, and no library can help it

A rule is violated where the whole interval of the ratio lies beyond "bound" (1 unless said); "by" is a benchmark that
has its cases. Rows of cases that were not measured are no error: the tally says that the rule was not checked.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Sequence

from armci_tool.compare import statistics
from armci_tool.compare.cells import CELL, QUESTION, RAW, Cells
from armci_tool.errors import ToolError

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import]

TABLE = Path(__file__).with_name("guidelines.json")
# One in forty intervals lies beyond a bound that is kept exactly; what is hardly beyond is not worth a look.
_ROUNDING = 1 + statistics.SAME
_SAME_PLACE = [name for name in CELL if name != "placement"]
_SAME_CASE = [name for name in CELL if name != "case"]
_SAME_OPERATION = [name for name in CELL if name != "size"]
# Of steps from one size to another.
_STEP = ["benchmark", "placement", "processes", "bytes", "bytes_less"]

KINDS = ("cases", "candidates", "places", "sizes")


@dataclass(frozen=True)
class Rule:
    """A row of guidelines.json."""

    rule: str
    kind: str
    case: str = ""
    other: str = ""
    candidate: str = ""
    where: str = ""
    bound: float = 1.0
    by: str = ""

    @property
    def needs(self) -> str:
        """The needs of the check in a run."""
        if self.kind == "places":
            return "--baseline with the results.json of a run in the other place"
        if self.kind == "candidates":
            return " and ".join([self.candidate, self.other]) + (" on one node" if self.where == "one node" else "")
        return f"the benchmark {self.by}" if self.by else "its cases"


@dataclass(frozen=True)
class Tally:
    """The result of a rule, of all rows with its name; the hint is for one that was not checked."""

    rule: str
    checked: int
    violated: int
    hint: str


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


def check(cells: Cells, table: Optional[Sequence[Rule]] = None, others: Optional[Cells] = None) -> list[Any]:
    """Every rule wherever it can be checked: rows with the columns of a cell, the rule, what the other way is, the
    interval `ratio` of the direct way over that, and the bound. `others` are cells of an earlier run in another place:
    the checks are of this run; the other cells are only the reference for its places."""
    import pandas
    made = [part for rule in (rules() if table is None else table) for part in _of_rule(rule, cells, others)]
    if not made:
        return []
    found = pandas.concat(made, ignore_index=True)
    found["violated"] = statistics.bounded(found) & (found.ratio_low > found.bound * _ROUNDING)
    return list(found.itertuples(index=False))


def violations(checks: Sequence[Any]) -> list[Any]:
    """Those that are, the worst first."""
    return sorted((one for one in checks if one.violated), key=lambda one: -float(one.ratio_low / one.bound))


def as_json(one: Any) -> dict[str, Any]:
    """Of a check, for results.json."""
    return {"rule": one.rule, "bound": one.bound, "contestant": one.candidate,
            "question": {name: getattr(one, name) for name in QUESTION}, "other": one.other,
            "ratio": statistics.as_json(one)}


def tally(checks: Sequence[Any], table: Optional[Sequence[Rule]] = None) -> list[Tally]:
    """Every rule, those that were never checked as well."""
    known = rules() if table is None else table
    made = []
    for name in dict.fromkeys(rule.rule for rule in known):
        own = [one.violated for one in checks if one.rule == name]
        needs = dict.fromkeys(rule.needs for rule in known if rule.rule == name)
        made.append(Tally(name, len(own), sum(own), "" if own else "takes " + ", or ".join(needs)))
    return made


def _of_rule(rule: Rule, cells: Cells, others: Optional[Cells]) -> list[DataFrame]:
    """The checks of a rule; of places, against this run and against the earlier one."""
    timed = cells.timed
    if rule.kind == "cases":
        pairs = _pairs(timed[timed.case == rule.case], timed[timed.case == rule.other], _SAME_CASE)
    elif rule.kind == "candidates":
        subject = timed[(timed.candidate == rule.candidate) & ((timed.placement == "") | (rule.where != "one node"))]
        pairs = _pairs(subject, timed[timed.candidate == rule.other], QUESTION)
    elif rule.kind == "sizes":
        return [_sizes(rule, cells)]
    else:
        known = [(cells, timed)]
        if others:
            known.append((others, others.timed[~others.timed.placement.isin(timed.placement)]))
        return [_places(rule, *here, *there) for here in known for there in known]
    ratio = statistics.intervals(cells.logs.loc[pairs.cell] - cells.logs.loc[pairs.cell_less].to_numpy())
    return [_checks(rule, pairs.assign(other=rule.other, bound=rule.bound), ratio)]


def _pairs(ours: DataFrame, theirs: DataFrame, same: Sequence[str]) -> DataFrame:
    return ours.merge(theirs, on=list(same), suffixes=("", "_less"))


def _checks(rule: Rule, pairs: DataFrame, ratio: DataFrame) -> DataFrame:
    made = pairs.assign(rule=rule.rule, **ratio.reset_index(drop=True))
    return made[made.ratio.notna()][["rule", *CELL, "other", "bound", *ratio.columns]]


def _places(rule: Rule, here: Cells, near: DataFrame, there: Cells, far: DataFrame) -> DataFrame:
    pairs = _pairs(near[near.placement == ""], far[far.placement != ""], _SAME_PLACE)
    # Rounds of two places are no pairs.
    ratio = statistics.welch(here.logs.loc[pairs.cell], there.logs.loc[pairs.cell_less])
    return _checks(rule, pairs.assign(other=pairs.placement_less, bound=rule.bound), ratio)


def _sizes(rule: Rule, cells: Cells) -> DataFrame:
    import numpy
    steps, raw = _steps(cells.timed), _steps(cells.table[cells.table.kind == RAW].reset_index())
    # Of the raw layer that loses most.
    granted = (raw.value / (raw.times * raw.value_less)).groupby([raw[name] for name in _STEP]).max().rename("granted")
    steps = steps.join(granted, on=_STEP)
    bound = steps.granted.fillna(1.0).clip(lower=1.0) * rule.bound ** numpy.log2(steps.times)
    ratio = statistics.intervals((cells.logs.loc[steps.cell] - cells.logs.loc[steps.cell_less].to_numpy()).sub(
        numpy.log(steps.times.to_numpy()), axis=0))
    other = steps.times.astype(int).astype(str) + " times " + steps.size_less
    return _checks(rule, steps.assign(other=other, bound=bound), ratio)


def _steps(table: DataFrame) -> DataFrame:
    """Answers to the same question of sizes that follow each other (`_less`: the smaller one), and how many of the one
    make the other. Rows and segments of several lengths are no multiples of one another."""
    sized = table[(table.bytes > 0) & ~table["size"].str.contains(" x ", regex=False)].astype({"bytes": float})
    sized = sized.sort_values("bytes", kind="stable")
    names = ["cell", "bytes", "size", "value"]
    less = sized.groupby(_SAME_OPERATION, sort=False)[names].shift(1).add_suffix("_less")
    made = sized.join(less).dropna(subset=["cell_less"]).astype({"cell_less": int})
    made["times"] = made.bytes / made.bytes_less
    return made[(made.times > 1) & (made.times % 1 == 0)].reset_index(drop=True)
