"""`rdma`: runs a command on a machine that has a verbs device."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from armci_tool import option_types
from armci_tool.rdma import commands, keeper, machine, session
from armci_tool.verbs import make_parser

_DEFAULT = "ibv_devinfo"


def add_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declares the verb."""
    made = make_parser(verbs, "rdma", "run a command on a machine made by QEMU that has a verbs device (Soft-RoCE)",
                       "tools/armci rdma -- ibv_devinfo -v\n"
                       "  tools/armci rdma --guests 2 -- sh -c 'ping -c 3 guest1; $NODE_AGENT guest1 ibv_devinfo'\n"
                       "  tools/armci rdma --keep --timeout 60 -- ./program\n"
                       "  tools/armci rdma --stop", execute)
    made.add_argument("--guests", type=option_types.count, default=1, metavar="N",
                      help="with 2, guest0 and guest1 with a network of their own between them: the command runs in guest0, "
                      "and there `$NODE_AGENT guest1 COMMAND` runs one in guest1 (default: %(default)s)")
    made.add_argument("--cpus", type=option_types.count, default=2, help="of a guest (default: %(default)s)")
    made.add_argument("--memory", type=option_types.count, default=4096, metavar="MIB",
                      help="of a guest (default: %(default)s)")
    made.add_argument("--timeout", type=option_types.seconds, metavar="SECONDS",
                      help="end the command after this time, with status 124")
    lasting = made.add_mutually_exclusive_group()
    lasting.add_argument("--keep", action="store_true",
                         help=f"leave the guest for the next command with --keep in the same folder; it ends by itself when "
                         f"none has come for {keeper.IDLE_S / 60:g} minutes")
    lasting.add_argument("--keep-for", type=option_types.count, metavar="PID",
                         help="the same, until that process has ended")
    lasting.add_argument("--stop", action="store_true", help="end the guests that are kept, and what they run")
    made.add_argument("command", metavar="COMMAND", nargs=argparse.REMAINDER,
                      help="runs with our environment in the folder we are in, whose files it may write; all others it can "
                      f"read, and what it writes there is gone with the guest (default: {_DEFAULT})")


def execute(options: argparse.Namespace) -> int:
    """Runs the verb; its status is that of the command."""
    if options.stop:
        print(f"rdma: ended {session.stop_all()} guests")
        return 0
    argv = options.command[1:] if options.command[:1] == ["--"] else options.command
    here = Path.cwd()
    is_kept = options.keep or options.keep_for is not None
    command = commands.Command(argv or [_DEFAULT], here, os.environ, commands.to_stream(sys.stdout),
                               commands.to_stream(sys.stderr), fresh=is_kept)
    wanted = machine.Options(options.cpus, options.memory, str(here), options.guests, owner=options.keep_for or 0)
    if is_kept:
        status = session.run(wanted, command, timeout_s=options.timeout)
    else:
        with machine.Guests(wanted) as guests:
            status = guests.run(command, timeout_s=options.timeout)
    if status == commands.TIMEOUT_STATUS and options.timeout:
        print(f"armci: {command.argv[0]} was ended after {options.timeout:g} s", file=sys.stderr)
    return status
