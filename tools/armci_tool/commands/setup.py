"""`setup`: installs what the repository needs."""

from __future__ import annotations

import click

from armci_tool import packages
from armci_tool.commands import options
from armci_tool.rdma import kernel
from armci_tool.repository import RDMA_PACKAGES_FILE


@options.command("setup", "tools/armci setup")
@click.option("--rdma", is_flag=True,
              help="besides, what tools/armci rdma needs: the packages of tools/packages_rdma.txt and a kernel, which is "
              "unpacked into your cache and not installed")
@click.option("--list", "only_list", is_flag=True, help="only print the packages and what each is for")
def execute(rdma: bool, only_list: bool) -> int:
    """Runs the command."""
    wanted = packages.read_packages()
    if rdma:
        wanted += packages.read_packages(RDMA_PACKAGES_FILE)
    if only_list:
        for package in wanted:
            print(f"{package.name:22}{package.purpose}")
        return 0
    packages.ensure_installed(print, wanted)
    if rdma:
        kernel.ensure(print)
    return 0
