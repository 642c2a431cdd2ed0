"""`setup`: installs what the repository needs."""

from __future__ import annotations

import argparse

from armci_tool import packages
from armci_tool.verbs import make_parser


def add_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declares the verb."""
    made = make_parser(verbs, "setup", "install the Debian packages of tools/packages.txt", "tools/armci setup", execute)
    made.add_argument("--list", action="store_true", help="only print the packages and what each is for")


def execute(options: argparse.Namespace) -> int:
    """Runs the verb."""
    if options.list:
        for package in packages.read_packages():
            print(f"{package.name:22}{package.purpose}")
        return 0
    packages.ensure_installed(print)
    return 0
