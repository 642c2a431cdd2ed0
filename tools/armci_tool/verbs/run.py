"""`run`: starts a program on several processes."""

from __future__ import annotations

import argparse
import sys

from armci_tool import bazel, launch, option_types, placement, programs, repository
from armci_tool.verbs import add_verbose, make_parser


def add_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declares the verb."""
    made = make_parser(verbs, "run", "run a program on one implementation (builds it if needed)",
                       "tools/armci run --impl shmem -n 4 //examples:hello\n"
                       "  tools/armci run --nodes 2 -n 4 ./mpi_program\n"
                       "  tools/armci run --impl mpi-rma --simulate-node-size 2 -n 4 ./program", execute)
    made.add_argument("--impl", help=f"implementation (default: of a label {programs.DEFAULT}, of a program with the shared "
                      "library the one it was linked with)")
    made.add_argument("-n", dest="processes", type=option_types.count, default=2, help="number of processes (default: %(default)s)")
    made.add_argument("--mpi", choices=sorted(launch.MPI_LIBRARIES), default=launch.DEFAULT_MPI,
                      help="MPI library underneath (default: %(default)s)")
    made.add_argument("--config", choices=bazel.MODES, default=bazel.DEFAULT_MODE,
                      help="way to build (default: %(default)s)")
    placement.add_arguments(made)
    made.add_argument("--timeout", type=option_types.seconds, metavar="SECONDS", help="end the job after this time, with status 124")
    made.add_argument("--tag-output", action="store_true", help="begin each line of output with its rank")
    add_verbose(made)
    made.add_argument("program", metavar="PROGRAM", help="Bazel label, or path of an executable")
    made.add_argument("arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="passed to the program")


def execute(options: argparse.Namespace) -> int:
    """Runs the verb; its status is that of the job."""
    chosen = bazel.Configuration(options.mpi, options.config)
    where = placement.with_device(placement.from_options(options), repository.device_of(options.impl or programs.DEFAULT))
    launch.require(where)
    binary = programs.find(options.program, options.impl or programs.DEFAULT, chosen, verbose=options.verbose)
    environment = chosen.environment()
    if not programs.is_label(options.program):
        environment.update(programs.exchanged(binary, options.impl, chosen, verbose=options.verbose))
    job = launch.Launch((str(binary), *options.arguments), options.processes, options.mpi, environment,
                        tag_output=options.tag_output, placement=where)
    result = launch.start(job, timeout_s=options.timeout, capture=False)
    if result.timed_out:
        print(f"armci: {options.program} was ended after {options.timeout:g} s", file=sys.stderr)
    for line in result.left_behind:
        print(f"armci: {options.program} left behind: {line}", file=sys.stderr)
    return result.status
