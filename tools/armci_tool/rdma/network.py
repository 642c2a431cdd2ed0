"""The names and addresses of guests. Two guests have a network of their own:

    guest0                            this machine                            guest1
      eth0 <--virtio--> QEMU <===== a pair of sockets without a name =====> QEMU <--virtio--> eth0

Nothing else can reach the network, and it ends with the two. A single guest has a pair of veth devices instead.
"""

from __future__ import annotations

import socket

from armci_tool.rdma.commands import Channel

INTERFACE = "eth0"
MTU = 9000  # room for the largest packets of a verbs device, of 4096 bytes
# A pair of sockets joins two.
GUESTS_MAX = 2
# The agents of several guests serve each other here.
NEIGHBOUR_PORT = 7801


def host(guest: int) -> str:
    """The name of a guest, in the /etc/hosts of every guest."""
    return f"guest{guest}"


def address(guest: int) -> str:
    """The address of the verbs device of a guest, in a network of 256."""
    return f"10.78.0.{guest + 1}"


def hardware_address(guest: int) -> str:
    """The address of the network device of a guest."""
    return f"52:54:00:78:00:{guest + 1:02x}"


def hosts(guest: int, guests: int) -> str:
    """The /etc/hosts of a guest. With two guests, a guest has the name of the address that the other reaches it by."""
    if guests == 1:
        return f"127.0.0.1 localhost {host(guest)}\n"
    return "127.0.0.1 localhost\n" + "".join(f"{address(other)} {host(other)}\n" for other in range(guests))


def channel(connection: socket.socket) -> Channel:
    """A channel over a TCP connection, which it takes over."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Channel(connection.detach())
