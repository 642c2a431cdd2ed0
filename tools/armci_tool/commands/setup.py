"""`setup`: installs what the repository needs."""

from __future__ import annotations

import click

from armci_tool import console, packages
from armci_tool.commands import options


@options.command("setup", "tools/armci setup\n  tools/armci setup --for install")
@click.option("--for", "purpose", type=click.Choice(["quickstart", "install", "test"]), default="test", show_default=True,
              help="what the packages are for: the quick start; building and installing all implementations; all tests, with applications "
              "from source")
@click.option("--rdma", is_flag=True,
              help="besides, what tools/armci rdma needs: packages and a kernel, which is unpacked into your cache and not "
              "installed")
@click.option("--list", "only_list", is_flag=True, help="only print the packages and what each is for")
def execute(purpose: str, rdma: bool, only_list: bool) -> int:
    """Runs the command."""
    purposes = [purpose, *["rdma"] * rdma]
    if only_list:
        wanted = [package for each in purposes for package in packages.read_packages(each)]
        absent = {package.name for package in packages.missing(wanted)}
        print(console.table(["package", "", "what for"],
                            [[package.name, "missing" if package.name in absent else "installed", package.purpose]
                             for package in wanted], numeric_from=3))
        return 0
    for each in purposes:
        packages.ensure_installed(print, each)
    if rdma:
        from armci_tool.rdma import kernel
        kernel.ensure(print)
    return 0
