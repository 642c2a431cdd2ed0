"""Messages between a guest's agent and its client, over a pair of sockets."""

from __future__ import annotations

import os
import socket
import threading
from typing import Iterator

import pytest
from armci_tool.rdma.commands import ERROR, EXIT, OUT, Channel, Closed

Pair = tuple[Channel, Channel]


@pytest.fixture()
def pair() -> Iterator[Pair]:
    """Both ends of a channel."""
    left, right = (Channel(end.detach()) for end in socket.socketpair())
    with left, right:
        yield left, right


def test_messages_come_as_they_were_sent_and_in_order(pair: Pair) -> None:
    here, there = pair
    here.post(OUT, b"first")
    here.post(ERROR)
    here.post(EXIT, 3)
    assert [there.receive() for _ in range(3)] == [(OUT, b"first"), (ERROR, None), (EXIT, 3)]


def test_a_message_longer_than_what_is_read_at_once_comes_whole(pair: Pair) -> None:
    here, there = pair
    text = os.urandom(3_000_000)
    sender = threading.Thread(target=here.post, args=(OUT, text))
    sender.start()
    assert there.receive() == (OUT, text)
    sender.join()


def test_the_end_of_the_other_side_is_reported(pair: Pair) -> None:
    here, there = pair
    here.close()
    with pytest.raises(Closed) as caught:
        there.receive()
    assert caught.value.channel is there
    with pytest.raises(Closed):
        there.post(OUT, b"late")


def test_the_end_of_the_other_side_in_the_middle_of_a_message_is_reported(pair: Pair) -> None:
    here, there = pair
    os.write(here.fileno(), b"\0\0\0\5he")
    here.close()
    with pytest.raises(Closed):
        there.receive()
