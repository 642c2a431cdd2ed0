"""The times of the steps in earlier runs of `tools/armci test`, kept in the checkout's report folder."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Mapping, Sequence

from armci_tool import console
from armci_tool.repository import ROOT
from armci_tool.results import Step

HISTORY = ROOT / "report" / "test" / "times.json"
_RUNS_MAX = 50
_SHOWN = 3


def record(steps: Sequence[Step], path: Path = HISTORY) -> None:
    """Adds a run; steps that failed are left out, since they may have ended early."""
    runs = [*_read(path), {"when": time.strftime("%Y-%m-%d %H:%M"),
                           "steps": {step.name: round(step.seconds, 1) for step in steps if step.ok}}]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(runs[-_RUNS_MAX:], indent=1) + "\n")


def _read(path: Path) -> list[dict[str, object]]:
    """The runs, oldest first. A file that cannot be read counts for nothing: the next run replaces it."""
    try:
        runs = json.loads(path.read_text())
    except (OSError, ValueError):
        return []
    return runs if isinstance(runs, list) else []


def table(names: Sequence[str], now: Mapping[str, float] = {}, path: Path = HISTORY) -> str:
    """The steps, slowest first by their last known time: now, and in the last runs that had any of them."""
    earlier = [(str(run["when"]), run["steps"]) for run in _read(path) if isinstance(run.get("steps"), dict)]
    columns = [(when, steps) for when, steps in earlier if isinstance(steps, dict) and any(name in steps for name in names)]
    shown: list[tuple[str, Mapping[str, float]]] = [*([("now", now)] if now else []), *reversed(columns[-_SHOWN:])]
    if not shown:
        return "\n".join([*names, "", "no earlier run of tools/armci test here has times of these steps"])

    def last_known(name: str) -> float:
        return next((steps[name] for _, steps in shown if name in steps), 0.0)
    rows = [[name, *(console.duration(steps[name]) if name in steps else "-" for _, steps in shown)]
            for name in sorted(names, key=last_known, reverse=True)]
    total = ["sum", *(console.duration(sum(steps.get(name, 0.0) for name in names)) for _, steps in shown)]
    return console.table(["step", *(when for when, _ in shown)], [*rows, total])
