"""The combinations of settings under which the suite runs besides the defaults: impl/NAME/settings_tested.json.

    values    for each setting of the library that changes a path, and for "mpi", the values to try; the first is the default
    jobs      processes, and the nodes on which they run
    never     parts of combinations that the implementation refuses
    besides   whole combinations, where a device or a setting of another layer is needed

The combinations bring each pair of values, and each value and job, together at least once.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from armci_tool.errors import ToolError
from armci_tool.placement import Placement
from armci_tool.repository import ROOT

_JOB = ("mpi", "processes", "nodes", "simulated_node_size", "device")


@dataclass(frozen=True)
class TestedSettings:
    """An environment of settings, of ARMCI or of the layer below, the MPI library to run it with, the number of processes, and
    where they run; `device`: what a guest has to have for it."""

    mpi: str
    environment: Mapping[str, str]
    processes: int
    placement: Placement
    device: str = ""

    @property
    def text(self) -> str:
        """As words before a command."""
        return " ".join(f"{name}={value}" for name, value in self.environment.items())


def read(name: str) -> list[TestedSettings]:
    """Of an implementation; none without a file."""
    path = ROOT / "impl" / name / "settings_tested.json"
    if not path.exists():
        return []
    found = json.loads(path.read_text())
    defaults = {setting: values[0] for setting, values in found["values"].items()}
    rows = combinations(found["values"], found["jobs"], found["never"])
    made = [*(_row(row, defaults) for row in rows), *(_row(row, {}) for row in found["besides"])]
    return [row for row in made if row.environment]  # the suite runs under the defaults anyway


def combinations(values: Mapping[str, Sequence[str]], jobs: Sequence[Mapping[str, Any]],
                 never: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    """Each pair of values of two settings, or of a setting and a job, is in one of them unless it is in `never`."""
    try:
        from allpairspy import AllPairs  # type: ignore[import]
    except ImportError as error:
        raise ToolError("Python has no allpairspy", next_step="install it with tools/armci setup") from error
    names = list(values)

    def is_possible(row: Sequence[Any]) -> bool:
        known = dict(zip(names, row))
        return not any(all(known.get(name) == value for name, value in part.items()) for part in never)

    # The last parameter is a job, by its number.
    made = AllPairs([*values.values(), list(range(len(jobs)))], filter_func=is_possible)
    return [{**dict(zip(names, row)), **jobs[row[-1]]} for row in made]


def _row(row: Mapping[str, Any], defaults: Mapping[str, str]) -> TestedSettings:
    environment = {name: value for name, value in row.items() if name not in _JOB and defaults.get(name) != value}
    device = row.get("device", "")
    placement = Placement(row.get("nodes", 0), row.get("simulated_node_size", 0), bool(device))
    return TestedSettings(row["mpi"], environment, row["processes"], placement, device)
