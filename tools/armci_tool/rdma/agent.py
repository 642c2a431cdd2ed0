"""What runs in a guest: makes the verbs device, then runs the commands that come through the channel.

Process 1 of the guest is this module too; it collects processes that nobody waits for, and powers the guest off when the
agent ends.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import socket
import time
from pathlib import Path
from typing import Any, Optional

from armci_tool.rdma import device, execution, neighbours, network, tidy
from armci_tool.rdma.channel import END, EXIT, READY, RUN, Channel, Closed

# Tells a command how to run another one in another guest, as tools/nodes does for its nodes.
_AGENT_VARIABLE = "NODE_AGENT"
_AGENT = Path(__file__).resolve().parents[2] / "guest-agent"
_PORTS = Path("/sys/class/virtio-ports")
_POWER_OFF = 0x4321FEDC


def main() -> None:
    """Runs as process 1."""
    agent = os.fork()
    if agent != 0:
        while True:
            try:
                pid, _ = os.wait()
            except ChildProcessError:
                break
            if pid == agent:
                break
        power_off()
    try:
        Agent().serve()
    except Closed as closed:
        if str(closed):
            print(f"armci: {closed}", flush=True)  # the console is shown where the guest's end was not wanted
    os._exit(0)


def power_off() -> None:
    """Ends the guest."""
    os.sync()
    ctypes.CDLL(None).reboot(_POWER_OFF)


class Agent:
    """Serves one channel, and, if it is not the first of several guests, the first one."""

    def __init__(self) -> None:
        self.channel = Channel(os.open(find_port(), os.O_RDWR))
        self._guests = 1
        self._listening: Optional[socket.socket] = None

    def serve(self) -> None:
        """Until the guest is to end."""
        _, payload = self.channel.receive()
        place = json.loads(payload)
        guest, self._guests = int(place["guest"]), int(place["guests"])
        said = device.make(guest, self._guests)
        if guest > 0 and not said:
            self._listening = neighbours.listen(guest)
        self.channel.send_json(READY, said=said)
        while True:
            kind, payload = self._next()
            if kind == END:
                return
            if kind == RUN:
                self._run(json.loads(payload))

    def _next(self) -> tuple[bytes, bytes]:
        """The next frame; other guests are served until it comes."""
        while (frame := self.channel.next_frame()) is None:
            both = [self.channel, self._listening] if self._listening else [self.channel]
            ready = select.select(both, [], [])[0]
            if self._listening in ready and self._listening is not None:
                neighbours.take(self._listening)
                neighbours.collect()
            if self.channel in ready:
                self.channel.read_some()
        return frame

    def _run(self, wanted: dict[str, Any]) -> None:
        """One command, to its end, and to that of all that it has started."""
        if wanted["fresh"]:
            tidy.forget_files()
            neighbours.tidy_others(self._guests, fresh=True)
        if self._guests > 1:
            wanted["environment"][_AGENT_VARIABLE] = str(_AGENT)
        status = execution.run(self.channel, wanted)
        tidy.tidy()
        neighbours.tidy_others(self._guests, fresh=False)
        self.channel.send_json(EXIT, status=status)


def find_port() -> str:
    """The device file of the channel."""
    for _ in range(100):
        for port in _PORTS.glob("*"):
            if (port / "name").read_text().strip() == network.PORT_NAME:
                return f"/dev/{port.name}"
        time.sleep(0.05)  # the kernel tells the name after the device
    raise FileNotFoundError(network.PORT_NAME)


if __name__ == "__main__":
    main()
