"""Parts that the steps of a plan share: where jobs run, how many cores they keep busy, and which implementations are in turn."""

from __future__ import annotations

from typing import Sequence, TypeVar

from armci_tool import repository, shards
from armci_tool.placement import Placement
from armci_tool.testing.steps import ALL_CORES, Level

Item = TypeVar("Item")

# Cores that a step keeps busy, unless all: WAITING mostly waits, SINGLE computes on one core. Processes of an MPI job poll while
# they wait, so a job of two keeps two busy.
WAITING = 0.5
SINGLE = 1.0
GUESTS = "guests"  # the tests of guests stop every kept guest, so one step at a time uses guests

ONE_NODE = Placement()
SIMULATED_NODES = Placement(simulated_node_size=2)
EVERY_PROCESS_A_NODE = Placement(simulated_node_size=1)
TWO_NODES = Placement(nodes=2)


def one_or_all(level: Level, items: Sequence[Item], topic: str) -> list[Item]:
    """The full level runs all items; the usual level runs the one that the commit selects."""
    return list(items) if level == Level.FULL else shards.one_of_commit(items, topic)


def on_one_node() -> list[str]:
    """Implementations whose tests on one node say everything."""
    return [row.name for row in repository.implementation_table() if not row.test_only and not row.spans_nodes]


def between_nodes() -> list[str]:
    return [row.name for row in repository.implementation_table()
            if not row.test_only and row.spans_nodes and not row.device]


def demand(names: Sequence[str], processes: int, placement: Placement) -> tuple[float, str]:
    """The cores that jobs keep busy there, and the resource that they need for themselves."""
    if placement.guest or placement.label and any(map(repository.device_of, names)):
        return ALL_CORES, GUESTS
    return SINGLE if processes == 1 else ALL_CORES, ""


def rerun(name: str) -> str:
    return f"tools/armci test --full --only '{name}'"
