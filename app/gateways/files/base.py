"""The protocol of every file store."""

from datetime import datetime
from pathlib import Path
from typing import IO, NamedTuple, Protocol


class StoredFile(NamedTuple):
    """A stored file: its key, its size in bytes, and the hash of its content in hexadecimal."""

    key: str
    size: int
    sha256: str


def size_words(limit: int) -> str:
    """A limit in bytes as users see it: 64 MB."""
    if limit >= 1024 * 1024:
        return f"{limit / 1024 / 1024:.0f}\u00a0MB"
    return f"{limit / 1024:.0f}\u00a0kB"


class FileStore(Protocol):
    """Files by keys that the store generates."""

    def save(self, stream: IO[bytes], *, max_bytes: int) -> StoredFile:
        """Store the stream. Raises `TooLarge` (``file_too_large``) and stores nothing."""
        ...

    def path(self, key: str) -> Path:
        """Return the file's path for reading. Raises FileNotFoundError."""
        ...

    def keys_before(self, moment: datetime) -> list[str]:
        """Return the keys of the files stored before that time."""
        ...

    def delete(self, key: str) -> None:
        """Delete the file; a missing one is no error."""
        ...
