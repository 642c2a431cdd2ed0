"""Made-up comparisons: runs as the runner keeps them."""

from __future__ import annotations

import random
from typing import Any, Mapping, Optional, Sequence

from armci_tool.compare import cells, noise, record, runner

ROUNDS = 5
QUIET = noise.Noise(1000.0, 1010.0, 1100.0, 0.1)


def series(name: str, nanoseconds: float, role: str = "subject", generator: Optional[random.Random] = None,
           layer: str = cells.RAW) -> dict[str, Any]:
    """Ten samples around it."""
    samples = [nanoseconds * (generator.lognormvariate(0, 0.01) if generator else 1) for _ in range(10)]
    return {"name": name, "role": role, "layer": cells.LIBRARY if role == "subject" else layer, "samples_ns": samples}


def case(name: str, nanoseconds: float, size: str = "8 B", others: Sequence[dict[str, Any]] = (),
         generator: Optional[random.Random] = None) -> dict[str, Any]:
    """With its own series first."""
    return {"name": name, "size": size, "bytes": 0.0, "series": [series("ARMCI", nanoseconds, generator=generator), *others]}


def run(candidate: str, cases: Sequence[Mapping[str, Any]], turn: int = 0, benchmark: str = "transfers", placement: str = "",
        processes: int = 2, kernel: bool = False) -> dict[str, Any]:
    """One program in one round."""
    return {"round": turn, "benchmark": benchmark, "contestant": candidate, "placement": placement, "processes": processes,
            "kernel": kernel, "seconds": 1.0, "data": {"cases": list(cases)}}


def rounds(candidate: str, times: Mapping[tuple[str, str], float], seed: int = 1, benchmark: str = "transfers",
           placement: str = "", kernel: bool = False, others: Sequence[tuple[str, float]] = ()) -> list[dict[str, Any]]:
    """All rounds of a candidate: its time by case and size, with a little noise; `others` are raw layers beside."""
    generator = random.Random(f"{seed} {candidate}")
    made = []
    for turn in range(ROUNDS):
        mood = generator.lognormvariate(0, 0.005)
        cases = [case(name, time * mood, size, [series(raw, of_raw, "baseline") for raw, of_raw in others], generator)
                 for (name, size), time in times.items()]
        made.append(run(candidate, cases, turn, benchmark, placement, kernel=kernel))
    return made


def collected(*runs: Sequence[Mapping[str, Any]]) -> cells.Cells:
    """The cells of all."""
    return cells.collect([one for part in runs for one in part])


def rows(found: cells.Cells) -> list[Any]:
    """A row for each cell."""
    return list(found.table.itertuples())


def comparison(*runs: Sequence[dict[str, Any]], failures: Sequence[runner.Failure] = (),
               peers: Sequence[str] = ()) -> record.Comparison:
    """With its conclusions."""
    course = runner.Course([one for part in runs for one in part], list(failures), ROUNDS, 12.0)
    names = dict.fromkeys(one["contestant"] for one in course.runs)
    plan = {"text": "plan: made up", "processes": [2], "placement": "", "mpi": "openmpi"}
    made = record.Comparison({"date": "2020-01-01 00:00 UTC", "commit": "none"}, plan,
                             [{"name": name, "kind": "peer" if name in peers else "own", "what": "of this repository"}
                              for name in names], QUIET, QUIET, course)
    made.conclude()
    return made
