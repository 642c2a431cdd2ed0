"""Nodes made of namespaces, from inside: sets them up, runs a command on node0, says what it left behind.

See nodes.py for the picture. Three kinds of processes: `_supervise` (outside), `_init` (pid 1 of the pid namespace),
and a holder for each node, which keeps its namespaces.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import NoReturn, Sequence

import psutil  # type: ignore[import]
from armci_tool import linux, nodes
from armci_tool.errors import Stopped, ToolError
from armci_tool.leak_check import SETTLE_S, wait_for_end

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# After a signal the command has this long to end in good order.
_GRACE_S = 5
# Of a node, and of the switch.
_NAMESPACES = ["--mount", "--net", "--uts", "--ipc"]
# /sys shows the network devices of the namespace that it was mounted in. 
# The holder's CPUs are those of the node: node-agent and pid 1 go there before they enter.
_HOLDER = """
echo "$0" >/proc/sys/kernel/hostname
mount -t tmpfs -o nosuid,nodev,mode=1777 tmpfs /dev/shm
mount -t sysfs -o nosuid,nodev,noexec sysfs /sys
echo ready
exec sleep infinity
"""


def main(arguments: Sequence[str]) -> int:
    """The command line of tools/nodes."""
    request = _parse(arguments)
    try:
        nodes.require(request.count)
        return _supervise(request)
    except ToolError as error:
        print(error.render(), file=sys.stderr)
        return error.status


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools/nodes", usage="tools/nodes [--preload NAME] [--share-cpus] COUNT -- COMMAND...",
                                     description="Makes COUNT nodes of namespaces and runs COMMAND on the first.")
    parser.add_argument("--preload", default="", metavar="NAME", help="make /run/libNAME.so from tools/NAME.c")
    parser.add_argument("--share-cpus", action="store_true", help="each node has all CPUs, in the place of its own")
    parser.add_argument("count", type=int)
    split = list(arguments).index("--") if "--" in arguments else len(arguments)
    request = parser.parse_args(arguments[:split])
    request.command = arguments[split + 1:]
    if request.count < 1 or not request.command:
        parser.error("needs at least one node and a command")
    return request


def _supervise(request: argparse.Namespace) -> int:
    # Pid 1 of a namespace ignores a signal that it has no handler for yet. So the signals wait until it has.
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        linux.unshare(linux.CLONE_NEWPID)
    except OSError as error:
        raise ToolError("the system does not let root make namespaces", where=str(error),
                        next_step=nodes.offer()) from error
    lifeline, held = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(held)
        _leave(request, lifeline)
    os.close(lifeline)
    for each in _SIGNALS:
        signal.signal(each, lambda signum, _frame: os.kill(child, signum))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    return _shell_status(os.waitpid(child, 0)[1])


def _leave(request: argparse.Namespace, lifeline: int) -> NoReturn:
    """Ends the forked process with the status of the command; never goes back into the code of the parent."""
    status = 2
    try:
        status = _init(request, lifeline)
    except ToolError as error:
        print(error.render(), file=sys.stderr)
        status = error.status
    except OSError as error:
        print(ToolError("cannot make the nodes", where=str(error), next_step=nodes.offer()).render(), file=sys.stderr)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _shell_status(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


def _init(request: argparse.Namespace, lifeline: int) -> int:
    """Pid 1: when it ends, the kernel kills everything else."""
    linux.die_with_parent(lifeline)
    job = 0

    def stop(signum: int, _frame: object) -> None:
        if signum == signal.SIGALRM or not job:
            os._exit(Stopped(signum).status)
        # The alarm ends a job that ignores SIGTERM: no other process may be left to end it.
        signal.alarm(_GRACE_S)
        os.kill(job, signal.SIGTERM)

    for each in (*_SIGNALS, signal.SIGALRM):
        signal.signal(each, stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    folder = os.getcwd()
    holders = _make_nodes(request)
    os.environ[nodes.HOLDERS_VARIABLE] = " ".join(f"{nodes.host(i)}={pid}" for i, pid in enumerate(holders))
    os.environ["NODE_AGENT"] = str(nodes.AGENT)
    os.environ.setdefault("ARMCI_SERVER_CPUS", "own")
    # Entering a mount namespace leads to its root folder.
    inside = ["sh", "-c", 'cd "$0" && exec "$@"', folder, *request.command]
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    os.sched_setaffinity(0, os.sched_getaffinity(holders[0]))  # the command inherits it
    job = os.posix_spawnp("nsenter", [*_enter(holders[0]), *inside], os.environ, setsigmask=[],
                          setsigdef=list(_SIGNALS))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    # The kernel hands orphans to pid 1. A zombie would look like a living process to kill(pid, 0).
    while (ended := os.wait())[0] != job:
        pass
    for line in _left_behind(holders):
        print(line, file=sys.stderr)
    return _shell_status(ended[1])


def _enter(holder: int) -> list[str]:
    return ["nsenter", "--target", str(holder), *_NAMESPACES, "--"]


def _make_nodes(request: argparse.Namespace) -> list[int]:
    """Process ids of the nodes' holders, the nodes connected."""
    _make_shared_files(request)
    holders = [_start_holder(nodes.host(node)) for node in range(request.count)]
    if not request.share_cpus:
        for holder, cpus in zip(holders, nodes.shares_of_cpus(os.sched_getaffinity(0), request.count)):
            os.sched_setaffinity(holder, cpus)
    switch = ["link add name switch type bridge", "link set switch up"]
    for node, holder in enumerate(holders):
        switch += [f"link add name port{node} type veth peer name {nodes.INTERFACE} netns {holder}",
                   f"link set port{node} master switch up"]
    _ip([], switch)
    for node, holder in enumerate(holders):
        _ip(_enter(holder), ["link set lo up", f"addr add {nodes.address(node)}/24 dev {nodes.INTERFACE}",
                             f"link set {nodes.INTERFACE} up"])
    return holders


def _make_shared_files(request: argparse.Namespace) -> None:
    """Makes the files that all nodes have in common, apart from the machine."""
    linux.unshare(linux.CLONE_NEWNS | linux.CLONE_NEWNET | linux.CLONE_NEWUTS | linux.CLONE_NEWIPC)
    linux.own_root()
    linux.mount("proc", "/proc", "proc", linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC)
    linux.mount("tmpfs", nodes.SESSION_FOLDER, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "mode=755")
    names = Path(nodes.SESSION_FOLDER, "etc", "hosts")
    names.parent.mkdir()
    names.write_text("127.0.0.1 localhost\n" + "".join(f"{nodes.address(i)} {nodes.host(i)}\n"
                                                       for i in range(request.count)))
    if Path("/etc/hosts").exists():
        linux.mount(str(names), "/etc/hosts", flags=linux.MS_BIND)
    else:  # a root folder that was just made has none
        linux.mount("overlay", "/etc", "overlay", data=f"lowerdir={names.parent}:/etc")
    if request.preload:
        source = nodes.PROGRAM.with_name(request.preload + ".c")
        made = subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-o", nodes.preload(request.preload),
                               str(source)], text=True, capture_output=True, check=False)
        if made.returncode != 0:
            raise ToolError(f"cannot make {nodes.preload(request.preload)}", where=made.stderr.strip(),
                            next_step="run tools/armci setup, which installs gcc")


def _ip(prefix: Sequence[str], lines: Sequence[str]) -> None:
    done = subprocess.run([*prefix, "ip", "-batch", "-"], input="\n".join(lines) + "\n", text=True,
                          capture_output=True, check=False)
    if done.returncode != 0:
        raise ToolError("cannot connect the nodes", where=done.stderr.strip(), next_step=nodes.offer())


def _start_holder(name: str) -> int:
    holder = subprocess.Popen(["unshare", *_NAMESPACES, "sh", "-ec", _HOLDER, name], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE)
    # End of file without it: the holder has ended, and has said why.
    if holder.stdout is None or holder.stdout.readline() != b"ready\n":
        raise ToolError(f"cannot make {name}", next_step=nodes.offer())
    return holder.pid


def _left_behind(holders: Sequence[int]) -> list[str]:
    """Processes that outlive the command, and files in the nodes' /dev/shm. Both get a moment to go."""
    deadline = time.monotonic() + SETTLE_S
    while (remaining := _others(holders)) and time.monotonic() < deadline:
        wait_for_end(remaining[0].pid, deadline - time.monotonic())
    networks = {_network(holder): nodes.host(node) for node, holder in enumerate(holders)}
    lines = []
    for process in remaining:
        with suppress(psutil.Error):
            where = networks.get(_network(process.pid), "no node")
            lines.append(f"{nodes.LEFT_BEHIND}{where}: process {process.pid} ({process.name()})")
    for node, holder in enumerate(holders):
        lines += [f"{nodes.LEFT_BEHIND}{nodes.host(node)}: /dev/shm/{entry}"
                  for entry in sorted(os.listdir(Path("/proc", str(holder), "root", "dev", "shm")))]
    return lines


def _others(holders: Sequence[int]) -> list[psutil.Process]:
    """Living processes besides pid 1 and the holders; reaps those that have ended."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return [process for process in psutil.process_iter()
            if process.pid not in (os.getpid(), *holders) and _network(process.pid)]


def _network(pid: int) -> str:
    """Names the network namespace of a process; empty if it has ended."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return os.readlink(f"/proc/{pid}/ns/net")
    return ""
