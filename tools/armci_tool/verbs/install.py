"""`install`: puts headers, libraries and commands where other build systems find them."""

from __future__ import annotations

import argparse

from armci_tool import option_types, repository
from armci_tool.console import Progress
from armci_tool.errors import ToolError
from armci_tool.install import layout
from armci_tool.verbs import add_configuration, add_verbose, configuration, make_parser

EVERY = "all"


def add_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declares the verb."""
    made = make_parser(verbs, "install", "copy headers, libraries, commands and manual pages to a folder, for use without "
                       "Bazel", "tools/armci install --prefix /opt/armci --mpi mpich --impl mpi-rma,mpi-twosided", execute)
    made.add_argument("--prefix", type=option_types.path, required=True, metavar="DIR",
                      help="gets include/, lib/, bin/ and share/; it can be moved afterwards")
    made.add_argument("--impl", type=option_types.words, action="append", metavar="NAME[,NAME...]",
                      help="implementations, or all (default: all); those that are there already stay")
    made.add_argument("--default", default="", metavar="NAME",
                      help=f"what -larmci and armci.pc mean (default: what it means there already, else "
                           f"{layout.USUAL_DEFAULT} if it is there)")
    made.add_argument("--uninstall", action="store_true", help="remove what was installed there, and nothing else")
    add_configuration(made)
    add_verbose(made)


def execute(options: argparse.Namespace) -> int:
    """Runs the verb."""
    root = options.prefix.absolute()
    if options.uninstall:
        if options.impl or options.default:
            raise ToolError("--uninstall removes all that is there", next_step="leave out --impl and --default")
        print(f"removed {layout.uninstall(root)} files from {root}")
        return 0
    names = _names([name for part in options.impl or [[EVERY]] for name in part])
    chosen = configuration(options)
    with Progress(f"installing ({chosen.name})") as progress:
        layout.install(root, names, options.default, chosen, verbose=options.verbose, on_progress=progress.note)
    print(f"installed {', '.join(names)} ({chosen.name}) into {root}\n{layout.hints(root, names, chosen.mpi)}")
    return 0


def _names(asked: list[str]) -> list[str]:
    known = repository.implementations()
    if EVERY in asked:
        return known
    for name in asked:
        repository.require_for_users(name)
    return list(dict.fromkeys(asked))
