"""Frames between a guest's agent and whoever asks it, over a pair of sockets."""

from __future__ import annotations

import os
import socket
import threading
from typing import Iterator

import pytest
from armci_tool.rdma.channel import ERROR, EXIT, OUT, Channel, Closed

Pair = tuple[Channel, Channel, socket.socket]


@pytest.fixture()
def pair() -> Iterator[Pair]:
    """Both ends of a channel, and the socket of the first."""
    left, right = socket.socketpair()
    with left, right:
        yield Channel(left.fileno()), Channel(right.fileno()), left


def test_frames_come_as_they_were_sent_and_in_order(pair: Pair) -> None:
    here, there, _ = pair
    here.send(OUT, b"first")
    here.send(ERROR)
    here.send_json(EXIT, status=3)
    assert [there.receive() for _ in range(3)] == [(OUT, b"first"), (ERROR, b""), (EXIT, b'{"status": 3}')]


def test_a_frame_longer_than_what_is_read_at_once_comes_whole(pair: Pair) -> None:
    here, there, _ = pair
    text = os.urandom(3_000_000)
    sender = threading.Thread(target=here.send, args=(OUT, text))
    sender.start()
    assert there.receive() == (OUT, text)
    sender.join()


def test_a_frame_that_has_not_come_whole_is_none(pair: Pair) -> None:
    here, there, end = pair
    assert there.next_frame() is None
    end.send(b"O\0\0\0\5he")
    there.read_some()
    assert there.next_frame() is None
    end.send(b"llo")
    there.read_some()
    assert there.next_frame() == (OUT, b"hello")


def test_the_end_of_the_other_side_is_told(pair: Pair) -> None:
    _, there, end = pair
    end.close()
    with pytest.raises(Closed):
        there.receive()
