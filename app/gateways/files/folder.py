"""Files in a folder of this machine that web and worker processes share."""

import os
import re
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import IO
from uuid import uuid4

from app.errors import TooLarge
from app.gateways.files.base import StoredFile, size_words
from app.languages import gettext

_CHUNK = 1024 * 1024
_KEY = re.compile(r"[0-9a-f]{32}")


class Folder:
    """A local file store. Only its owner may open the folder (mode 700)."""

    def __init__(self, folder: Path):
        self._folder = folder

    def save(self, stream: IO[bytes], *, max_bytes: int) -> StoredFile:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        key = uuid4().hex
        path = self._folder / key
        digest, size = sha256(), 0
        try:
            with os.fdopen(
                os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
            ) as file:
                while chunk := stream.read(_CHUNK):
                    size += len(chunk)
                    if size > max_bytes:
                        message = gettext(
                            "The file is larger than %(size)s. Split it.",
                            size=size_words(max_bytes),
                        )
                        raise TooLarge(message, "file_too_large")
                    digest.update(chunk)
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return StoredFile(key, size, digest.hexdigest())

    def path(self, key: str) -> Path:
        path = self._folder / key
        if not _KEY.fullmatch(key) or not path.is_file():
            raise FileNotFoundError(key)
        return path

    def keys_before(self, moment: datetime) -> list[str]:
        if not self._folder.is_dir():
            return []
        with os.scandir(self._folder) as entries:
            return sorted(
                entry.name
                for entry in entries
                if _KEY.fullmatch(entry.name) and entry.stat().st_mtime < moment.timestamp()
            )

    def delete(self, key: str) -> None:
        if _KEY.fullmatch(key):
            (self._folder / key).unlink(missing_ok=True)
