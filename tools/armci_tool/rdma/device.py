"""In a guest: its network, and the verbs device on it."""

from __future__ import annotations

import resource
import subprocess
from pathlib import Path

from armci_tool.rdma import network

_HOSTS = Path("/etc/hosts")


def make(guest: int, guests: int) -> str:
    """A verbs device over the network between the guests, or, in a single one, over a pair of its own. Returns what went
    wrong, or nothing."""
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    for command in commands(guest, guests):
        result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                check=False)
        if result.returncode != 0:
            return f"{' '.join(command)}: {result.stdout.decode(errors='replace').strip()}"
    _HOSTS.write_text(hosts(guest, guests))
    return ""


def commands(guest: int, guests: int) -> list[list[str]]:
    """What makes it, in order."""
    mtu = str(network.MTU)
    under = network.INTERFACE if guests > 1 else "rdma0"
    made = [["hostname", network.host(guest)], ["ip", "link", "set", "lo", "up"]]
    if guests == 1:
        made.append(["ip", "link", "add", under, "mtu", mtu, "type", "veth", "peer", "name", "rdma1"])
        made.append(["ip", "link", "set", "rdma1", "up", "mtu", mtu])
    return [*made, ["ip", "address", "add", f"{network.address(guest)}/24", "dev", under],
            ["ip", "link", "set", under, "up", "mtu", mtu],
            ["rdma", "link", "add", network.VERBS_DEVICE, "type", "rxe", "netdev", under]]


def hosts(guest: int, guests: int) -> str:
    """The names that a guest knows. Of two, each has the name of the address that the other reaches it by."""
    if guests == 1:
        return f"127.0.0.1 localhost {network.host(guest)}\n"
    return "127.0.0.1 localhost\n" + "".join(f"{network.address(other)} {network.host(other)}\n"
                                             for other in range(guests))
