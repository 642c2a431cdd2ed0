"""`build`: builds targets in one configuration."""

from __future__ import annotations

import time
from typing import Sequence

from armci_tool import bazel, console
from armci_tool.commands import options


@options.command("build", "tools/armci build //examples/... --config mpich")
@options.argument("targets", nargs=-1, help="Bazel labels (default: everything)")
@options.configuration
@options.verbose
def execute(targets: Sequence[str], configuration: bazel.Configuration, verbose: bool) -> int:
    """Runs the command."""
    targets = targets or ["//..."]
    start = time.monotonic()
    bazel.build(targets, configuration, verbose=verbose)
    print(f"built {' '.join(targets)} ({configuration.name}) in {console.duration(time.monotonic() - start)}")
    print(f"files: {bazel.folder('bazel-bin', configuration)}")
    return 0
