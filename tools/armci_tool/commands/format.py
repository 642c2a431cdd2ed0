"""`format`: the checks of the sources that need no build."""

from __future__ import annotations

import click

from armci_tool import checks
from armci_tool.commands import options


@options.command("format", "tools/armci format --fix")
@click.option("--fix", is_flag=True, help="run clang-format on all C and C++ files first")
def execute(fix: bool) -> int:
    """Runs the command; 0 when nothing is wrong."""
    if fix:
        print(f"formatted {checks.fix_format()} files")
    wrong = 0
    for name, problems, mend in checks.all_checks():
        for problem in problems:
            print(problem)
        print(f"{name}: " + (f"{len(problems)} problems; next: {mend}" if problems else "ok"))
        wrong += len(problems)
    return 1 if wrong else 0
