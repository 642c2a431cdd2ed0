"""In a guest: one command, from its start to its end, for whoever is at the other end of a channel."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from typing import Any, Optional

from armci_tool.rdma.channel import END, ERROR, OUT, SIGNAL, Channel, Closed

_READ_BYTES = 65536
# For what a command leaves in its pipes.
_SETTLE_S = 2.0
# A command whose asker has gone has so long before it is killed.
_GRACE_S = 3.0


def run(channel: Channel, wanted: dict[str, Any]) -> int:
    """What RUN asks for. Returns the command's status, as a shell tells it; what it has started may live on. Raises Closed,
    the command ended, if the asker goes or asks for the end of all."""
    try:
        process = subprocess.Popen(wanted["argv"], cwd=wanted["cwd"], env=wanted["environment"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True)
    except OSError as error:
        channel.send(ERROR, f"armci: cannot run {wanted['argv'][0]} in the guest: {error}\n".encode())
        return 127 if isinstance(error, FileNotFoundError) else 126
    try:
        _relay(channel, process)
    except Closed:
        _end(process)
        raise
    status = process.returncode
    return 128 - status if status < 0 else status


def _relay(channel: Channel, process: "subprocess.Popen[bytes]") -> None:
    assert process.stdout is not None and process.stderr is not None
    pipes = {process.stdout.fileno(): OUT, process.stderr.fileno(): ERROR}
    ended_at: Optional[float] = None
    while pipes or process.poll() is None:
        ready, _, _ = select.select([*pipes, channel], [], [], 0.1)
        for descriptor in ready:
            if descriptor is channel:
                channel.read_some()
            elif data := os.read(descriptor, _READ_BYTES):
                channel.send(pipes[descriptor], data)
            else:
                del pipes[descriptor]
        _take_signals(channel, process)
        if process.poll() is not None:
            # What it left behind may hold the pipes open.
            ended_at = ended_at or time.monotonic()
            if time.monotonic() - ended_at > _SETTLE_S:
                break
    process.stdout.close()
    process.stderr.close()
    process.wait()


def _take_signals(channel: Channel, process: "subprocess.Popen[bytes]") -> None:
    while (frame := channel.next_frame()) is not None:
        kind, payload = frame
        if kind == END:
            raise Closed
        if kind == SIGNAL and process.poll() is None:
            os.killpg(process.pid, int(json.loads(payload)["number"]))


def _end(process: "subprocess.Popen[bytes]") -> None:
    """In good order first. Its pipes are closed: nobody reads them."""
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(_GRACE_S)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue
