"""Files in an S3-compatible bucket that all hosts share."""

from datetime import datetime
from typing import IO
from uuid import uuid4

from app.gateways.buckets import Bucket
from app.gateways.files.base import KEY, MARK, MeasuredStream, StoredFile


class BucketFiles:
    """A file store in a bucket. ``has_links``: browsers download from the bucket."""

    def __init__(self, bucket: Bucket, *, has_links: bool):
        self._bucket = bucket
        self._has_links = has_links

    @property
    def location(self) -> str:
        return self._bucket.url

    def save(self, stream: IO[bytes], *, max_bytes: int) -> StoredFile:
        return self._store(uuid4().hex, MeasuredStream(stream, max_bytes))

    def write(self, key: str, stream: IO[bytes]) -> StoredFile:
        return self._store(key, MeasuredStream(stream))

    def open(self, key: str) -> IO[bytes]:
        return self._bucket.open(_check_key(key))

    def fetch(self, key: str) -> IO[bytes]:
        return self._bucket.fetch(_check_key(key))

    def link(self, key: str, name: str, content_type: str) -> str | None:
        return self._bucket.link(_check_key(key), name, content_type) if self._has_links else None

    def keys_before(self, moment: datetime) -> list[str]:
        names = self._bucket.names()
        return sorted(
            name for name, stored_at in names if KEY.fullmatch(name) and stored_at < moment
        )

    def delete(self, key: str) -> None:
        if KEY.fullmatch(key):
            self._bucket.delete(key)

    def identity(self) -> str | None:
        return self._bucket.text(MARK)

    def mark(self, identity: str) -> None:
        if self.identity() is None:
            self._bucket.put(MARK, [identity.encode()])

    def _store(self, key: str, chunks: MeasuredStream) -> StoredFile:
        self._bucket.put(key, chunks)
        return chunks.as_stored(key)


def _check_key(key: str) -> str:
    """Check a key: other names don't belong to this store. Raises FileNotFoundError."""
    if not KEY.fullmatch(key):
        raise FileNotFoundError(key)
    return key
