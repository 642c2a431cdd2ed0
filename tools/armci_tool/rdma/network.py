"""What this machine and the guests agree on: names, addresses and devices. Two guests have a network of their own:

    guest0                            this machine                            guest1
      eth0 <--virtio--> QEMU <===== a pair of sockets without a name =====> QEMU <--virtio--> eth0

Nothing else can reach it, and it goes with the two.
"""

from __future__ import annotations

INTERFACE = "eth0"
VERBS_DEVICE = "rxe0"
MTU = 9000  # room for the largest packets of a verbs device, of 4096 bytes
PORT_NAME = "armci.agent"  # of the channel between this machine and a guest
# A pair of sockets joins two.
GUESTS_MAX = 2
# Where guests other than the first take commands from it (see neighbours.py).
NEIGHBOUR_PORT = 7801

_NETWORK = "10.78.0"


def host(guest: int) -> str:
    """A guest's name, in every guest's /etc/hosts."""
    return f"guest{guest}"


def address(guest: int) -> str:
    """Of the verbs device of guest number `guest`, in a network of 256."""
    return f"{_NETWORK}.{guest + 1}"


def hardware_address(guest: int) -> str:
    """Of its network device."""
    return f"52:54:00:78:00:{guest + 1:02x}"
