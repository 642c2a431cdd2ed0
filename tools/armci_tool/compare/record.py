"""A comparison as files for scripts: results.json, which has every sample and can be read again, and results.csv."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Mapping, Sequence, Tuple, Union

from armci_tool.compare import cells, earlier, guidelines, ranking, statistics
from armci_tool.compare.candidates import OWN, PEER
from armci_tool.compare.cells import Cells
from armci_tool.compare.noise import Noise
from armci_tool.compare.runner import Course
from armci_tool.errors import ToolError

SCHEMA = "armci-compare-1"
JSON_NAME, CSV_NAME = "results.json", "results.csv"
_CHANGES_ANYWAY = frozenset({"date", "commit"})
# With the names of columns of a cell where those are others; from "low" on nothing is said of what is counted.
_CSV_COLUMNS = ("benchmark", "case", "size", "bytes", "placement", "processes", "contestant", "kind", "rounds", "value",
                "low", "high", "unit", "spread", "quiet_ns", "p99_ns", "gb_per_s", "over_fastest", "over_fastest_low",
                "over_fastest_high", "verdict", "baseline", "over_baseline", "over_baseline_low", "over_baseline_high")
_RENAMED = {"candidate": "contestant", "value_low": "low", "value_high": "high", "rate": "gb_per_s"}
_TIMES_FROM = _CSV_COLUMNS.index("low")


@dataclass
class Comparison:
    """All that is known at the end; the reports show it."""

    environment: Mapping[str, str]
    plan: Mapping[str, Any]
    candidates: Sequence[Mapping[str, str]]
    noise_before: Noise
    noise_after: Noise
    course: Course
    remarks: Sequence[str] = ()
    changes: Sequence[Any] = ()  # of earlier.changes
    agreements: Sequence[earlier.Agreement] = ()
    baseline: str = ""  # the title of the run that the changes are against
    cells: Cells = field(init=False)
    checks: list[Any] = field(init=False)  # of guidelines.check
    names: list[str] = field(init=False)  # of the libraries that answered anything, in the order of candidates
    against_peers: Any = field(init=False)  # of ranking

    def conclude(self, others: Union[Cells, Tuple[()]] = ()) -> None:
        """Draws the conclusions from the runs; cells of `others`, if any, are of an earlier run."""
        self.cells = cells.collect(self.course.runs)
        self.checks = guidelines.check(self.cells, others=others if isinstance(others, Cells) else None)
        answered = set(self.cells.table.candidate[self.cells.table.kind == cells.LIBRARY])
        self.names = [one["name"] for one in self.candidates if one["name"] in answered]
        of = {kind: [one["name"] for one in self.candidates if one["kind"] == kind] for kind in (OWN, PEER)}
        self.against_peers = ranking.against_peers(self.cells, of[OWN], of[PEER])

    @property
    def behind(self) -> Any:
        """The cells of ours that are not ahead of each peer for certain."""
        return self.against_peers[~self.against_peers.ahead]

    def as_json(self) -> dict[str, Any]:
        """With all samples."""
        return {"schema": SCHEMA, "environment": dict(self.environment), "plan": dict(self.plan),
                "contestants": list(self.candidates), "remarks": list(self.remarks),
                "noise": {"before": asdict(self.noise_before), "after": asdict(self.noise_after)},
                "rounds": self.course.rounds, "seconds": round(self.course.seconds, 1), "baseline": self.baseline,
                "failures": [{_RENAMED.get(name, name): value for name, value in asdict(one).items()}
                             for one in self.course.failures],
                "violations": [guidelines.as_json(one) for one in guidelines.violations(self.checks)],
                "regressions": [earlier.as_json(one) for one in earlier.regressions(self.changes)],
                "not_ahead": [{"candidate": one.candidate, "case": cells.title(one), "peer": one.peer,
                               **statistics.as_json(one, "over_peer"), "verdict": one.said} for one in self.behind.itertuples()],
                "agreements": [asdict(one) for one in self.agreements], "runs": self.course.runs}


def write(folder: Path, made: Comparison) -> list[Path]:
    """Both files."""
    written = [folder / JSON_NAME, folder / CSV_NAME]
    written[0].write_text(json.dumps(made.as_json(), separators=(",", ":")) + "\n")
    written[1].write_text(table(made))
    return written


@dataclass(frozen=True)
class Earlier:
    """The part of an earlier comparison that this one needs."""

    path: Path
    cells: Cells
    environment: Mapping[str, str]

    def title(self, now: Mapping[str, str]) -> str:
        """The file and its date, and what was another then."""
        others = [f"{name} {value}" for name, value in self.environment.items()
                  if name not in _CHANGES_ANYWAY and now.get(name) != value]
        return (f"{self.path} ({self.environment.get('date', 'no date')}, commit {self.environment.get('commit', 'none')}"
                + ("; different then: " + ", ".join(others) if others else "") + ")")


def read(path: Path) -> Earlier:
    """From a results.json. ToolError if it is none."""
    next_step = f"give the {JSON_NAME} of a report of tools/armci compare"
    try:
        document = json.loads(path.read_text())
    except OSError as error:
        raise ToolError(f"cannot read {path}", where=str(error), next_step=next_step) from error
    except (ValueError, RecursionError) as error:
        raise ToolError(f"{path} is no JSON", where=str(error), next_step=next_step) from error
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != SCHEMA:
        raise ToolError(f"{path} is no comparison", where=f"its schema is {schema}, not {SCHEMA}", next_step=next_step)
    try:
        return Earlier(path, cells.collect(document["runs"]), dict(document["environment"]))
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise ToolError(f"{path} is damaged", where=f"{type(error).__name__}: {error}", next_step=next_step) from error


def table(made: Comparison) -> str:
    """A line for each cell."""
    lines = made.cells.table.rename(columns=_RENAMED).assign(unit="ns")
    lines.loc[lines.counted, list(_CSV_COLUMNS[_TIMES_FROM:])] = None
    text: str = lines.replace(math.inf, math.nan).to_csv(columns=list(_CSV_COLUMNS), index=False, float_format="%.5g")
    return text
