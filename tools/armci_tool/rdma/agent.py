"""In a guest: runs the commands that come through the channel, after start.sh has made the verbs device.

With two guests, the agents serve each other too. The remote shell of one (shell.py) connects to the agent of the other:

    guest0: shell.py     --RUN, SIGNAL-->        guest1: a process of its agent for each connection
                         <--OUT, ERROR, EXIT--

The end of a connection ends its command. Processes that a command leaves running live on until TIDY comes, as with any
remote shell.
"""

from __future__ import annotations

import math
import os
import shutil
import signal
import socketserver
import subprocess
import threading
import time
from contextlib import suppress
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, Union

from armci_tool.rdma import network
from armci_tool.rdma.commands import END, ERROR, EXIT, FORGET, OUT, READY, RUN, SIGNAL, TIDY, Channel, Closed

# The path of tools/guest-agent, for commands; empty in a single guest. The namespaces of tools/nodes have it as well.
AGENT_VARIABLE = "NODE_AGENT"
_PORT = "/dev/vport0p1"
_SHARED_MEMORY = Path("/dev/shm")
_READ_BYTES = 65536
# The time for what a command leaves in its pipes.
_SETTLE_S = 2.0
# A command whose client has gone has this time before SIGKILL.
_GRACE_S = 3.0
_KILL_S = 2.0


def main() -> None:
    """Serves the channel to its end."""
    if os.environ[AGENT_VARIABLE]:
        server = socketserver.ForkingTCPServer((os.environ["ADDRESS"], network.NEIGHBOUR_PORT), Neighbour)
        server.max_children = 1000
        threading.Thread(target=server.serve_forever, daemon=True).start()
    with Channel(os.open(_PORT, os.O_RDWR)) as channel, suppress(Closed):
        channel.post(READY)
        while True:
            _serve(channel, *channel.receive())


def _serve(channel: Channel, kind: str, value: Any) -> None:
    """Executes one message."""
    if kind == END:
        raise Closed(channel)
    if kind == RUN:
        if os.environ[AGENT_VARIABLE]:
            value["environment"][AGENT_VARIABLE] = os.environ[AGENT_VARIABLE]
        channel.post(EXIT, execute(channel, value))
    elif kind == TIDY:
        _tidy()
        channel.post(EXIT)
    elif kind == FORGET:
        os.sync()
        Path("/proc/sys/vm/drop_caches").write_text("3\n")
        channel.post(EXIT)


class Neighbour(socketserver.BaseRequestHandler):
    """Runs one command of another guest, in a process of its own."""

    def handle(self) -> None:
        """Called by the server."""
        with network.channel(self.request) as client, suppress(Closed):
            _, value = client.receive()
            client.post(EXIT, execute(client, value))


def execute(client: Channel, wanted: dict[str, Any]) -> int:
    """Runs the command of a RUN to its end. Returns its status, as a shell reports it; processes that it has started may
    live on. Raises Closed if the client goes or sends END; then the command has been ended."""
    try:
        process = subprocess.Popen(wanted["argv"], cwd=wanted["cwd"], env=wanted["environment"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True)
    except OSError as error:
        client.post(ERROR, f"armci: cannot run {wanted['argv'][0]} in the guest: {error}\n".encode())
        return 127 if isinstance(error, FileNotFoundError) else 126
    assert process.stdout is not None and process.stderr is not None
    with process.stdout, process.stderr, open(os.pidfd_open(process.pid), "rb", buffering=0) as end:
        try:
            _relay(client, process, {process.stdout.fileno(): OUT, process.stderr.fileno(): ERROR}, end.fileno())
        except Closed:
            process.stdout.close()  # or a command that writes could not end in good order
            process.stderr.close()
            for number in (signal.SIGTERM, signal.SIGKILL):
                with suppress(ProcessLookupError, subprocess.TimeoutExpired):
                    os.killpg(process.pid, number)
                    process.wait(_GRACE_S)
            raise
    return 128 - process.returncode if process.returncode < 0 else process.returncode


def _relay(client: Channel, process: "subprocess.Popen[bytes]", pipes: dict[int, str], end: int) -> None:
    """Returns when the process has ended, which makes `end` readable, and its pipes are empty."""
    sources: list[Union[Channel, int]] = [client, *pipes, end]
    deadline = math.inf
    while len(sources) > 1 and time.monotonic() < deadline:
        for source in wait(sources, None if end in sources else _SETTLE_S):
            if source is client:
                kind, value = client.receive()
                if kind == END:
                    raise Closed(client)
                if kind == SIGNAL and process.poll() is None:
                    os.killpg(process.pid, value)
            elif source == end:
                process.wait()
                sources.remove(end)
                deadline = time.monotonic() + _SETTLE_S  # processes that it has left behind may hold the pipes open
            elif isinstance(source, int):
                if data := os.read(source, _READ_BYTES):
                    client.post(pipes[source], data)
                else:
                    sources.remove(source)


def _tidy() -> None:
    """Ends what commands have left, so that the next command finds the guest as new."""
    deadline = time.monotonic() + _KILL_S
    while time.monotonic() < deadline:
        with suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)  # all processes but process 1 and this one
        if not _others_live():
            break
        time.sleep(0.02)
    # Shared memory of killed jobs would be taken from the next job.
    for path in _SHARED_MEMORY.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def _others_live() -> bool:
    """Whether a process lives but process 1 and this one. Zombies and threads of the kernel have no command line."""
    for pid in set(filter(str.isdigit, os.listdir("/proc"))) - {"1", str(os.getpid())}:
        with suppress(OSError):  # the process has ended
            if Path(f"/proc/{pid}/cmdline").read_bytes():
                return True
    return False


if __name__ == "__main__":
    main()
