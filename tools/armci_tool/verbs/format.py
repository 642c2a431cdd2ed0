"""`format`: the checks of the sources that need no build."""

from __future__ import annotations

import argparse

from armci_tool import checks
from armci_tool.verbs import make_parser


def add_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declares the verb."""
    made = make_parser(verbs, "format", "check the form of the sources: clang-format, length of files, unwanted words",
                       "tools/armci format --fix", execute)
    made.add_argument("--fix", action="store_true", help="run clang-format on all C and C++ files first")


def execute(options: argparse.Namespace) -> int:
    """Runs the verb; 0 when nothing is wrong."""
    if options.fix:
        print(f"formatted {checks.fix_format()} files")
    wrong = 0
    for name, problems, mend in checks.all_checks():
        for problem in problems:
            print(problem)
        print(f"{name}: " + (f"{len(problems)} problems; next: {mend}" if problems else "ok"))
        wrong += len(problems)
    return 1 if wrong else 0
