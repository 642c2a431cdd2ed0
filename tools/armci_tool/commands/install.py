"""`install`: puts headers, libraries and commands where other build systems find them."""

from __future__ import annotations

from pathlib import Path
from typing import Sequence

import click

from armci_tool import bazel, repository
from armci_tool.commands import options
from armci_tool.console import Progress
from armci_tool.errors import ToolError
from armci_tool.install import layout

EVERY = "all"


@options.command("install", "tools/armci install --prefix /opt/armci --mpi mpich --impl mpi-rma,mpi-twosided")
@click.option("--prefix", type=options.PATH, required=True, metavar="DIR",
              help="gets include/, lib/, bin/, share/ and impl/NAME/, the prefix of one implementation for build systems that take an ARMCI as "
              "one folder; DIR can be moved afterwards")
@options.implementations("implementations, or all (default: all); those that are there already stay")
@click.option("--default", "usual", default="", metavar="NAME", shell_complete=options.complete_implementations,
              help="what -larmci and armci.pc mean (default: what it means there already, else "
              f"{layout.USUAL_DEFAULT} if it is there)")
@click.option("--uninstall", is_flag=True, help="remove what was installed there, and nothing else")
@options.configuration
@options.verbose
def execute(prefix: Path, impl: Sequence[str], usual: str, uninstall: bool, configuration: bazel.Configuration,
            verbose: bool) -> int:
    """Runs the command."""
    root = prefix.absolute()
    if uninstall:
        if impl or usual:
            raise ToolError("--uninstall removes all that is there", next_step="leave out --impl and --default")
        print(f"removed {layout.uninstall(root)} files from {root}")
        return 0
    names = repository.implementations() if EVERY in impl or not impl else impl
    for name in names:
        repository.require_for_users(name)
    with Progress(f"installing ({configuration.name})") as progress:
        layout.install(root, names, usual, configuration, verbose=verbose, on_progress=progress.note)
    print(f"installed {', '.join(names)} ({configuration.name}) into {root}\n{layout.hints(root, names, configuration.mpi)}")
    return 0
