"""`test`: everything that must hold before a change lands."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Optional, Sequence

import click

from armci_tool import packages, results
from armci_tool.commands import options
from armci_tool.errors import ToolError
from armci_tool.testing import changes, fresh_machine, plan, run, times
from armci_tool.testing.steps import Level


@options.command("test", "tools/armci test --quick\n  tools/armci test --changed\n  tools/armci test --times\n  tools/armci test --list --times")
@click.option("--quick", is_flag=True, help="the subset for every day")
@click.option("--full", is_flag=True, help="every combination of library, processes, placement, setting and sanitizer")
@click.option("--changed", is_flag=True,
              help="what the changed files can affect: those that git knows as changed, else those of the last commit")
@click.option("--since", metavar="COMMIT", help="with --changed: the files that differ from this commit")
@click.option("--fresh", is_flag=True,
              help="the commands of README.md on a fresh machine: a minimal Debian root, which needs root and downloads")
@click.option("--only", multiple=True, metavar="TEXT",
              help="only steps whose name has a word, or words, that begin with TEXT; may be repeated")
@click.option("--list", "only_list", is_flag=True,
              help="run nothing: print the names of the steps; with --times also what they took in earlier runs, slowest first")
@click.option("--times", "show_times", is_flag=True,
              help="run the steps, and then print what each took, slowest first, beside earlier runs; every run keeps its times")
@click.option("--junit", type=options.PATH, metavar="FILE", help="write the results as JUnit XML")
@options.verbose
def execute(quick: bool, full: bool, changed: bool, since: Optional[str], fresh: bool, only: Sequence[str],
            only_list: bool, show_times: bool, junit: Optional[Path], verbose: bool) -> int:
    """Runs the command; 0 when every step ran and nothing failed."""
    del verbose  # the log of each step has all of it
    if since and not changed:
        raise ToolError("--since needs --changed", next_step="add --changed")
    if junit and not only_list:
        options.require_file(junit)
    level = Level.QUICK if quick else Level.FULL if full else Level.USUAL
    if fresh:
        chosen = fresh_machine.steps(["--quick"] * quick + ["--full"] * full)
    elif level == Level.USUAL and not (changed or only) and os.environ.get("CI") and fresh_machine.is_due():
        chosen = fresh_machine.steps()
    else:
        if changed or not only_list:
            packages.ensure_installed(print)  # before the plan, which imports some and queries Bazel
        chosen = changes.plan_steps(since) if changed else plan.plan_steps(level)
    if only:
        chosen = [step for step in chosen if any(step.has_words(text) for text in only)]
        if not chosen:
            raise ToolError(f"no step's name has a word that begins with {' or '.join(only)}",
                            next_step="see tools/armci test --list, and add --full where the step is not of every run")
    if only_list:
        print(times.table([step.name for step in chosen]) if show_times else "\n".join(step.name for step in chosen))
        return 0
    steps = run.run_steps(plan.with_builds(chosen))
    results.write_junit(run.RESULTS, steps)
    if junit:
        results.write_junit(junit, steps)
    if show_times:
        print("\n" + times.table([step.name for step in steps], {step.name: step.seconds for step in steps}))
    times.record(steps)
    run.print_report(steps)
    return 0 if steps and all(step.ok for step in steps) else 1
