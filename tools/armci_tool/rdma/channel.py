"""What travels between a guest's agent and whoever asks it: frames of a kind and bytes.

    kind     from     bytes
    READY    agent    JSON: what the guest has
    RUN      asker    JSON: argv, cwd, environment, fresh (files of the host may have changed)
    SIGNAL   asker    JSON: number, for the command
    OUT      agent    standard output
    ERROR    agent    standard error
    EXIT     agent    JSON: status, as a shell tells it
    TIDY     guest    JSON: fresh (as above); another guest is to end what it runs, and says EXIT
    END      asker    nothing: the guest is to power off

One command at a time on a channel.
"""

from __future__ import annotations

import json
import os
import struct
from typing import Any, Optional

READY, RUN, SIGNAL, OUT, ERROR, EXIT, TIDY, END = b"R", b"C", b"S", b"O", b"E", b"X", b"T", b"Q"

_HEADER = struct.Struct(">cI")
_READ_BYTES = 65536


class Closed(Exception):
    """The other side has gone."""


class Channel:
    """Frames over a descriptor that is read and written."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._pending = b""

    def fileno(self) -> int:
        """For select()."""
        return self.descriptor

    def send(self, kind: bytes, payload: bytes = b"") -> None:
        """Writes one frame. Raises Closed."""
        data = memoryview(_HEADER.pack(kind, len(payload)) + payload)
        while data:
            try:
                data = data[os.write(self.descriptor, data):]
            except OSError as error:
                raise Closed from error

    def send_json(self, kind: bytes, **values: Any) -> None:
        """The same with named values."""
        self.send(kind, json.dumps(values).encode())

    def receive(self) -> tuple[bytes, bytes]:
        """The next frame; waits for it. Raises Closed."""
        while (frame := self.next_frame()) is None:
            self.read_some()
        return frame

    def read_some(self) -> None:
        """Reads once, and waits for something to read. Raises Closed."""
        try:
            data = os.read(self.descriptor, _READ_BYTES)
        except OSError as error:
            raise Closed from error
        if not data:
            raise Closed
        self._pending += data

    def next_frame(self) -> Optional[tuple[bytes, bytes]]:
        """A frame that has been read whole, or None."""
        if len(self._pending) < _HEADER.size:
            return None
        kind, length = _HEADER.unpack_from(self._pending)
        end = _HEADER.size + length
        if len(self._pending) < end:
            return None
        payload, self._pending = self._pending[_HEADER.size:end], self._pending[end:]
        return kind, payload
