"""`info`: what a library is and how it is set."""

from __future__ import annotations

import click

from armci_tool import bazel, launch, repository, settings_page
from armci_tool.commands import options
from armci_tool.placement import Placement


@options.command("info", "ARMCI_TIMEOUT=60 tools/armci info --impl shmem")
@options.implementation("shmem")
@options.processes(1)
@click.option("--reference", is_flag=True, help="write docs/environment.md from what all implementations say")
@options.placed
@options.configuration
@options.verbose
def execute(impl: str, processes: int, reference: bool, where: Placement, configuration: bazel.Configuration,
            verbose: bool) -> int:
    """Runs the command."""
    if reference:
        settings_page.PAGE.write_text(settings_page.current(configuration))
        print(f"wrote {settings_page.PAGE}")
        return 0
    launch.require(where)
    status = 0
    for name in repository.choose_implementations(impl):
        repository.require_for_users(name)
        binary = bazel.built("//tools:armci_info" + bazel.target_suffix(name), configuration, verbose=verbose)
        job = launch.Launch((str(binary),), processes, configuration.mpi, configuration.environment(), placement=where)
        status |= launch.start(job, capture=False).status
    return status
