"""`run`: starts a program on several processes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Optional, Sequence

import click

from armci_tool import bazel, launch, placement, programs, repository
from armci_tool.commands import options
from armci_tool.errors import ToolError


@options.command("run", "tools/armci run --impl shmem -n 4 //examples:hello",
                 "tools/armci run --nodes 2 -n 4 ./mpi_program",
                 "tools/armci run --impl mpi-rma --simulate-node-size 2 -n 4 ./program", passes_on=True)
@options.implementation(None, f"implementation (default: of a label {programs.DEFAULT}, between nodes the first that spans "
                        "them without a device; of a program with the shared library the one it was linked with); a "
                        "script is started as it is, and gets a library by --prefix alone")
@click.option("--prefix", type=options.PATH, metavar="DIR",
              help="take the library of --impl from there, where tools/armci install has put it, and build nothing")
@options.wrapped
@options.processes(2)
@options.mpi
@click.option("--config", type=click.Choice(bazel.MODES), default=bazel.DEFAULT_MODE, show_default=True,
              help="way to build")
@options.placed
@click.option("--timeout", type=options.SECONDS, metavar="SECONDS", help="end the job after this time, with status 124")
@click.option("--tag-output", is_flag=True, help="begin each line of output with its rank")
@options.verbose
@options.argument("program", type=click.Path(readable=False), help="Bazel label, or path of an executable")
@options.argument("arguments", metavar="ARGS...", nargs=-1, type=click.Path(readable=False),
                  help="passed to the program")
def execute(impl: Optional[str], prefix: Optional[Path], wrapper: Sequence[str], processes: int, mpi: str, config: str,
            where: placement.Placement, timeout: Optional[float], tag_output: bool, verbose: bool, program: str,
            arguments: Sequence[str]) -> int:
    """Runs the command; its status is that of the job."""
    if prefix and (impl is None or programs.is_label(program)):
        raise ToolError("--prefix takes the library of --impl for a program that is linked already",
                        next_step="give --impl NAME and the path of a program")
    chosen = bazel.Configuration(mpi, config)
    default = programs.default_implementation(where)
    where = placement.with_device(where, repository.device_of(impl or default))
    launch.require(where)
    binary = programs.find(program, impl or default, chosen, verbose=verbose)
    environment = chosen.environment()
    if not programs.is_label(program):
        exchanged = programs.exchanged(binary, impl, chosen, prefix=prefix, verbose=verbose)
        if impl and not exchanged:
            print(f"armci: {program} chooses its library itself; --prefix DIR gives it {impl}", file=sys.stderr)
        environment.update(exchanged)
    job = launch.Launch((*wrapper, str(binary), *arguments), processes, mpi, environment,
                        tag_output=tag_output, placement=where)
    result = launch.start(job, timeout_s=timeout, capture=False)
    if result.timed_out:
        print(f"armci: {program} was ended after {timeout:g} s", file=sys.stderr)
    if death := launch.describe_status(job, result.status):
        print(f"armci: {program}: {death}\n  next: repeat it with --tag-output, or with --wrapper and a debugger", file=sys.stderr)
    for line in result.left_behind:
        print(f"armci: {program} left behind: {line}", file=sys.stderr)
    return result.status
