"""`trace`: sums a timeline up."""

from __future__ import annotations

from pathlib import Path
from typing import Optional

import click

from armci_tool import trace
from armci_tool.commands import options
from armci_tool.errors import ToolError


@options.command("trace", "ARMCI_TRACE=trace.json tools/armci run -n 4 //examples:transpose; tools/armci trace "
                 "trace.json")
@options.argument("file", type=options.PATH, help="what a job wrote with ARMCI_TRACE=FILE")
@click.option("--picture", type=options.PATH, metavar="PNG", help="draw it as well")
def execute(file: Path, picture: Optional[Path]) -> int:
    """Runs the command."""
    timeline = trace.read(file)
    print(trace.render(timeline))
    if picture:
        if not timeline.events:
            raise ToolError(f"{file} cannot be drawn", where="the timeline has no calls",
                            next_step="leave --picture out, or give a timeline of a job with calls")
        trace.draw(timeline, picture)
        print(f"wrote {picture}")
    return 0
