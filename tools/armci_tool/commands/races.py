"""`races`: how many data races ARMCI_CHECK=race finds, and how many it sees where there are none."""

from __future__ import annotations

import click

from armci_tool import bazel, launch, races, repository
from armci_tool.commands import options
from armci_tool.console import Progress
from armci_tool.placement import Placement, with_device


@options.command("races", "tools/armci races --impl ucx --nodes 3", "tools/armci races --filter signal")
@options.implementation("shmem")
@click.option("--filter", "text", default="", metavar="TEXT", help="only pairs with this text in their name")
@options.placed
@options.configuration
@options.verbose
def execute(impl: str, text: str, where: Placement, configuration: bazel.Configuration, verbose: bool) -> int:
    """Runs the command; 0 when precision and recall of each run reach the goal."""
    scores = []
    for name in repository.choose_implementations(impl):
        placement = with_device(where, repository.device_of(name))
        launch.require(placement)
        bazel.built(races.label(name), configuration, verbose=verbose)
        with Progress(f"pairs on {name}") as progress:
            verdicts = races.examine(name, configuration, placement, progress.note, text)
        scores.append((", ".join(filter(None, [name, configuration.mpi, placement.label])), races.score(verdicts)))
        for case in races.cases(verdicts):
            if case.detail:
                print(f"WRONG {case.name}\n" + "\n".join("    " + line for line in case.detail.splitlines()))
    print(races.render(scores))
    print(f"goal: precision and recall of at least {races.GOAL}")
    return 0 if all(min(each.precision, each.recall) >= races.GOAL for _, each in scores) else 1
