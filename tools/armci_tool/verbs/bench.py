"""`bench`: measures an implementation against the layer below it."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Sequence, Tuple

from armci_tool import bazel, bench, launch, nodes, option_types, perftest, placement, repository
from armci_tool.console import Progress
from armci_tool.errors import ToolError
from armci_tool.verbs import add_verbose, make_parser, require_folder

_EXAMPLES = "\n  ".join(("tools/armci bench --impl shmem --quick small contiguous",
                         "tools/armci bench --impl mpi-rma --nodes 2",
                         "tools/armci bench --impl native-verbs verbs verbs_rows"))


def add_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declares the verb."""
    made = make_parser(verbs, "bench", "measure an implementation against raw memory and MPI, interleaved in one run",
                       _EXAMPLES, execute)
    made.add_argument("--impl", default="shmem", help="implementation, or all (default: %(default)s)")
    made.add_argument("-n", dest="processes", type=option_types.count, default=bench.DEFAULT_PROCESSES,
                      help="number of processes, raised where a benchmark needs more (default: %(default)s)")
    made.add_argument("--mpi", choices=sorted(launch.MPI_LIBRARIES), default=launch.DEFAULT_MPI,
                      help="MPI library underneath (default: %(default)s)")
    made.add_argument("--quick", action="store_true", help="fewer cases, a few seconds per benchmark")
    made.add_argument("--seconds", type=option_types.seconds, help="time for each benchmark")
    made.add_argument("--filter", help="only cases whose name or size contains this")
    made.add_argument("--target-sleeps", action="store_true",
                      help="no process helps by being inside MPI while another is measured")
    made.add_argument("--strict", action="store_true", help="status 1 when a target is missed")
    made.add_argument("--report", type=option_types.path, metavar="DIR", help="write one JSON file per benchmark there")
    placement.add_arguments(made)
    add_verbose(made)
    made.add_argument("benchmarks", metavar="BENCHMARK", nargs="*",
                      help="names (default: all; on several nodes those that need no common memory)")


def execute(options: argparse.Namespace) -> int:
    """Runs the verb; not 0 when a benchmark failed or (--strict) missed a target."""
    if options.report:
        require_folder(options.report)
    where = placement.from_options(options)
    if where.nodes:
        nodes.require(where.nodes)
    return _measure([_plan(name, where, options) for name in repository.choose_implementations(options.impl)], options)


@dataclass(frozen=True)
class _Plan:
    """What is measured of an implementation: the benchmarks, and where the processes of each are to be."""

    implementation: str
    benchmarks: Sequence[Tuple[bench.Question, placement.Placement]]


def _plan(implementation: str, where: placement.Placement, options: argparse.Namespace) -> _Plan:
    device = repository.device_of(implementation)
    chosen = bench.choose(options.benchmarks, where.kind != "machine", device)
    bench.require_measured(implementation)
    return _Plan(implementation, [(question, bench.place(question, where, device)) for question in chosen])


def _measure(plans: Sequence[_Plan], options: argparse.Namespace) -> int:
    chosen = bazel.Configuration(options.mpi)
    runs = []
    for plan in plans:
        for program in _build(plan, chosen, options):
            with Progress(program.name) as progress:
                run = bench.run_program(program, _arguments(options), on_case=progress.note,
                                        silence_s=bench.SILENCE_S + (options.seconds or 0))
            print(run.text + "\n")
            if run.data is not None and not options.filter:
                _check_baseline(run.data, program)
            if options.report and run.data is not None:
                _write(options.report / f"{run.name}_{plan.implementation}_{chosen.mpi}{program.placement.suffix}.json",
                       run.data)
            runs.append(run)
    print(bench.summary(runs, only_with_target=not options.filter))
    counts = bench.count_verdicts(runs)
    print(", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items())))
    broken = [run.name for run in runs if run.status != 0 or run.data is None]
    if broken:
        raise ToolError("benchmarks failed: " + ", ".join(broken), next_step="see their output above", status=1)
    return 1 if options.strict and counts.get("miss") else 0


def _check_baseline(data: Dict[str, Any], program: bench.Program) -> None:
    """Holds raw RDMA, where there was any, against perftest's tools in the same place."""
    device = perftest.device_of(data)
    if device is None:
        return
    if not perftest.is_installed():
        print("perftest is not installed, so that the raw baseline is not checked; tools/armci setup --rdma installs it\n")
        return
    checked = perftest.checks(data, perftest.measure(device, program.placement.guest))
    data["perftest"] = [check.as_json() for check in checked]
    print(perftest.table(checked) + "\n")


def _build(plan: _Plan, configuration: bazel.Configuration, options: argparse.Namespace) -> list[bench.Program]:
    labels = {question.name: bench.label(question.name, plan.implementation) for question, _ in plan.benchmarks}
    bazel.build(list(labels.values()), configuration, verbose=options.verbose)
    return [bench.Program(question.name, bazel.binary(labels[question.name], configuration), configuration.mpi,
                          question.processes(options.processes), where) for question, where in plan.benchmarks]


def _arguments(options: argparse.Namespace) -> list[str]:
    arguments = ["--quick"] if options.quick else []
    arguments += ["--seconds", f"{options.seconds:g}"] if options.seconds is not None else []
    arguments += ["--filter", options.filter] if options.filter else []
    return arguments + (["--target-sleeps"] if options.target_sleeps else [])


def _write(path: Path, data: object) -> None:
    path.write_text(json.dumps(data, indent=1) + "\n")
