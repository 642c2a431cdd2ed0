"""`tune`: finds the values of an implementation's settings that are the best on this machine."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace as Namespace
from typing import Any, Optional

import click

from armci_tool import bazel, bench, launch, placement, repository, tune
from armci_tool.commands import options
from armci_tool.compare import statistics
from armci_tool.console import Progress
from armci_tool.errors import ToolError

DEFAULT_ROUNDS = 5
# Of a run with all sizes.
FULL_SECONDS = 5.0


@options.command("tune", "tools/armci tune --impl mpi-twosided --nodes 2 --mpi mpich --output tuned.env")
@options.implementation("mpi-twosided", "implementation")
@options.mpi
@click.option("--rounds", type=options.COUNT, default=DEFAULT_ROUNDS, show_default=True, metavar="R",
              help="how often each value has its turn")
@options.processes(bench.DEFAULT_PROCESSES, "processes, raised where a benchmark needs more")
@click.option("--setting", help="only the one of this name")
@click.option("--output", type=options.PATH, metavar="FILE",
              help="write the advised settings there, for ARMCI_TUNING_FILE or a shell, with what was measured")
@options.placed
@options.verbose
def execute(where: placement.Placement, **values: Any) -> int:
    """Runs the command; status 1 when a value could not be measured."""
    given = Namespace(**values)
    statistics.require()
    repository.require_for_users(given.impl)
    where = _where(where, given.impl)
    if given.output:
        options.require_file(given.output)
    rows = [row for row in tune.rows(given.impl) if given.setting in (None, row.setting)]
    if not rows:
        raise ToolError(f"{given.setting} is not tuned", next_step="use one of: " + ", ".join(
            row.setting for row in tune.rows(given.impl)))
    trials = [_try(row, where, given) for row in rows]
    print(tune.table(trials) + "\n")
    failed = [trial.row.setting for trial in trials if not any(trial.rounds.values())]
    if failed:
        raise ToolError("nothing could be measured of " + ", ".join(failed), next_step="see the output above", status=1)
    print(tune.advice(trials))
    if given.output:
        given.output.write_text(tune.environment_file(trials, given.impl, given.mpi, where.label or "one node"))
        print(f"written: {given.output}; the library reads it with:  export ARMCI_TUNING_FILE={given.output.resolve()}")
    return 0 if all(trial.median_of(value) is not None for trial in trials for value in trial.row.values) else 1


def _where(where: placement.Placement, implementation: str) -> placement.Placement:
    """Where its settings matter: between nodes, for what spans them."""
    launch.require(where)
    device = repository.device_of(implementation)
    if device and where.kind == "machine":
        where = placement.Placement(simulated_node_size=1)
    if where.kind == "machine" and repository.leaves_node(implementation):
        raise ToolError(f"on one node there is nothing to tune of {implementation}: processes take the memory of the node",
                        next_step="give --nodes 2, or --simulate-node-size 1")
    if where.kind != "machine" and not repository.leaves_node(implementation):
        raise ToolError(f"{implementation} spans no nodes", next_step="tune it on one node")
    return placement.with_device(where, device)


def _try(row: tune.Row, where: placement.Placement, given: Namespace) -> tune.Trial:
    configuration = bazel.Configuration(given.mpi)
    label = bench.label(row.benchmark, given.impl)
    bazel.build([label], configuration, verbose=given.verbose)
    question = next(one for one in bench.questions() if one.name == row.benchmark)
    program = bench.Program(row.benchmark, bazel.binary(label, configuration), configuration.mpi,
                            max(given.processes, question.ranks), where)
    trial = tune.Trial(row)
    with Progress(row.setting) as progress:
        for turn in range(given.rounds):
            for value in row.values:
                progress.note(f"round {turn + 1} of {given.rounds}, {value}")
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
