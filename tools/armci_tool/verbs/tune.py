"""`tune`: finds the values of an implementation's settings that are the best on this machine."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Optional

from armci_tool import bazel, bench, launch, nodes, option_types, placement, repository, tune
from armci_tool.compare import statistics
from armci_tool.console import Progress
from armci_tool.errors import ToolError
from armci_tool.verbs import add_verbose, make_parser, require_file

DEFAULT_ROUNDS = 5
# Of a run with all sizes.
FULL_SECONDS = 5.0


def add_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declares the verb."""
    made = make_parser(verbs, "tune", "find the values of an implementation's settings that are best on this machine",
                       "tools/armci tune --impl mpi-twosided --nodes 2 --mpi mpich --output tuned.env", execute)
    made.add_argument("--impl", default="mpi-twosided", help="implementation (default: %(default)s)")
    made.add_argument("--mpi", choices=sorted(launch.MPI_LIBRARIES), default=launch.DEFAULT_MPI,
                      help="MPI library underneath (default: %(default)s)")
    made.add_argument("--rounds", type=option_types.count, default=DEFAULT_ROUNDS, metavar="R",
                      help="how often each value has its turn (default: %(default)s)")
    made.add_argument("-n", "--np", dest="processes", type=option_types.count, default=bench.DEFAULT_PROCESSES, metavar="N",
                      help="processes, raised where a benchmark needs more (default: %(default)s)")
    made.add_argument("--setting", help="only the one of this name")
    made.add_argument("--output", type=option_types.path, metavar="FILE",
                      help="write the advised settings there, for a shell, with what was measured")
    placement.add_arguments(made)
    add_verbose(made)


def execute(options: argparse.Namespace) -> int:
    """Runs the verb; status 1 when a value could not be measured."""
    statistics.require()
    repository.require_for_users(options.impl)
    where = _where(options)
    if options.output:
        require_file(options.output)
    rows = [row for row in tune.rows(options.impl) if options.setting in (None, row.setting)]
    if not rows:
        raise ToolError(f"{options.setting} is not tuned", next_step="use one of: " + ", ".join(
            row.setting for row in tune.rows(options.impl)))
    trials = [_try(row, where, options) for row in rows]
    print(tune.table(trials) + "\n")
    failed = [trial.row.setting for trial in trials if not any(trial.rounds.values())]
    if failed:
        raise ToolError("nothing could be measured of " + ", ".join(failed), next_step="see the output above", status=1)
    print(tune.advice(trials))
    if options.output:
        options.output.write_text(tune.environment_file(trials, options.impl, options.mpi, where.label or "one node"))
        print(f"written: {options.output}; use it with:  . {options.output}")
    return 0 if all(trial.median_of(value) is not None for trial in trials for value in trial.row.values) else 1


def _where(options: argparse.Namespace) -> placement.Placement:
    """Where its settings matter: between nodes, for what spans them."""
    where = placement.from_options(options)
    if where.nodes:
        nodes.require(where.nodes)
    device = repository.device_of(options.impl)
    if device and where.kind == "machine":
        where = placement.Placement(simulated_node_size=1)
    if where.kind == "machine" and repository.leaves_node(options.impl):
        raise ToolError(f"on one node there is nothing to tune of {options.impl}: processes take the memory of the node",
                        next_step="give --nodes 2, or --simulate-node-size 1")
    if where.kind != "machine" and not repository.leaves_node(options.impl):
        raise ToolError(f"{options.impl} spans no nodes", next_step="tune it on one node")
    return placement.with_device(where, device)


def _try(row: tune.Row, where: placement.Placement, options: argparse.Namespace) -> tune.Trial:
    configuration = bazel.Configuration(options.mpi)
    label = bench.label(row.benchmark, options.impl)
    bazel.build([label], configuration, verbose=options.verbose)
    question = next(one for one in bench.questions() if one.name == row.benchmark)
    program = bench.Program(row.benchmark, bazel.binary(label, configuration), configuration.mpi,
                            max(options.processes, question.ranks), where)
    trial = tune.Trial(row)
    with Progress(row.setting) as progress:
        for turn in range(options.rounds):
            for value in row.values:
                progress.note(f"round {turn + 1} of {options.rounds}, {value}")
                measured = _measure(row, replace(program, environment=((row.setting, value),)))
                if measured is not None:
                    trial.rounds.setdefault(value, {})[turn] = measured
    return trial


def _measure(row: tune.Row, program: bench.Program) -> Optional[tune.Measured]:
    """A value in a round; what failed is printed."""
    runs = []
    for text in row.filters:
        words = ("--filter", text, *(("--seconds", f"{FULL_SECONDS:g}") if row.full else ("--quick",)))
        run = bench.run_program(program, words, silence_s=bench.SILENCE_S)
        runs.append(run)
        if run.status != 0 or run.data is None:
            print(f"{' '.join('='.join(one) for one in program.environment)}: {run.name} ended with status {run.status}:\n"
                  f"{run.text}\n")
    return tune.measured(runs)
