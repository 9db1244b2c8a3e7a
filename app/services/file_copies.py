"""Copying the files of an installation from one store to another."""

from collections.abc import Iterator
from datetime import timedelta
from hashlib import sha256
from typing import IO

from app.gateways.files import FileStore
from app.gateways.files.base import CHUNK
from app.models import utcnow
from app.services.file_identity import OtherStore


class CopyDiffers(Exception):
    """A copy differs from what was written."""


def copy_files(source: FileStore, target: FileStore) -> Iterator[tuple[str, bool]]:
    """Copy every file, and at the end the mark that identifies the store. Yield each key, and
    whether it was copied now: copies of an earlier run are only compared.

    Each copy is read back. Raises `CopyDiffers`, and `OtherStore` if the target is that of another
    database. A file that is deleted meanwhile is left out.
    """
    identity = source.identity()
    if target.identity() not in (None, identity):
        message = f"{target.location} holds the files of another database. Choose another place."
        raise OtherStore(message)
    existing_keys = set(target.keys_before(utcnow() + timedelta(days=1)))
    for key in source.keys_before(utcnow() + timedelta(days=1)):
        try:
            with source.open(key) as file:
                is_there = key in existing_keys and _hash(file) == _hash_in(target, key)
            if not is_there:
                _copy(source, target, key)
        except FileNotFoundError:
            continue
        yield key, not is_there
    if identity is not None:
        target.mark(identity)


def _copy(source: FileStore, target: FileStore, key: str) -> None:
    with source.open(key) as file:
        stored_file = target.write(key, file)
    if _hash_in(target, key) != stored_file.sha256:
        message = f"The copy of {key} in {target.location} differs from the original."
        raise CopyDiffers(message)


def _hash_in(store: FileStore, key: str) -> str:
    with store.open(key) as file:
        return _hash(file)


def _hash(file: IO[bytes]) -> str:
    digest = sha256()
    while chunk := file.read(CHUNK):
        digest.update(chunk)
    return digest.hexdigest()
