"""`info`: what a library is and how it is set."""

from __future__ import annotations

import argparse

from armci_tool import bazel, launch, nodes, option_types, placement, repository, settings_page
from armci_tool.verbs import add_configuration, add_verbose, configuration, make_parser


def add_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declares the verb."""
    made = make_parser(verbs, "info", "print implementation, version, capabilities and every ARMCI_* setting",
                       "ARMCI_TIMEOUT=60 tools/armci info --impl shmem", execute)
    made.add_argument("--impl", default="shmem", help="implementation, or all (default: %(default)s)")
    made.add_argument("-n", dest="processes", type=option_types.count, default=1, help="number of processes (default: %(default)s)")
    made.add_argument("--reference", action="store_true", help="write docs/environment.md from what all implementations say")
    placement.add_arguments(made)
    add_configuration(made)
    add_verbose(made)


def execute(options: argparse.Namespace) -> int:
    """Runs the verb."""
    chosen = configuration(options)
    if options.reference:
        settings_page.PAGE.write_text(settings_page.current(chosen))
        print(f"wrote {settings_page.PAGE}")
        return 0
    where = placement.from_options(options)
    if where.nodes:
        nodes.require(where.nodes)
    status = 0
    for name in repository.choose_implementations(options.impl):
        repository.require_for_users(name)
        binary = bazel.built("//tools:armci_info" + bazel.target_suffix(name), chosen, verbose=options.verbose)
        job = launch.Launch((str(binary),), options.processes, chosen.mpi, chosen.environment(), placement=where)
        status |= launch.start(job, capture=False).status
    return status
