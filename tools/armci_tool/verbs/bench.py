"""`bench`: measures an implementation against the layer below it, or against another library."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Mapping, Sequence

from armci_tool import (bazel, bench, bench_compare, environment, launch, libraries, nodes, option_types, placement,
                        repository)
from armci_tool.console import Progress
from armci_tool.errors import ToolError
from armci_tool.verbs import add_verbose, make_parser, require_folder

DEFAULT_ROUNDS = 5
# Of one benchmark in one round of a comparison, where the user does not say; every case gets its least anyway.
ROUND_SECONDS = 3.0
# A foreign library may hang.
ROUND_DEADLINE_S = 600.0
# No case is measured for so long, beyond the time asked for.
SILENCE_S = 120.0
COMPLAINT_LINES = 15
_EXAMPLES = "\n  ".join(("tools/armci bench --impl shmem --quick small contiguous",
                         "tools/armci bench --impl mpi-rma --nodes 2",
                         "tools/armci bench --impl mpi-rma --nodes 2 --prefix /usr --libs -larmci-{mpi} --name armci-mpi"))


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
    made.add_argument("--rounds", type=option_types.count, default=DEFAULT_ROUNDS, metavar="R",
                      help="with --prefix: compare with that library, the programs of both taking turns R times "
                           "(default: %(default)s)")
    libraries.add_foreign_arguments(made)
    add_verbose(made)
    made.add_argument("benchmarks", metavar="BENCHMARK", nargs="*",
                      help="names (default: all; on several nodes, and with --prefix, those that need no common memory)")


def execute(options: argparse.Namespace) -> int:
    """Runs the verb; not 0 when a benchmark failed or (--strict) missed a target or was slower than the other."""
    if options.report:
        require_folder(options.report)
    where = placement.from_options(options)
    if where.nodes:
        nodes.require(where.nodes)
    foreign = libraries.foreign_from_options(options)
    names = bench.choose(options.benchmarks, foreign is not None or where.kind != "machine")
    chosen = repository.choose_implementations(options.impl)
    for implementation in chosen:
        bench.require_measured(implementation)
    if foreign is None:
        return _measure(chosen, names, where, options)
    return max(_compare(implementation, foreign, names, where, options) for implementation in chosen)


def _measure(implementations: Sequence[str], names: Sequence[str], where: placement.Placement,
             options: argparse.Namespace) -> int:
    chosen = bazel.Configuration(options.mpi)
    runs = []
    for implementation in implementations:
        for program in _build(implementation, chosen, names, where, options):
            with Progress(program.name) as progress:
                run = bench.run_program(program, _arguments(options), on_case=progress.note,
                                        silence_s=SILENCE_S + (options.seconds or 0))
            print(run.text + "\n")
            if options.report and run.data is not None:
                _write(options.report / f"{run.name}_{implementation}_{chosen.mpi}{where.suffix}.json", run.data)
            runs.append(run)
    print(bench.summary(runs, only_with_target=not options.filter))
    counts = bench.count_verdicts(runs)
    print(", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items())))
    broken = [run.name for run in runs if run.status != 0 or run.data is None]
    if broken:
        raise ToolError("benchmarks failed: " + ", ".join(broken), next_step="see their output above", status=1)
    return 1 if options.strict and counts.get("miss") else 0


def _compare(implementation: str, foreign: libraries.ForeignLibrary, names: Sequence[str], where: placement.Placement,
             options: argparse.Namespace) -> int:
    chosen = bazel.Configuration(options.mpi)
    # All before anything runs, as Bazel forgets much when the foreign library comes and goes.
    programs = (_build(implementation, chosen, names, where, options),
                _build(libraries.DEFAULT_NAME, foreign.configuration(chosen), names, where, options))
    runs: tuple[list[bench.BenchRun], list[bench.BenchRun]] = ([], [])
    arguments = _arguments(options, ROUND_SECONDS)
    with Progress(f"{implementation} and {foreign.name}") as progress:
        for turn in range(options.rounds):
            for pair in zip(*programs):
                # Who begins changes, as the second may find a warmer machine.
                for side in (0, 1) if turn % 2 == 0 else (1, 0):
                    progress.note(f"round {turn + 1} of {options.rounds}, {pair[side].name}")
                    run = bench.run_program(pair[side], arguments, timeout_s=ROUND_DEADLINE_S)
                    runs[side].append(run)
                    if run.status != 0:
                        name = (implementation, foreign.name)[side]
                        print(f"{run.name} with {name} ended with status {run.status}:\n{_complaints(run)}\n")
    compared = bench_compare.cells(*runs)
    print(bench_compare.table(compared, implementation, foreign.name))
    counts = bench_compare.counts(cell.verdict for cell in compared)
    quiet = bench_compare.counts(cell.quiet_verdict for cell in compared)
    print("\nraw: the same calls of MPI in the programs of both")
    print("ratio, of the medians of the rounds: " + _count_text(counts))
    print("quiet, of the best tenth of the best round: " + _count_text(quiet))
    if options.report:
        _write(options.report / f"compare_{implementation}_{foreign.name}_{chosen.mpi}{where.suffix}.json", {
            "environment": environment.describe([chosen.mpi]), "ours": implementation, "theirs": foreign.name,
            "placement": where.label, "rounds": options.rounds, "counts": counts,
            "quiet_counts": quiet, "cells": [cell.as_json() for cell in compared]})
    if not all(run.data for run in runs[0]):
        raise ToolError(f"benchmarks with {implementation} failed", next_step="see their output above", status=1)
    return 1 if options.strict and counts["slower"] else 0


def _build(implementation: str, configuration: bazel.Configuration, names: Sequence[str], where: placement.Placement,
           options: argparse.Namespace) -> list[bench.Program]:
    labels = [bench.label(name, implementation) for name in names]
    bazel.build(labels, configuration, verbose=options.verbose)
    return [bench.Program(name, bazel.binary(label, configuration), configuration.mpi, options.processes, where)
            for name, label in zip(names, labels)]


def _arguments(options: argparse.Namespace, seconds: float = 0.0) -> list[str]:
    seconds = options.seconds if options.seconds is not None else seconds
    arguments = ["--quick"] if options.quick else []
    arguments += ["--seconds", f"{seconds:g}"] if seconds else []
    arguments += ["--filter", options.filter] if options.filter else []
    return arguments + (["--target-sleeps"] if options.target_sleeps else [])


def _count_text(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {verdict}" for verdict, number in counts.items())


def _complaints(run: bench.BenchRun) -> str:
    """What it said besides its table; the end of it all where there is no table."""
    said = run.text.splitlines()
    said = [line for line in said if line.startswith("bench:")] if run.data else said[-COMPLAINT_LINES:]
    return "\n".join("  " + line for line in said[:COMPLAINT_LINES])


def _write(path: Path, data: object) -> None:
    path.write_text(json.dumps(data, indent=1) + "\n")
