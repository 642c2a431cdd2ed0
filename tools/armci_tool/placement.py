"""Where the ranks of a job are: on this machine as it is, on nodes made of namespaces or guests, or on simulated nodes."""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass, replace

from armci_tool.errors import ToolError
from armci_tool.rdma import machine

SIMULATED_SIZE_VARIABLE = "ARMCI_NODE_SIZE"
VERBS_DEVICES = "/dev/infiniband/uverbs*"
# A guest's CPU is emulated.
_GUEST_DEADLINES = 2.0


@dataclass(frozen=True)
class Placement:
    """At most one of the first two is set."""

    nodes: int = 0  # 0: this machine, as it is
    simulated_node_size: int = 0  # 0: not simulated
    guest: bool = False  # in a guest that has a verbs device, or each node in one (see rdma)

    @classmethod
    def chosen(cls, nodes: int, simulated_node_size: int) -> Placement:
        """From the options; 0: not given. The library reads the environment as well, so its values count as given."""
        given = os.environ.get(SIMULATED_SIZE_VARIABLE, "")
        if not given or simulated_node_size:
            return cls(nodes, simulated_node_size)
        if nodes:
            raise ToolError(f"--nodes {nodes} and {SIMULATED_SIZE_VARIABLE}={given} contradict each other",
                            next_step=f"unset {SIMULATED_SIZE_VARIABLE}")
        if not given.isdecimal() or int(given) < 1:
            raise ToolError(f"{SIMULATED_SIZE_VARIABLE}: {given!r} is not a number of at least 1",
                            next_step="unset it, or give it a number")
        return cls(simulated_node_size=int(given))

    @property
    def label(self) -> str:
        """For titles: `2 nodes`; `2 nodes, guests`; `nodes of 2, simulated, in a guest`; empty on the machine as it is."""
        if self.nodes:
            return (f"{self.nodes} nodes" if self.nodes > 1 else "1 node") + ", guests" * self.guest
        simulated = [f"nodes of {self.simulated_node_size}, simulated"] if self.simulated_node_size else []
        return ", ".join(simulated + ["in a guest"] * self.guest)

    @property
    def kind(self) -> str:
        """`machine`, `nodes` or `simulated`."""
        if self.nodes:
            return "nodes"
        return "simulated" if self.simulated_node_size else "machine"

    @property
    def suffix(self) -> str:
        """For names of files: `_nodes2`; empty on the machine as it is."""
        return f"_{self.kind}{self.nodes or self.simulated_node_size}" if self.kind != "machine" else ""

    @property
    def deadline_factor(self) -> float:
        """How many times as long as usual something may take there."""
        return _GUEST_DEADLINES * max(self.nodes, 1) if self.guest else 1.0  # guests share this machine's cores

    def arguments(self) -> list[str]:
        """The options of tools/armci that say the same."""
        if self.nodes:
            return ["--nodes", str(self.nodes)]
        return ["--simulate-node-size", str(self.simulated_node_size)] if self.simulated_node_size else []

    def environment(self) -> dict[str, str]:
        """The settings of the ranks."""
        return {SIMULATED_SIZE_VARIABLE: str(self.simulated_node_size)} if self.simulated_node_size else {}

    def ranks_per_node(self, processes: int) -> list[int]:
        """Blocks of consecutive ranks, as equal as they can be, the larger first."""
        if self.nodes > processes:
            raise ToolError(f"cannot place {processes} processes on {self.nodes} nodes",
                            next_step=f"give -n at least {self.nodes}, or fewer --nodes")
        share, larger = divmod(processes, self.nodes)
        return [share + 1] * larger + [share] * (self.nodes - larger)


def with_device(where: Placement, device: str) -> Placement:
    """The same, in guests if it takes a device between nodes: if this machine has none, and always for nodes, as those of
    namespaces are this machine. ToolError if there can be none."""
    if device != "verbs" or where.kind == "machine" or where.nodes == 1:
        return where
    if where.simulated_node_size and glob.glob(VERBS_DEVICES):
        return where
    return in_guest(where)


def in_guest(where: Placement) -> Placement:
    """The same in guests, whether or not it takes the device. ToolError if there can be none."""
    machine.require(max(where.nodes, 1))
    return replace(where, guest=True)
