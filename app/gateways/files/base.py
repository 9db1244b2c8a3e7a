"""What every place for files can do."""

from datetime import datetime
from pathlib import Path
from typing import IO, NamedTuple, Protocol


class StoredFile(NamedTuple):
    """A file that is kept: its key, its size in bytes, the hash of its content as hexadecimals."""

    key: str
    size: int
    sha256: str


def size_words(limit: int) -> str:
    """A limit in bytes as people are told it: 64 MB."""
    if limit >= 1024 * 1024:
        return f"{limit / 1024 / 1024:.0f}\u00a0MB"
    return f"{limit / 1024:.0f}\u00a0kB"


class FileStore(Protocol):
    """Files by keys that it makes up itself."""

    def save(self, stream: IO[bytes], *, max_bytes: int) -> StoredFile:
        """Keeps what the stream holds. Raises `TooLarge` (``file_too_large``) and keeps nothing."""
        ...

    def path(self, key: str) -> Path:
        """The file, for reading. Raises FileNotFoundError."""
        ...

    def keys_before(self, moment: datetime) -> list[str]:
        """The keys of the files that were kept before then."""
        ...

    def delete(self, key: str) -> None:
        """Forgets the file; harmless where it is gone."""
        ...
