"""`test`: everything that must hold before a change lands."""

from __future__ import annotations

import argparse

from armci_tool import option_types, packages, results, test_run, test_steps
from armci_tool.test_run import Level
from armci_tool.verbs import add_verbose, make_parser, require_file


def add_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declares the verb."""
    made = make_parser(verbs, "test", "set up, build and run the tests; the last line counts them",
                       "tools/armci test --quick", execute)
    amount = made.add_mutually_exclusive_group()
    amount.add_argument("--quick", action="store_true", help="the subset that takes less than three minutes once built")
    amount.add_argument("--full", action="store_true",
                        help="every combination of library, processes, placement, setting and sanitizer")
    made.add_argument("--only", action="append", metavar="TEXT", help="only steps whose name contains this")
    made.add_argument("--list", action="store_true", help="print the steps and end")
    made.add_argument("--junit", type=option_types.path, metavar="FILE", help="write the results as JUnit XML")
    add_verbose(made)


def execute(options: argparse.Namespace) -> int:
    """Runs the verb; 0 when every step ran and nothing failed."""
    level = Level.QUICK if options.quick else Level.FULL if options.full else Level.USUAL
    plan = test_steps.plan_steps(level)
    if options.only:
        plan = [step for step in plan if any(text in step.name for text in options.only)]
    if options.list:
        for step in plan:
            print(step.name)
        return 0
    if options.junit:
        require_file(options.junit)
    if packages.has_apt() and packages.missing_by_dpkg(packages.read_packages()):
        # Done before the steps: what it installs is worth a line of its own on the screen.
        packages.ensure_installed(print)
    steps = test_run.run_steps(plan)
    if options.junit:
        results.write_junit(options.junit, steps)
    test_run.print_report(steps)
    return 0 if steps and all(step.ok for step in steps) else 1
