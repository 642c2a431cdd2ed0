"""`bench`: measures an implementation against the layer below it."""

from __future__ import annotations

import json
from types import SimpleNamespace as Namespace
from typing import Any, Sequence

import click

from armci_tool import bazel, bench, launch, perftest, repository
from armci_tool.commands import options
from armci_tool.console import Progress
from armci_tool.errors import ToolError
from armci_tool.placement import Placement

@options.command("bench", "tools/armci bench --impl shmem --quick small contiguous",
                 "tools/armci bench --impl mpi-rma --nodes 2",
                 "tools/armci bench --impl native-verbs verbs verbs_rows")
@options.implementation("shmem")
@options.processes(bench.DEFAULT_PROCESSES, "number of processes, raised where a benchmark needs more")
@options.mpi
@click.option("--quick", is_flag=True, help="fewer cases, a few seconds per benchmark")
@click.option("--seconds", type=options.SECONDS, help="time for each benchmark")
@click.option("--filter", help="only cases whose name or size contains this")
@click.option("--target-sleeps", is_flag=True, help="no process helps by being inside MPI while another is measured")
@click.option("--strict", is_flag=True, help="status 1 when a target is missed")
@click.option("--report", type=options.PATH, metavar="DIR", help="write one JSON file per benchmark there")
@options.placed
@options.wrapped
@options.verbose
@options.argument("benchmarks", nargs=-1, metavar="[BENCHMARK]...",
                  help="names (default: all; on several nodes those that need no common memory)")
def execute(where: Placement, **values: Any) -> int:
    """Runs the command; not 0 when a benchmark failed or (--strict) missed a target."""
    given = Namespace(**values)
    if given.report:
        options.require_folder(given.report)
    launch.require(where)
    # Errors in the options come before any build.
    planned = {name: _plan(name, where, given) for name in repository.choose_implementations(given.impl)}
    runs = []
    for name, placed in planned.items():
        for program in _build(name, placed, given):
            with Progress(program.name) as progress:
                run = bench.run_program(program, _arguments(given), on_case=progress.note,
                                        silence_s=bench.SILENCE_S + (given.seconds or 0))
            print(run.text + "\n")
            if run.data is not None and not given.filter:
                _check_baseline(run.data, program)
            if given.report and run.data is not None:
                file = given.report / f"{run.name}_{name}_{given.mpi}{program.placement.suffix}.json"
                file.write_text(json.dumps(run.data, indent=1) + "\n")
            runs.append(run)
    print(bench.summary(runs, only_with_target=not given.filter))
    counts = bench.count_verdicts(runs)
    print(", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items())))
    broken = [run.name for run in runs if run.status != 0 or run.data is None]
    if broken:
        raise ToolError("benchmarks failed: " + ", ".join(broken), next_step="see their output above", status=1)
    return 1 if given.strict and counts.get("miss") else 0


def _check_baseline(data: dict[str, Any], program: bench.Program) -> None:
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


def _plan(implementation: str, where: Placement, given: Namespace) -> list[tuple[bench.Question, Placement]]:
    """The benchmarks of an implementation, and where the processes of each are to be."""
    device = repository.device_of(implementation)
    chosen = bench.choose(given.benchmarks, where.kind != "machine", device)
    bench.require_measured(implementation)
    return [(question, bench.place(question, where, device)) for question in chosen]


def _build(implementation: str, planned: Sequence[tuple[bench.Question, Placement]],
           given: Namespace) -> list[bench.Program]:
    chosen = bazel.Configuration(given.mpi)
    labels = {question.name: bench.label(question.name, implementation) for question, _ in planned}
    bazel.build(list(labels.values()), chosen, verbose=given.verbose)
    return [bench.Program(question.name, bazel.binary(labels[question.name], chosen), given.mpi,
                          question.processes(given.processes), where, wrapper=given.wrapper)
            for question, where in planned]


def _arguments(given: Namespace) -> list[str]:
    arguments = ["--quick"] if given.quick else []
    arguments += ["--seconds", f"{given.seconds:g}"] if given.seconds is not None else []
    arguments += ["--filter", given.filter] if given.filter else []
    return arguments + (["--target-sleeps"] if given.target_sleeps else [])
