"""`mutants`: shows that the conformance suite notices defective libraries."""

from __future__ import annotations

from pathlib import Path
from typing import Optional

import click

from armci_tool import bazel, mutants
from armci_tool.commands import options
from armci_tool.console import Progress
from armci_tool.results import FAILED
from armci_tool.shards import Shard

DETAIL_LINES = 40


@options.command("mutants", "tools/armci mutants --filter fence --quick", "tools/armci mutants --impl ucx --quick")
@click.option("--impl", "port", type=click.Choice(mutants.PORTS),
              help="mutants of that implementation's own sources, between nodes, in place of the defective libraries")
@click.option("--filter", "filter_text", default="", metavar="NAME", help="a part of the mutant's name, or a clause")
@click.option("-n", "processes", type=options.COUNT, metavar="NP",
              help="processes (default, and at least: as many as the mutant needs to be seen)")
@click.option("--quick", is_flag=True, help="as control only the tests that killed, not the whole suite")
@click.option("--share", "shard", type=options.shard, default="1/1", metavar="K/N",
              help="every N-th mutant, beginning with the K-th")
@click.option("--report", type=options.PATH, metavar="DIR", help="write mutants.txt, .json, .xml (JUnit) there")
@options.configuration
@options.verbose
def execute(port: Optional[str], filter_text: str, processes: Optional[int], quick: bool, shard: Shard, report: Optional[Path],
            configuration: bazel.Configuration, verbose: bool) -> int:
    """Runs the command; 0 when every mutant was killed and the right library passed."""
    if report:
        options.require_folder(report)
    binary = bazel.built(mutants.label(port or ""), configuration, verbose=verbose)
    with Progress("mutants") as progress:
        outcomes, controls = mutants.examine(binary, configuration, progress.note, filter_text=filter_text,
                                             processes=processes, shard=shard, whole=not quick and not filter_text and not port,
                                             port=port or "")
    print(mutants.render(outcomes, controls))
    print(mutants.render_explained(mutants.read_table(binary)))
    failures = [case for case in mutants.cases(outcomes, controls) if case.outcome == FAILED]
    for case in failures:
        print(f"\nFAILED {case.name}")
        print("\n".join("    " + line for line in case.detail.splitlines()[:DETAIL_LINES]))
    if report:
        for path in mutants.write_report(report, outcomes, controls, part=filter_text):
            print(f"wrote {path}")
    return 1 if failures else 0
