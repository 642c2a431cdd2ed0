"""`install`: puts headers and libraries where a plain compiler line finds them."""

from __future__ import annotations

import argparse

from armci_tool import install, option_types, repository
from armci_tool.verbs import add_configuration, add_verbose, configuration, make_parser


def add_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declares the verb."""
    made = make_parser(verbs, "install", "copy the headers and libraries to a folder, for use without Bazel",
                       "tools/armci install --prefix /opt/armci", execute)
    made.add_argument("--prefix", type=option_types.path, required=True, metavar="DIR", help="gets IMPL/include/ and IMPL/lib/")
    made.add_argument("--impl", default="all", help="implementation, or all (default: %(default)s)")
    add_configuration(made)
    add_verbose(made)


def execute(options: argparse.Namespace) -> int:
    """Runs the verb."""
    chosen = configuration(options)
    prefix = options.prefix.absolute()
    for name in repository.choose_implementations(options.impl):
        folder = install.install(prefix, name, chosen, verbose=options.verbose)
        print(f"{name}: " + " ".join(install.compile_line(chosen.mpi, folder, "program.c", "program")))
    return 0
