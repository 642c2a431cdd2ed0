"""What runs in a guest: makes the verbs device, then runs the commands that come through the channel.

Process 1 of the guest is this module too; it collects processes that nobody waits for, and powers the guest off when the
agent ends.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Optional

from armci_tool.rdma.channel import (END, ERROR, EXIT, OUT, READY, RUN, SIGNAL, Channel, Closed)

PORT_NAME = "armci.agent"
DEVICE = "rxe0"
NETWORK = "10.78.0"

_PORTS = Path("/sys/class/virtio-ports")
_READ_BYTES = 65536
_MTU = "9000"  # room for the largest packets of a verbs device, of 4096 bytes
# For what a command leaves in its pipes, and for its processes to end.
_SETTLE_S = 2.0
_POWER_OFF = 0x4321FEDC


def address(guest: int) -> str:
    """Of the device of guest number `guest`."""
    return f"{NETWORK}.{guest + 1}"


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
    except Closed:
        pass
    os._exit(0)


def power_off() -> None:
    """Ends the guest."""
    os.sync()
    ctypes.CDLL(None).reboot(_POWER_OFF)


class Agent:
    """Serves one channel."""

    def __init__(self) -> None:
        self.channel = Channel(os.open(find_port(), os.O_RDWR))

    def serve(self) -> None:
        """Until the guest is to end."""
        kind, payload = self.channel.receive()
        place = json.loads(payload)
        said = make_device(int(place["guest"]), int(place["guests"]))
        self.channel.send_json(READY, said=said, seconds=uptime())
        while True:
            kind, payload = self.channel.receive()
            if kind == END:
                return
            if kind == RUN:
                self.run(json.loads(payload))

    def run(self, wanted: dict[str, Any]) -> None:
        """One command, to its end."""
        if wanted["fresh"]:
            forget_files()
        try:
            process = subprocess.Popen(wanted["argv"], cwd=wanted["cwd"], env=wanted["environment"],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       start_new_session=True)
        except OSError as error:
            self.channel.send(ERROR, f"armci: cannot run {wanted['argv'][0]} in the guest: {error}\n".encode())
            self.channel.send_json(EXIT, status=127 if isinstance(error, FileNotFoundError) else 126)
            return
        self._relay(process)
        kill_all_others()
        clear_shared_memory()
        status = process.returncode
        self.channel.send_json(EXIT, status=128 - status if status < 0 else status)

    def _relay(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdout is not None and process.stderr is not None
        pipes = {process.stdout.fileno(): OUT, process.stderr.fileno(): ERROR}
        ended_at: Optional[float] = None
        while pipes or process.poll() is None:
            ready, _, _ = select.select([*pipes, self.channel], [], [], 0.1)
            for descriptor in ready:
                if descriptor is self.channel:
                    self.channel.read_some()
                elif data := os.read(descriptor, _READ_BYTES):
                    self.channel.send(pipes[descriptor], data)
                else:
                    del pipes[descriptor]
            self._take_signals(process)
            if process.poll() is not None:
                # What it left behind may hold the pipes open.
                ended_at = ended_at or time.monotonic()
                if time.monotonic() - ended_at > _SETTLE_S:
                    break
        process.stdout.close()
        process.stderr.close()
        process.wait()

    def _take_signals(self, process: "subprocess.Popen[bytes]") -> None:
        while (frame := self.channel.next_frame()) is not None:
            kind, payload = frame
            if kind == SIGNAL and process.poll() is None:
                os.killpg(process.pid, int(json.loads(payload)["number"]))


def find_port() -> str:
    """The device file of the channel."""
    for _ in range(100):
        for port in _PORTS.glob("*"):
            if (port / "name").read_text().strip() == PORT_NAME:
                return f"/dev/{port.name}"
        time.sleep(0.05)  # the kernel tells the name after the device
    raise FileNotFoundError(PORT_NAME)


def uptime() -> float:
    """Seconds since the kernel started."""
    return float(Path("/proc/uptime").read_text().split()[0])


def make_device(guest: int, guests: int) -> str:
    """A verbs device over the network between the guests, or, in a single one, over a pair of its own. Returns what went
    wrong, or nothing."""
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    network = "eth0" if guests > 1 else "rdma0"
    commands = [["hostname", f"guest{guest}"], ["ip", "link", "set", "lo", "up"]]
    if guests == 1:
        commands.append(["ip", "link", "add", network, "mtu", _MTU, "type", "veth", "peer", "name", "rdma1"])
        commands.append(["ip", "link", "set", "rdma1", "up", "mtu", _MTU])
    commands += [["ip", "address", "add", f"{address(guest)}/24", "dev", network],
                 ["ip", "link", "set", network, "up", "mtu", _MTU],
                 ["rdma", "link", "add", DEVICE, "type", "rxe", "netdev", network]]
    for command in commands:
        result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                check=False)
        if result.returncode != 0:
            return f"{' '.join(command)}: {result.stdout.decode(errors='replace').strip()}"
    hosts = [f"127.0.0.1 localhost guest{guest}"] if guests == 1 else [f"127.0.0.1 localhost"]
    hosts += [f"{address(other)} guest{other}" for other in range(guests) if guests > 1]
    Path("/etc/hosts").write_text("".join(f"{line}\n" for line in hosts))
    return ""


def forget_files() -> None:
    """Of the host's files what is remembered may be old."""
    os.sync()
    Path("/proc/sys/vm/drop_caches").write_text("3\n")


def kill_all_others() -> None:
    """What a command has left behind, but not process 1, this one, and the kernel's threads."""
    mine = {1, os.getpid()}
    for _ in range(100):
        left = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if pid not in mine and is_program(pid)]
        if not left:
            return
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.02)


def clear_shared_memory() -> None:
    """Of jobs that were killed: it would be taken from the next one."""
    for path in Path("/dev/shm").iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def is_program(pid: int) -> bool:
    """Whether it is a living process that is no thread of the kernel."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""
    except OSError:
        return False


if __name__ == "__main__":
    main()
