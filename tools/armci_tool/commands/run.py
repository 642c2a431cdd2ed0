"""`run`: starts a program on several processes."""

from __future__ import annotations

import sys
from typing import Optional, Sequence

import click

from armci_tool import bazel, launch, placement, programs, repository
from armci_tool.commands import options


@options.command("run", "tools/armci run --impl shmem -n 4 //examples:hello", "tools/armci run --nodes 2 -n 4 ./mpi_program",
                 "tools/armci run --impl mpi-rma --simulate-node-size 2 -n 4 ./program", passes_on=True)
@click.option("--impl", shell_complete=options.complete_implementations,
              help=f"implementation (default: of a label {programs.DEFAULT}, of a program with the shared library the one it "
              "was linked with)")
@click.option("-n", "processes", type=options.COUNT, default=2, show_default=True, metavar="N", help="number of processes")
@options.mpi
@click.option("--config", type=click.Choice(bazel.MODES), default=bazel.DEFAULT_MODE, show_default=True, help="way to build")
@options.placed
@click.option("--timeout", type=options.SECONDS, metavar="SECONDS", help="end the job after this time, with status 124")
@click.option("--tag-output", is_flag=True, help="begin each line of output with its rank")
@options.verbose
@options.argument("program", help="Bazel label, or path of an executable")
@options.argument("arguments", metavar="ARGS...", nargs=-1, type=click.UNPROCESSED, help="passed to the program")
def execute(impl: Optional[str], processes: int, mpi: str, config: str, where: placement.Placement,
            timeout: Optional[float], tag_output: bool, verbose: bool, program: str, arguments: Sequence[str]) -> int:
    """Runs the command; its status is that of the job."""
    chosen = bazel.Configuration(mpi, config)
    where = placement.with_device(where, repository.device_of(impl or programs.DEFAULT))
    launch.require(where)
    binary = programs.find(program, impl or programs.DEFAULT, chosen, verbose=verbose)
    environment = chosen.environment()
    if not programs.is_label(program):
        environment.update(programs.exchanged(binary, impl, chosen, verbose=verbose))
    job = launch.Launch((str(binary), *arguments), processes, mpi, environment, tag_output=tag_output, placement=where)
    result = launch.start(job, timeout_s=timeout, capture=False)
    if result.timed_out:
        print(f"armci: {program} was ended after {timeout:g} s", file=sys.stderr)
    for line in result.left_behind:
        print(f"armci: {program} left behind: {line}", file=sys.stderr)
    return result.status
