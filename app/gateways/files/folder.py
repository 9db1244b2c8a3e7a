"""Files in a folder that web and worker processes share."""

import os
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import IO
from uuid import uuid4

from app.gateways.files.base import KEY, MARK, MeasuredStream, StoredFile


class FolderFileStore:
    """A local file store. Only its owner may open the folder (mode 700)."""

    def __init__(self, folder: Path):
        self._folder = folder

    @property
    def location(self) -> str:
        return str(self._folder)

    def save(self, stream: IO[bytes], *, max_bytes: int) -> StoredFile:
        return self._store(uuid4().hex, MeasuredStream(stream, max_bytes))

    def write(self, key: str, stream: IO[bytes]) -> StoredFile:
        self.delete(key)
        return self._store(key, MeasuredStream(stream))

    def open(self, key: str) -> IO[bytes]:
        if not KEY.fullmatch(key):
            raise FileNotFoundError(key)
        return (self._folder / key).open("rb")

    def fetch(self, key: str) -> IO[bytes]:
        return self.open(key)

    def link(self, _key: str, _name: str, _content_type: str) -> None:
        return None

    def keys_before(self, moment: datetime) -> list[str]:
        if not self._folder.is_dir():
            return []
        with os.scandir(self._folder) as entries:
            return sorted(
                entry.name
                for entry in entries
                if KEY.fullmatch(entry.name) and entry.stat().st_mtime < moment.timestamp()
            )

    def delete(self, key: str) -> None:
        if KEY.fullmatch(key):
            (self._folder / key).unlink(missing_ok=True)

    def identity(self) -> str | None:
        path = self._folder / MARK
        return path.read_text().strip() if path.is_file() else None

    def mark(self, identity: str) -> None:
        name = f"{MARK}.{uuid4().hex}"  # others may do the same
        with self._new(name) as file:
            file.write(identity.encode())
        with suppress(FileExistsError):
            (self._folder / MARK).hardlink_to(self._folder / name)
        (self._folder / name).unlink()

    def _store(self, key: str, chunks: MeasuredStream) -> StoredFile:
        try:
            with self._new(key) as file:
                for chunk in chunks:
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            self.delete(key)
            raise
        return chunks.as_stored(key)

    def _new(self, name: str) -> IO[bytes]:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        return os.fdopen(os.open(self._folder / name, flags, 0o600), "wb")
