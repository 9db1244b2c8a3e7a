"""The protocol of every file store."""

import re
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from typing import IO, NamedTuple, Protocol

from app.errors import TooLarge
from app.languages import gettext
from app.languages.numbers import size_unit

CHUNK = 1024 * 1024
KEY = re.compile(r"[0-9a-f]{32}")
MARK = "store.id"
"""The name of the file that identifies a store."""


class StoredFile(NamedTuple):
    """A stored file: its key, its size in bytes, and the hash of its content in hexadecimal."""

    key: str
    size: int
    sha256: str


def size_label(limit: int) -> str:
    """Return a limit in bytes as users see it: 64 MB."""
    if limit >= 1024 * 1024:
        return f"{limit / 1024 / 1024:.0f}\u00a0{size_unit('MB')}"
    return f"{limit / 1024:.0f}\u00a0{size_unit('kB')}"


class FileStore(Protocol):
    """Files by keys that the store generates. Each method of a remote store raises `Unavailable` if
    it doesn't answer."""

    @property
    def location(self) -> str:
        """Where the files are, for operators."""
        ...

    def save(self, stream: IO[bytes], *, max_bytes: int) -> StoredFile:
        """Store the stream. Raises `TooLarge` (``file_too_large``) and stores nothing."""
        ...

    def write(self, key: str, stream: IO[bytes]) -> StoredFile:
        """Store the stream under a key of another store. Replaces what is there."""
        ...

    def open(self, key: str) -> IO[bytes]:
        """Return the file for reading, also parts of it. Raises FileNotFoundError."""
        ...

    def fetch(self, key: str) -> IO[bytes]:
        """As `open`, but complete on this machine: for reading that takes long."""
        ...

    def link(self, key: str, name: str, content_type: str) -> str | None:
        """Return a URL at which a browser can save the file under this name for a minute; None if
        the store has no such URLs."""
        ...

    def keys_before(self, moment: datetime) -> list[str]:
        """Return the keys of the files stored before that time."""
        ...

    def delete(self, key: str) -> None:
        """Delete the file; a missing one isn't an error."""
        ...

    def identity(self) -> str | None:
        """Return the identity of this store; None if it isn't marked."""
        ...

    def mark(self, identity: str) -> None:
        """Write the identity of this store, unless it is marked."""
        ...


class MeasuredStream:
    """A stream in chunks, counted and hashed as it is read. Raises `TooLarge`
    (``file_too_large``)."""

    def __init__(self, stream: IO[bytes], max_bytes: int | None = None):
        self._stream = stream
        self._max_bytes = max_bytes
        self._digest = sha256()
        self._size = 0

    def __iter__(self) -> Iterator[bytes]:
        while chunk := self._stream.read(CHUNK):
            self._size += len(chunk)
            if self._max_bytes is not None and self._size > self._max_bytes:
                message = gettext(
                    "The file is larger than %(size)s. Split it.", size=size_label(self._max_bytes)
                )
                raise TooLarge(message, "file_too_large")
            self._digest.update(chunk)
            yield chunk

    def as_stored(self, key: str) -> StoredFile:
        """Return what was read so far, under its key."""
        return StoredFile(key, self._size, self._digest.hexdigest())
