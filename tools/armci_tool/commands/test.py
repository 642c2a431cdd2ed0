"""`test`: everything that must hold before a change lands."""

from __future__ import annotations

from pathlib import Path
from typing import Optional, Sequence

import click

from armci_tool import packages, results, test_run, test_steps
from armci_tool.commands import options
from armci_tool.test_run import Level


@options.command("test", "tools/armci test --quick")
@click.option("--quick", is_flag=True, help="the subset that takes less than three minutes once built")
@click.option("--full", is_flag=True, help="every combination of library, processes, placement, setting and sanitizer")
@click.option("--only", multiple=True, metavar="TEXT", help="only steps whose name contains this")
@click.option("--list", "only_list", is_flag=True, help="print the steps and end")
@click.option("--junit", type=options.PATH, metavar="FILE", help="write the results as JUnit XML")
@options.verbose
def execute(quick: bool, full: bool, only: Sequence[str], only_list: bool, junit: Optional[Path], verbose: bool) -> int:
    """Runs the command; 0 when every step ran and nothing failed."""
    plan = test_steps.plan_steps(Level.QUICK if quick else Level.FULL if full else Level.USUAL)
    if only:
        plan = [step for step in plan if any(text in step.name for text in only)]
    if only_list:
        for step in plan:
            print(step.name)
        return 0
    if junit:
        options.require_file(junit)
    if packages.has_apt() and packages.missing_by_dpkg(packages.read_packages()):
        # Done before the steps: what it installs is worth a line of its own on the screen.
        packages.ensure_installed(print)
    steps = test_run.run_steps(plan)
    if junit:
        results.write_junit(junit, steps)
    test_run.print_report(steps)
    return 0 if steps and all(step.ok for step in steps) else 1
