"""Runs the benchmark programs and reads their JSON."""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Optional, Sequence

from armci_tool import bazel, console, launch
from armci_tool.errors import ToolError

PACKAGE = "//bench/micro"
DEFAULT_PROCESSES = 2

_NEEDS = re.compile(r"needs (\d+) processes")
_PROGRESS = re.compile(r"^bench: [^:]+: ")


@dataclass(frozen=True)
class BenchRun:
    """What one benchmark program printed and reported; `data` is None when it wrote no JSON."""

    name: str
    status: int
    text: str
    data: Optional[dict[str, Any]]


def programs(implementation: str) -> list[str]:
    """Labels of the benchmark programs linked with an implementation."""
    suffix = bazel.target_suffix(implementation)
    labels = [label for label in bazel.query(f"kind(cc_binary, {PACKAGE}:all)") if label.endswith(suffix)]
    if not labels:
        raise ToolError(f"there are no benchmarks for {implementation}", where=f"{PACKAGE} has no binary *{suffix}")
    return sorted(labels)


def short_name(label: str, implementation: str) -> str:
    """`contiguous` for `//bench/micro:contiguous_shmem`."""
    return label.rpartition(":")[2].removesuffix(bazel.target_suffix(implementation))


def run_program(label: str, implementation: str, configuration: bazel.Configuration, arguments: Sequence[str] = (), *,
                processes: int = DEFAULT_PROCESSES, on_case: Callable[[str], None] = lambda text: None) -> BenchRun:
    """Starts one built program, on more processes than asked when its question needs them."""
    run, needed = _run_once(label, implementation, configuration, processes, arguments, on_case)
    if needed > processes:
        run, _ = _run_once(label, implementation, configuration, needed, arguments, on_case)
    return run


def _run_once(label: str, implementation: str, configuration: bazel.Configuration, processes: int,
              arguments: Sequence[str], on_case: Callable[[str], None]) -> tuple[BenchRun, int]:
    binary = bazel.binary(label, configuration)

    def note(line: str) -> None:
        if _PROGRESS.match(line):
            on_case(_PROGRESS.sub("", line))

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "result.json"
        program = (str(binary), "--progress", "--json", str(file), *arguments)
        result = launch.start(launch.Launch(program, processes, configuration.mpi), on_line=note)
        data = json.loads(file.read_text()) if file.exists() and file.stat().st_size else None
    text = "\n".join(line for line in result.output.splitlines() if not _PROGRESS.match(line) or _NEEDS.search(line))
    needs = _NEEDS.search(result.output) if not result.ok else None
    run = BenchRun(short_name(label, implementation), result.status, text.strip(), data)
    return run, int(needs.group(1)) if needs else 0


def summary(runs: Sequence[BenchRun], only_with_target: bool = False) -> str:
    """One table of all cases: what ARMCI took, what the layer below took, their ratio, what was asked."""
    rows = []
    for run in runs:
        for case in (run.data or {}).get("cases", []):
            asked = case.get("target", {}).get("limit", "none") != "none"
            if asked or not only_with_target:
                rows.append([run.name, case["name"], case["size"], _figure(case, "armci_ns"),
                             _figure(case, "baseline_ns"), case.get("baseline") or "-", f"{case['ratio']:.2f}",
                             case.get("target_text", "-"), case["verdict"]])
    header = ["benchmark", "case", "size", "ARMCI", "raw", "raw is", "ratio", "target", "verdict"]
    return console.table(header, rows, numeric_from=len(header))


def _figure(case: dict[str, Any], key: str) -> str:
    if key not in case:
        return f"{case['value']:g}" if key == "armci_ns" and "value" in case else "-"
    nanoseconds = float(case[key])
    if nanoseconds <= 0:
        return "-"
    if case.get("bytes", 0) > 0:
        return f"{case['bytes'] / nanoseconds:.3g} GB/s"
    for unit, size in (("ns", 1.0), ("us", 1e3), ("ms", 1e6)):
        if nanoseconds < 1000 * size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds / 1e9:.3g} s"


def count_verdicts(runs: Sequence[BenchRun]) -> dict[str, int]:
    """How often each verdict was given."""
    counts: dict[str, int] = {}
    for run in runs:
        for case in (run.data or {}).get("cases", []):
            counts[case["verdict"]] = counts.get(case["verdict"], 0) + 1
    return counts
