"""Guests as the nodes of an MPI job: what they are called, and how a command is started on the first of them."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Sequence

from armci_tool import process
from armci_tool.errors import ToolError
from armci_tool.nodes import NodeKind
from armci_tool.rdma import kernel, machine, network
from armci_tool.repository import ROOT

AGENT = machine.AGENT


def require(count: int, preloaded: str = "") -> None:
    """Raises ToolError if there cannot be so many. Makes the library that they preload: they see our files."""
    machine.require(count)
    made = Path(preload(preloaded))
    if not preloaded or made.exists():
        return
    unfinished = made.with_suffix(f".{os.getpid()}")
    made.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # the library runs with this user's rights
    result = process.run(["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-o", str(unfinished), str(_source(preloaded))])
    if not result.ok:
        unfinished.unlink(missing_ok=True)
        raise ToolError(f"cannot make {made}", where=result.tail(5),
                        next_step="run tools/armci setup, which installs gcc")
    unfinished.rename(made)


def preload(name: str) -> str:
    """Where the guests find the library that is made from tools/NAME.c: a file for each text of it."""
    if not name:
        return ""
    digest = hashlib.sha256(_source(name).read_bytes()).hexdigest()[:16]
    return str(kernel.cache() / "preload" / f"lib{name}-{digest}.so")


def _source(name: str) -> Path:
    return ROOT / "tools" / f"{name}.c"


def command_line(guests: int, command: Sequence[str], _preloaded: str = "", _shares_cpus: bool = False) -> list[str]:
    """Starts `command` in the first of the guests, which are kept for the commands of this process that follow."""
    several = ["--guests", str(guests)] if guests > 1 else []
    return [str(ROOT / "tools" / "armci"), "rdma", *several, "--keep-for", str(os.getpid()), "--", *command]


GUESTS = NodeKind(network.host, AGENT, network.INTERFACE, require, preload, command_line)
