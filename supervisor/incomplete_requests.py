"""Incomplete requests, which wait without a thread.

A thread starts a request when its head and a body of ordinary size are complete, so a client that
sends slowly costs only a connection and the bytes that it has sent. Larger bodies, and those of
unknown length, are read by threads, but never by more than half of them, and not below a minimum
pace.
"""

import errno
import re
import socket
import struct
import time
from typing import Any

HEAD_SECONDS = 15.0
"""Seconds for a head to arrive, from the first byte or the connection on."""
BODY_SECONDS = 60.0
"""Seconds for head and body to arrive."""
HEAD_BYTES = 64 * 1024
BODY_BYTES = 1024 * 1024
"""Maximum size of a body that is buffered: that of every form and most JSON."""
HELD_BYTES = 64 * 1024 * 1024
"""Maximum bytes of all buffered bodies together; others are read by threads."""
STALLED_SECONDS = 20
"""Seconds without a byte after which a thread stops reading or writing."""
SLOWEST = 2000.0
"""Minimum average bytes per second of a body that a thread reads."""

_END = b"\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,15})[ \t]*\r\n", re.IGNORECASE)
_READ_BY_THREAD = re.compile(rb"\r\n(?:transfer-encoding|expect)[ \t]*:", re.IGNORECASE)


class ArrivingRequest:
    """The bytes of one request so far."""

    def __init__(self, data: bytes = b""):
        self.data = bytearray(data)
        self.is_large = False
        """Whether a thread has to read the rest."""
        self.gathered_at = self._began = time.monotonic()
        self._length: int | None = None
        self._searched = 0

    def is_complete(self, bytes_left: int) -> bool:
        """Return whether a thread can start. ``bytes_left`` is how many bytes may still be
        buffered."""
        if self._length is None:
            self._read_head(bytes_left)
        return self.is_large or (self._length is not None and len(self.data) >= self._length)

    def is_late(self, now: float) -> bool:
        limit = HEAD_SECONDS if self._length is None else BODY_SECONDS
        return now - self._began > limit

    def _read_head(self, bytes_left: int) -> None:
        start = len(self.data) - len(self.data.lstrip(b"\r\n"))
        end = self.data.find(_END, max(start, self._searched - len(_END)))
        self._searched = len(self.data)
        if end < 0:
            self.is_large = len(self.data) > HEAD_BYTES
            return
        head = bytes(self.data[start : end + len(_END)])
        match = _LENGTH.search(head)
        body = int(match[1]) if match else 0
        self._length = end + len(_END) + body
        self.is_large = bool(_READ_BY_THREAD.search(head)) or body > min(BODY_BYTES, bytes_left)


class PacedSocket:
    """Reads a socket for the parser of requests. Raises `ConnectionResetError` if the client
    stalls, or sends more slowly than the minimum pace."""

    def __init__(self, connection: socket.socket):
        self._connection = connection
        self._began = time.monotonic()
        self._received = 0

    def recv(self, size: int) -> bytes:
        try:
            data = self._connection.recv(size)
        except BlockingIOError as error:
            raise stalled() from error
        self._received += len(data)
        seconds = time.monotonic() - self._began
        if data and seconds > STALLED_SECONDS and self._received < SLOWEST * seconds:
            raise stalled()
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def stalled() -> ConnectionResetError:
    """Return the error of a connection whose client is too slow."""
    return ConnectionResetError(errno.ECONNRESET, "the client is too slow")


def limit_waits(connection: socket.socket) -> None:
    """Make blocking reads and writes of the socket fail if the client stalls."""
    seconds = struct.pack("ll", STALLED_SECONDS, 0)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, seconds)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, seconds)
