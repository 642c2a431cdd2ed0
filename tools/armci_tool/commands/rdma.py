"""`rdma`: runs a command on a machine that has a verbs device."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Optional, Sequence

import click

from armci_tool.commands import options
from armci_tool.rdma import commands, keeper, machine, session

_DEFAULT = "ibv_devinfo"


@options.command("rdma", "tools/armci rdma -- ibv_devinfo -v",
                 "tools/armci rdma --guests 2 -- sh -c 'ping -c 3 guest1; $NODE_AGENT guest1 ibv_devinfo'",
                 "tools/armci rdma --keep --timeout 60 -- ./program", "tools/armci rdma --stop", passes_on=True)
@click.option("--guests", type=options.COUNT, default=1, show_default=True, metavar="N",
              help="with 2, guest0 and guest1 with a network of their own between them: the command runs in guest0, and "
              "there `$NODE_AGENT guest1 COMMAND` runs one in guest1")
@click.option("--cpus", type=options.COUNT, default=2, show_default=True, metavar="N", help="of a guest")
@click.option("--memory", type=options.COUNT, default=4096, show_default=True, metavar="MIB", help="of a guest")
@click.option("--timeout", type=options.SECONDS, metavar="SECONDS",
              help="end the command after this time, with status 124")
@click.option("--keep", is_flag=True,
              help="leave the guest for the next command with --keep in the same folder; it ends by itself when none has "
              f"come for {keeper.IDLE_S / 60:g} minutes")
@click.option("--keep-for", type=options.COUNT, metavar="PID", help="the same, until that process has ended")
@click.option("--stop", is_flag=True, help="end the guests that are kept, and what they run")
@options.argument("command", nargs=-1, type=click.UNPROCESSED,
                  help="runs with our environment in the folder we are in, whose files it may write; all others it can "
                  f"read, and what it writes there is gone with the guest (default: {_DEFAULT})")
def execute(guests: int, cpus: int, memory: int, timeout: Optional[float], keep: bool, keep_for: Optional[int],
            stop: bool, command: Sequence[str]) -> int:
    """Runs the command; its status is that of what it starts."""
    if stop:
        print(f"rdma: ended {session.stop_all()} guests")
        return 0
    here = Path.cwd()
    is_kept = keep or keep_for is not None
    wanted = commands.Command(list(command) or [_DEFAULT], here, os.environ, commands.to_stream(sys.stdout),
                              commands.to_stream(sys.stderr), fresh=is_kept)
    machine_options = machine.Options(cpus, memory, str(here), guests, owner=keep_for or 0)
    if is_kept:
        status = session.run(machine_options, wanted, timeout_s=timeout)
    else:
        with machine.Guests(machine_options) as made:
            status = made.run(wanted, timeout_s=timeout)
    if status == commands.TIMEOUT_STATUS and timeout:
        print(f"armci: {wanted.argv[0]} was ended after {timeout:g} s", file=sys.stderr)
    return status
