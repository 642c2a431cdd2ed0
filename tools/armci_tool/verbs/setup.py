"""`setup`: installs what the repository needs."""

from __future__ import annotations

import argparse

from armci_tool import packages
from armci_tool.rdma import kernel
from armci_tool.repository import RDMA_PACKAGES_FILE
from armci_tool.verbs import make_parser


def add_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declares the verb."""
    made = make_parser(verbs, "setup", "install the Debian packages of tools/packages.txt", "tools/armci setup", execute)
    made.add_argument("--rdma", action="store_true",
                      help="besides, what tools/armci rdma needs: the packages of tools/packages_rdma.txt and a kernel, "
                      "which is unpacked into your cache and not installed")
    made.add_argument("--list", action="store_true", help="only print the packages and what each is for")


def execute(options: argparse.Namespace) -> int:
    """Runs the verb."""
    wanted = packages.read_packages()
    if options.rdma:
        wanted += packages.read_packages(RDMA_PACKAGES_FILE)
    if options.list:
        for package in wanted:
            print(f"{package.name:22}{package.purpose}")
        return 0
    packages.ensure_installed(print, wanted)
    if options.rdma:
        kernel.ensure(print)
    return 0
