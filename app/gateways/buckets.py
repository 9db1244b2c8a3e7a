"""Objects in S3-compatible buckets. Needs the optional package obstore."""

import io
import logging
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from itertools import chain
from typing import IO, Any
from urllib.parse import urlsplit

from app.config import Settings
from app.errors import Unavailable
from app.gateways.signed_links import LinkSigner
from app.languages import gettext

PART = 5 * 1024 * 1024
"""The smallest part that S3 takes; two of them are in memory at once."""
MAX_PARTS = 10_000
"""Maximum parts of an object."""
CONNECT_SECONDS = 5.0
LINK_SECONDS = 60
_RETRIES = 3
_FIRST_PAUSE = timedelta(milliseconds=200)
_ENCRYPTIONS = {"aes256": "AES256", "kms": "aws:kms"}

log = logging.getLogger(__name__)


class Bucket:
    """Objects of a bucket whose names begin with a prefix. Every method raises `Unavailable`, and
    logs why, if the bucket refuses or doesn't answer in time."""

    def __init__(self, settings: Settings, url: str):
        import obstore
        from obstore.store import S3Store

        self._api: Any = obstore
        parts = urlsplit(url)
        prefix = parts.path.strip("/")
        self.url = f"s3://{parts.netloc}/{prefix}".rstrip("/")
        seconds = timedelta(seconds=settings.files_seconds)
        self._store = S3Store(
            parts.netloc,
            prefix=prefix or None,
            config=_store_config(settings),
            client_options={
                "timeout": seconds,
                "connect_timeout": timedelta(seconds=min(CONNECT_SECONDS, settings.files_seconds)),
                "allow_http": settings.files_endpoint.startswith("http://"),
            },
            retry_config={
                "max_retries": _RETRIES,
                "retry_timeout": seconds,
                "backoff": {"init_backoff": _FIRST_PAUSE},
            },
        )
        self._signer = LinkSigner(
            settings.files_endpoint or f"https://s3.{settings.files_region}.amazonaws.com",
            settings.files_region,
            settings.files_key_id,
            settings.files_key_secret,
        )
        self._path = f"/{parts.netloc}/{prefix}".rstrip("/")

    def put(self, name: str, chunks: Iterable[bytes], size: int = 0) -> None:
        """Store all chunks, or nothing if they raise an error; a large object is stored in parts.
        Pass ``size`` if it may be larger than 50 GB."""
        part_size = max(PART, -(-size // MAX_PARTS))
        remaining = iter(chunks)
        first = _first_part(remaining)
        with _translating_errors("write"):
            if len(first) < PART:
                self._api.put(self._store, name, first, use_multipart=False)
            else:
                parts = chain((first,), remaining)
                self._api.put(self._store, name, parts, chunk_size=part_size, max_concurrency=1)

    def open(self, name: str) -> IO[bytes]:
        """Return a reader that fetches only the parts that are read. Raises FileNotFoundError."""
        with _translating_errors("read"):
            return io.BufferedReader(
                _ObjectReader(self._api.open_reader(self._store, name)), _ObjectReader.BLOCK
            )

    def fetch(self, name: str) -> IO[bytes]:
        """Return a copy in a temporary file. Raises FileNotFoundError."""
        copy = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
        try:
            with self.open(name) as source:
                while chunk := source.read(_ObjectReader.BLOCK):
                    copy.write(chunk)
        except BaseException:
            copy.close()
            raise
        copy.seek(0)
        return copy

    def text(self, name: str) -> str | None:
        """Return the content of a short object; None if it doesn't exist."""
        with _translating_errors("read"), suppress(FileNotFoundError):
            return bytes(self._api.get(self._store, name).bytes()).decode()
        return None

    def names(self) -> Iterator[tuple[str, datetime]]:
        """Yield the name of every object, and when it was stored."""
        with _translating_errors("list"):
            for batch in self._api.list(self._store):
                yield from ((str(each["path"]), each["last_modified"]) for each in batch)

    def delete(self, name: str) -> None:
        """Delete the object; a missing one isn't an error."""
        with _translating_errors("delete"), suppress(FileNotFoundError):
            self._api.delete(self._store, name)

    def link(self, name: str, file_name: str, content_type: str) -> str:
        """Return a URL at which a browser can save the object for a minute."""
        return self._signer.link(
            f"{self._path}/{name}",
            {
                "response-cache-control": "private, no-store",
                "response-content-disposition": f'attachment; filename="{file_name}"',
                "response-content-type": content_type,
            },
            LINK_SECONDS,
        )


class _ObjectReader(io.RawIOBase):
    """Presents obstore's reader as a Python stream."""

    BLOCK = 1024 * 1024

    def __init__(self, reader: Any):
        self._reader = reader

    def readinto(self, buffer: Any) -> int:
        try:
            chunk = self._reader.read(len(buffer))
        except OSError as error:  # unlike everything else of obstore
            raise _to_unavailable("read", error) from None
        buffer[: len(chunk)] = memoryview(chunk)
        return len(chunk)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return int(self._reader.seek(offset, whence))

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True


def _store_config(settings: Settings) -> Any:
    options = {
        "endpoint": settings.files_endpoint,
        "region": settings.files_region,
        "access_key_id": settings.files_key_id,
        "secret_access_key": settings.files_key_secret,
        "server_side_encryption": _ENCRYPTIONS.get(settings.files_encryption),
        "sse_kms_key_id": settings.files_kms_key if settings.files_encryption == "kms" else None,
    }
    return {name: value for name, value in options.items() if value}


def _first_part(chunks: Iterator[bytes]) -> bytes:
    part = bytearray()
    for chunk in chunks:
        part += chunk
        if len(part) >= PART:
            break
    return bytes(part)


@contextmanager
def _translating_errors(operation: str) -> Iterator[None]:
    from obstore.exceptions import BaseError

    try:
        yield
    except BaseError as error:
        raise _to_unavailable(operation, error) from None


def _to_unavailable(operation: str, error: Exception) -> Unavailable:
    # The first line has the URL and the status; the rest may hold signed data.
    reason = str(error).partition("\n")[0].partition("<")[0].strip(" :")
    log.warning("the bucket can't be used (%s): %s", operation, reason)
    message = gettext("The file storage does not answer. Try again in a moment. Nothing was saved.")
    return Unavailable(message, "file_storage_unavailable")
