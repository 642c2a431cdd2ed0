"""`trace`: sums a timeline up."""

from __future__ import annotations

import argparse

from armci_tool import option_types, trace
from armci_tool.errors import ToolError
from armci_tool.verbs import make_parser


def add_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declares the verb."""
    made = make_parser(verbs, "trace", "sum up a timeline: calls, waiting, bytes between processes",
                       "ARMCI_TRACE=trace.json tools/armci run -n 4 //examples:transpose; tools/armci trace trace.json",
                       execute)
    made.add_argument("file", type=option_types.path, metavar="FILE", help="what a job wrote with ARMCI_TRACE=FILE")
    made.add_argument("--picture", type=option_types.path, metavar="PNG", help="draw it as well")


def execute(options: argparse.Namespace) -> int:
    """Runs the verb."""
    timeline = trace.read(options.file)
    print(trace.render(timeline))
    if options.picture:
        if not timeline.events:
            raise ToolError("there is nothing to draw", where=f"{options.file} has no calls")
        trace.draw(timeline, options.picture)
        print(f"wrote {options.picture}")
    return 0
