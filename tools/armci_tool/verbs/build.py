"""`build`: builds targets in one configuration."""

from __future__ import annotations

import argparse
import time

from armci_tool import bazel, console
from armci_tool.verbs import add_configuration, add_verbose, configuration, make_parser


def add_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declares the verb."""
    made = make_parser(verbs, "build", "build the libraries, tests and programs",
                       "tools/armci build //examples/... --config mpich", execute)
    made.add_argument("targets", nargs="*", default=["//..."], help="Bazel labels (default: everything)")
    add_configuration(made)
    add_verbose(made)


def execute(options: argparse.Namespace) -> int:
    """Runs the verb."""
    chosen = configuration(options)
    start = time.monotonic()
    bazel.build(options.targets, chosen, verbose=options.verbose)
    print(f"built {' '.join(options.targets)} ({chosen.name}) in {console.duration(time.monotonic() - start)}")
    print(f"files: {bazel.folder('bazel-bin', chosen)}")
    return 0
