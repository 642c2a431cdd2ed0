"""In a guest: what guests ask of each other. The first one, where commands run, asks the others:

    guest0: shell.py     --RUN, SIGNAL-->  guest1: a process of its agent for each connection
                         <--OUT, ERROR, EXIT--
    guest0: agent.py     --TIDY--------->  guest1: its agent
                         <--EXIT---------

The end of a connection ends its command. What a command leaves running stays, as with a remote shell, until the command
of the first guest has ended.
"""

from __future__ import annotations

import json
import os
import select
import socket
import struct
from contextlib import contextmanager
from typing import Iterator

from armci_tool.rdma import execution, network
from armci_tool.rdma.channel import EXIT, RUN, TIDY, Channel, Closed
from armci_tool.rdma.tidy import forget_files, tidy

# The other guest may be starting a job on emulated CPUs.
ANSWER_S = 60.0


@contextmanager
def connection(host: str) -> Iterator[Channel]:
    """To another guest. Raises OSError."""
    with socket.create_connection((host, network.NEIGHBOUR_PORT), timeout=ANSWER_S) as made:
        made.settimeout(None)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield Channel(made.fileno())


def tidy_others(guests: int, *, fresh: bool) -> None:
    """Has all others end what runs there, and, with `fresh`, forget the host's files. Raises Closed, with the reason, if
    one does not answer: it must not be used any more."""
    for guest in range(1, guests):
        try:
            with connection(network.host(guest)) as channel:
                channel.send_json(TIDY, fresh=fresh)
                if not select.select([channel], [], [], ANSWER_S)[0]:
                    raise Closed(f"{network.host(guest)} has not answered for {ANSWER_S:g} s")
                channel.receive()
        except OSError as error:
            raise Closed(f"{network.host(guest)} cannot be reached: {error}") from error


def listen(guest: int) -> socket.socket:
    """Where this guest takes requests of others."""
    return socket.create_server((network.address(guest), network.NEIGHBOUR_PORT))


def take(listening: socket.socket) -> None:
    """Does what one asker wants, or has a process do it."""
    asker, _ = listening.accept()
    with asker:
        asker.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # One that connects and says nothing must not hold up the others.
        asker.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", int(ANSWER_S), 0))
        channel = Channel(asker.fileno())
        try:
            kind, payload = channel.receive()
            if kind == TIDY:
                tidy()
                if json.loads(payload)["fresh"]:
                    forget_files()
                channel.send(EXIT)
        except Closed:
            return
        if kind == RUN and os.fork() == 0:
            listening.close()
            _run(channel, payload)


def _run(channel: Channel, payload: bytes) -> None:
    """A process of its own, to its end."""
    try:
        channel.send_json(EXIT, status=execution.run(channel, json.loads(payload)))
    except Closed:
        pass
    finally:
        os._exit(0)


def collect() -> None:
    """The processes that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
