"""Runs the benchmark programs and reads their JSON."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Optional, Sequence

from armci_tool import bazel, console, launch, scratch_folders
from armci_tool.errors import ToolError
from armci_tool.placement import Placement, with_device
from armci_tool.repository import ROOT

QUESTIONS_FILE = ROOT / "bench" / "benchmarks.json"
DEFAULT_PROCESSES = 2

# The settings of mpi-rma, for all that is measured. The one-sided calls of Open MPI on one machine: osc/rdma, which it
# would take by itself for some windows, is far behind osc/sm. Between nodes: locks of UCX that sleep, and its segments.
MPI_SETTINGS = {"OMPI_MCA_osc": "^rdma", "UCX_USE_MT_MUTEX": "y", "UCX_TCP_TX_SEG_SIZE": "8196"}

# No case is measured for so long, beyond the requested time.
SILENCE_S = 120.0


@dataclass(frozen=True)
class BenchRun:
    """The output and the report of one benchmark program; `data` is None when it wrote no JSON."""

    name: str
    status: int
    text: str
    data: Optional[dict[str, Any]]
    out_of_time: bool = False  # whether it was ended though it may still have gone on

    @property
    def cases(self) -> list[dict[str, Any]]:
        """The cases that the program measured."""
        return (self.data or {}).get("cases", [])


@dataclass(frozen=True)
class Question:
    """A line of bench/benchmarks.json: a benchmark. Its program says in words what it asks."""

    name: str
    package: str  # where its programs are made
    between_nodes: bool = False
    device: str = ""  # the device that an implementation needs between nodes
    against_mpi: bool = False  # whether its raw side goes by MPI between nodes
    ranks: int = DEFAULT_PROCESSES  # the least it needs
    powers_of_two: bool = False  # whether it takes such numbers of processes alone

    def processes(self, requested: int) -> int:
        """So many, or the least that it needs."""
        return max(requested, self.ranks)

    def takes(self, processes: int) -> bool:
        """Whether it can be run on so many."""
        return processes >= self.ranks and not (self.powers_of_two and processes & (processes - 1))

    @property
    def is_kernel(self) -> bool:
        """Whether its cases are whole computations."""
        return self.package.endswith("/kernels")


@dataclass(frozen=True)
class Program:
    """A built benchmark, and where its processes are to be."""

    name: str
    binary: Path
    mpi: str
    processes: int = DEFAULT_PROCESSES
    placement: Placement = Placement()
    environment: tuple[tuple[str, str], ...] = ()
    wrapper: tuple[str, ...] = ()  # words that start it, before its own


def questions() -> list[Question]:
    """All there are."""
    table = json.loads(QUESTIONS_FILE.read_text())
    return [Question(package=f"//bench/{row.pop('folder')}", **row) for row in table]


def names() -> list[str]:
    """Of all there are."""
    return [question.name for question in questions()]


def choose(names: Sequence[str], only_between_nodes: bool, device: str = "") -> list[Question]:
    """`names` if there are such benchmarks for what takes this device, or none; without any, all, or all whose processes
    may be on several nodes. What takes a device is on simulated nodes, between which MPI would go by shared memory: it is
    held against MPI only if that is named."""
    known = {question.name: question for question in questions()}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ToolError("there is no benchmark " + ", ".join(unknown), next_step="use some of: " + ", ".join(known))
    other = [name for name in known if name in names and known[name].device not in ("", device)]
    if other:
        raise ToolError(f"{', '.join(other)}: for implementations that take a verbs device alone",
                        next_step="give --impl native-verbs")
    return [known[name] for name in names] or [
        question for question in known.values() if question.device in ("", device)
        and not (device and question.against_mpi) and (question.between_nodes or not only_between_nodes)]


def place(question: Question, where: Placement, device: str) -> Placement:
    """Where its processes are to be: where the user says, or, for an implementation that takes a device between nodes,
    each on a node of its own if the question allows it. Where this machine has no such device, in a guest."""
    if device and question.between_nodes and where.kind == "machine":
        where = Placement(simulated_node_size=1)
    return with_device(where, device)


def label(name: str, implementation: str) -> str:
    """The program of a benchmark, linked with an implementation; that of `foreign` with the library of --prefix."""
    package = next(question.package for question in questions() if question.name == name)
    return f"{package}:{name}{bazel.target_suffix(implementation)}"


def require_measured(implementation: str) -> None:
    """Raises ToolError if no benchmark is linked with it."""
    suffix = bazel.target_suffix(implementation)
    if not any(one.endswith(suffix) for one in bazel.query("kind(cc_binary, //bench/...)")):
        raise ToolError(f"there are no benchmarks for {implementation}", where=f"//bench has no binary *{suffix}",
                        next_step="give --impl another implementation")


def run_program(program: Program, arguments: Sequence[str] = (), *, timeout_s: Optional[float] = None,
                silence_s: Optional[float] = None, on_case: Callable[[str], None] = lambda text: None) -> BenchRun:
    """Starts it. It is ended after `timeout_s`, and when no new case began for `silence_s`; its text then says in which
    case."""
    begun = "none"
    # Of lines that report progress; other lines that begin alike report faults.
    mark = f"bench: {program.name}: "

    def note(line: str) -> None:
        nonlocal begun
        if line.startswith(mark):
            begun = line.removeprefix(mark).strip()
            on_case(begun)

    # A guest writes into the folder that we are in, and into no other.
    scratch = Path.cwd() if program.placement.guest else None
    with scratch_folders.make(scratch) as folder:
        file = folder / "result.json"
        line = (*program.wrapper, str(program.binary), "--progress", "--json", str(file), *arguments)
        settings = {name: value for name, value in MPI_SETTINGS.items() if name not in os.environ}
        settings.update(program.environment)
        job = launch.Launch(line, program.processes, program.mpi, settings, placement=program.placement)
        factor = program.placement.deadline_factor
        result = launch.start(job, timeout_s=timeout_s and timeout_s * factor, silence_s=silence_s and silence_s * factor,
                              on_line=note)
        data = json.loads(file.read_text()) if file.exists() and file.stat().st_size else None
    text = "\n".join(line for line in result.output.splitlines() if not line.startswith(mark))
    out_of_time = result.timed_out and timeout_s is not None and result.seconds >= timeout_s * factor
    if result.timed_out:
        text += (f"\nbench: {program.name} was ended after {result.seconds:.0f} s because it "
                 f"{'may take no longer' if out_of_time else 'went on no more'}; the last case begun: {begun}")
        text += "" if out_of_time else ". Run it alone: --filter with a word of the case, and attach a debugger"
    return BenchRun(program.name, result.status, text.strip(), data, out_of_time)


def summary(runs: Sequence[BenchRun], only_with_target: bool = False) -> str:
    """One table of all cases: what ARMCI took, what the layer below took, their ratio, the target."""
    rows = []
    for run in runs:
        for case in run.cases:
            has_target = case.get("target", {}).get("limit", "none") != "none"
            if has_target or not only_with_target:
                rows.append([run.name, case["name"], case["size"], _figure(case, "armci_ns"),
                             _figure(case, "baseline_ns"), case.get("baseline") or "-", f"{case['ratio']:.2f}",
                             case.get("target_text", "-"), case["verdict"]])
    header = ["benchmark", "case", "size", "ARMCI", "raw", "raw is", "ratio", "target", "verdict"]
    return console.table(header, rows, numeric_from=len(header))


def _figure(case: dict[str, Any], key: str) -> str:
    if key not in case:
        return f"{case['value']:g}" if key == "armci_ns" and "value" in case else "-"
    nanoseconds = float(case[key])
    if case.get("bytes", 0) > 0 and nanoseconds > 0:
        rate = case["bytes"] / nanoseconds
        return f"{rate:.3g} GB/s" if rate >= 1 else f"{1e3 * rate:.3g} MB/s"
    return console.time_text(nanoseconds)


def count_verdicts(runs: Sequence[BenchRun]) -> dict[str, int]:
    """How often each verdict was given."""
    return Counter(case["verdict"] for run in runs for case in run.cases)
