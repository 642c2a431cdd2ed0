"""`bench`: measures an implementation against the layer below it."""

from __future__ import annotations

import argparse
import json

from armci_tool import bazel, bench, launch, option_types, repository
from armci_tool.console import Progress
from armci_tool.errors import ToolError
from armci_tool.verbs import add_verbose, make_parser, require_folder


def add_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declares the verb."""
    made = make_parser(verbs, "bench", "measure an implementation against raw memory and MPI, interleaved in one run",
                       "tools/armci bench --impl shmem --quick small contiguous", execute)
    made.add_argument("--impl", default="shmem", help="implementation, or all (default: %(default)s)")
    made.add_argument("-n", dest="processes", type=option_types.count, default=bench.DEFAULT_PROCESSES,
                      help="number of processes, raised where a benchmark needs more (default: %(default)s)")
    made.add_argument("--mpi", choices=sorted(launch.MPI_LIBRARIES), default=launch.DEFAULT_MPI,
                      help="MPI library underneath (default: %(default)s)")
    made.add_argument("--quick", action="store_true", help="fewer cases, a few seconds per benchmark")
    made.add_argument("--seconds", type=option_types.seconds, help="time for each benchmark")
    made.add_argument("--filter", help="only cases whose name or size contains this")
    made.add_argument("--strict", action="store_true", help="status 1 when a target is missed")
    made.add_argument("--report", type=option_types.path, metavar="DIR", help="write one JSON file per benchmark there")
    add_verbose(made)
    made.add_argument("benchmarks", metavar="BENCHMARK", nargs="*", help="names (default: all)")


def execute(options: argparse.Namespace) -> int:
    """Runs the verb; not 0 when a benchmark failed or (--strict) missed a target."""
    chosen = bazel.Configuration(options.mpi)
    if options.report:
        require_folder(options.report)
    runs = []
    for implementation in repository.choose_implementations(options.impl):
        labels = _choose(bench.programs(implementation), implementation, options.benchmarks)
        bazel.build(labels, chosen, verbose=options.verbose)
        for label in labels:
            runs.append(_run(label, implementation, chosen, options))
    print(bench.summary(runs, only_with_target=not options.filter))
    counts = bench.count_verdicts(runs)
    print(", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items())))
    broken = [run.name for run in runs if run.status != 0 or run.data is None]
    if broken:
        raise ToolError("benchmarks failed: " + ", ".join(broken), next_step="see their output above", status=1)
    return 1 if options.strict and counts.get("miss") else 0


def _choose(labels: list[str], implementation: str, names: list[str]) -> list[str]:
    by_name = {bench.short_name(label, implementation): label for label in labels}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        raise ToolError("there is no benchmark " + ", ".join(unknown), next_step="use some of: " + ", ".join(by_name))
    return [by_name[name] for name in names or by_name]


def _run(label: str, implementation: str, chosen: bazel.Configuration, options: argparse.Namespace) -> bench.BenchRun:
    arguments = ["--quick"] if options.quick else []
    arguments += ["--seconds", f"{options.seconds:g}"] if options.seconds is not None else []
    arguments += ["--filter", options.filter] if options.filter else []
    with Progress(bench.short_name(label, implementation)) as progress:
        run = bench.run_program(label, implementation, chosen, arguments, processes=options.processes, on_case=progress.note)
    print(run.text + "\n")
    if options.report and run.data is not None:
        options.report.mkdir(parents=True, exist_ok=True)
        path = options.report / f"{run.name}_{implementation}_{chosen.mpi}.json"
        path.write_text(json.dumps(run.data, indent=1) + "\n")
    return run
