"""`calibrate`: finds the values of an implementation's settings that are the best on this machine."""

from __future__ import annotations

import argparse
from dataclasses import replace

from armci_tool import bazel, bench, calibrate, launch, nodes, option_types, placement, repository
from armci_tool.console import Progress
from armci_tool.errors import ToolError
from armci_tool.verbs import add_verbose, make_parser

DEFAULT_ROUNDS = 3
SILENCE_S = 120.0


def add_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declares the verb."""
    made = make_parser(verbs, "calibrate", "find the values of an implementation's settings that are best on this machine",
                       "tools/armci calibrate --impl mpi-twosided --nodes 2 --mpi mpich", execute)
    made.add_argument("--impl", default="mpi-twosided", help="implementation (default: %(default)s)")
    made.add_argument("--mpi", choices=sorted(launch.MPI_LIBRARIES), default=launch.DEFAULT_MPI,
                      help="MPI library underneath (default: %(default)s)")
    made.add_argument("--rounds", type=option_types.count, default=DEFAULT_ROUNDS, metavar="R",
                      help="how often each value has its turn (default: %(default)s)")
    made.add_argument("--setting", help="only the one of this name")
    placement.add_arguments(made)
    add_verbose(made)


def execute(options: argparse.Namespace) -> int:
    """Runs the verb; status 1 when a value could not be measured."""
    repository.require_for_users(options.impl)
    where = placement.from_options(options)
    if where.kind == "machine":
        raise ToolError("on one node there is nothing to calibrate: no server is asked",
                        next_step="give --nodes 2, or --simulate-node-size 1")
    if where.nodes:
        nodes.require(where.nodes)
    rows = [row for row in calibrate.rows(options.impl) if options.setting in (None, row.setting)]
    if not rows:
        raise ToolError(f"{options.setting} is not calibrated", next_step="use one of: " + ", ".join(
            row.setting for row in calibrate.rows(options.impl)))
    trials = [_try(row, where, options) for row in rows]
    print(calibrate.table(trials) + "\n")
    print(calibrate.advice(trials))
    return 0 if all(trial.median_of(value) is not None for trial in trials for value in trial.row.values) else 1


def _try(row: calibrate.Row, where: placement.Placement, options: argparse.Namespace) -> calibrate.Trial:
    configuration = bazel.Configuration(options.mpi)
    label = bench.label(row.benchmark, options.impl)
    bazel.build([label], configuration, verbose=options.verbose)
    program = bench.Program(row.benchmark, bazel.binary(label, configuration), configuration.mpi, placement=where)
    trial = calibrate.Trial(row)
    with Progress(row.setting) as progress:
        for turn in range(options.rounds):
            for value in row.values:
                progress.note(f"round {turn + 1} of {options.rounds}, {value}")
                run = bench.run_program(replace(program, environment=((row.setting, value),)),
                                        ("--quick", "--filter", row.filter), silence_s=SILENCE_S)
                measured = calibrate.score(run)
                trial.scores.setdefault(value, []).extend([] if measured is None else [measured])
                if measured is None:
                    print(f"{row.setting}={value}: {run.name} ended with status {run.status}:\n{run.text}\n")
    return trial
