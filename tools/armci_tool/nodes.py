"""Nodes made of namespaces, seen from outside: what they are called, what they need, how a command is started on them.

    machine                        nothing of it is changed: no named namespace, no device, no file
      tools/nodes                  forwards signals and the status
        pid 1 of a pid namespace   own /run and /etc/hosts, which the nodes share; its network namespace is the switch:
                                   a bridge and the ports of the nodes
          holder of node0          own network (eth0), host name, /dev/shm, /sys, System V objects; its share of the
                                   CPUs, where there are as many as nodes
          holder of node1          ...
          COMMAND, on node0        reaches node1 through tools/node-agent, as through ssh

A namespace lives as long as a process in it, and the kernel kills all processes of a pid namespace with its pid 1.
Pid 1 dies with tools/nodes, and tools/nodes dies with its parent process. So nothing stays after any signal to any of
them, and a later run has nothing to remove and nothing to collide with.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Collection, Sequence

from armci_tool.errors import ToolError
from armci_tool.repository import ROOT

NODES_MAX = 64
INTERFACE = "eth0"
# Of this run only. The MPI libraries keep their session files here, whose names would be the same in every run.
SESSION_FOLDER = "/run"
# Pairs NODE=PID, for the agent.
HOLDERS_VARIABLE = "NODE_HOLDERS"
LEFT_BEHIND = "nodes: left behind on "

PROGRAM = ROOT / "tools" / "nodes"
AGENT = ROOT / "tools" / "node-agent"
_PYTHON = "/usr/bin/python3"
# As capabilities(7) counts them: namespaces and mounts, their networks, and entering them.
_CAPABILITIES = {"CAP_SYS_ADMIN": 21, "CAP_NET_ADMIN": 12, "CAP_SYS_CHROOT": 18}
_COMMANDS = {"ip": "iproute2", "nsenter": "util-linux", "taskset": "util-linux", "gcc": "gcc"}


@dataclass(frozen=True)
class NodeKind:
    """A launcher's options for nodes of one kind, and its start on the first of them."""

    host: Callable[[int], str]
    agent: Path  # in place of ssh
    interface: str
    # Raises ToolError if there cannot be so many; makes what they preload, if that has to be there before them.
    require: Callable[[int, str], None]
    # Where they find a library that is preloaded.
    preload: Callable[[str], str]
    # (nodes, command, name of the preloaded library, whether they share the CPUs)
    command_line: Callable[[int, Sequence[str], str, bool], list[str]]


def host(node: int) -> str:
    """A node's name, on every node's /etc/hosts."""
    return f"node{node}"


def address(node: int) -> str:
    """A node's address, in a network of 256."""
    return f"10.77.0.{node + 1}"


def shares_of_cpus(cpus: Collection[int], count: int) -> list[set[int]]:
    """The CPUs of each node: its own if there are enough, as nodes have, the larger shares first like
    those of ranks; else all of them."""
    ordered = sorted(cpus)
    if len(ordered) < count:
        return [set(ordered)] * count
    share, larger = divmod(len(ordered), count)
    ends = [share * node + min(node, larger) for node in range(count + 1)]
    return [set(ordered[start:end]) for start, end in zip(ends, ends[1:])]


def has_cores_for(ranks: Sequence[int]) -> bool:
    """Whether each rank has a core; given the number of ranks on each node."""
    cpus = os.sched_getaffinity(0)
    return len(cpus) >= len(ranks) and all(
        count <= len(share) for count, share in zip(ranks, shares_of_cpus(cpus, len(ranks))))


def require(count: int, _preloaded: str = "") -> None:
    """Raises ToolError if this user, or this machine, cannot have nodes."""
    if count > NODES_MAX:
        raise ToolError(f"cannot make {count} nodes", next_step=f"request at most {NODES_MAX}")
    if missing := missing_rights():
        raise ToolError(f"--nodes needs {missing}: it makes network namespaces and connects them", next_step=offer())
    for command, package in _COMMANDS.items():
        if shutil.which(command) is None:
            raise ToolError(f"--nodes needs the command {command}", where="it is not on PATH",
                            next_step=f"run tools/armci setup, or install {package}")


def missing_rights() -> str:
    """The rights that this user lacks to make nodes: `root`, or capabilities that root may not have in a container."""
    if os.geteuid() != 0:
        return "root"
    found = re.search(r"^CapEff:\s*(\w+)", Path("/proc/self/status").read_text(), re.MULTILINE)
    effective = int(found.group(1), 16) if found else -1
    return " and ".join(name for name, bit in _CAPABILITIES.items() if not effective >> bit & 1)


def offer() -> str:
    """The advice where there can be no nodes."""
    missing = missing_rights()
    as_whom = "as root" if missing == "root" else f"where root has {missing} (docker run --privileged)"
    simulated = "give --simulate-node-size K: nodes of K processes, simulated by the library"
    return f"run it {as_whom}, or {simulated}" if missing else simulated


def preload(name: str) -> str:
    """Where the nodes find the library that is made from tools/NAME.c."""
    return f"{SESSION_FOLDER}/lib{name}.so"


def command_line(count: int, command: Sequence[str], preloaded: str = "", shares_cpus: bool = False) -> list[str]:
    """Starts `command` on node0 of `count` nodes; `preloaded` is the name of a library to make before. `shares_cpus`: each
    node has all CPUs, also where there are enough for each to have its own."""
    options = [*(["--preload", preloaded] if preloaded else []), *(["--share-cpus"] if shares_cpus else [])]
    return [_PYTHON, "-B", str(PROGRAM), *options, str(count), "--", *command]


NAMESPACES = NodeKind(host, AGENT, INTERFACE, require, preload, command_line)
