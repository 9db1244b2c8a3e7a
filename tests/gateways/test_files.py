"""File stores: what the folder and the bucket both promise, and what each of them does besides."""

import io
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import pytest

from app.errors import TooLarge
from app.gateways.files import FileStore, StoredFile
from app.gateways.files.base import MARK
from app.gateways.files.folder import FolderFileStore

LARGE = b"0123456789abcdef" * 1024 * 1024
"""Several parts of an upload to a bucket."""
STORES = ["folder", "bucket"]


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> FileStore:
    if request.param == "folder":
        return FolderFileStore(tmp_path / "uploads")
    files: FileStore = request.getfixturevalue("s3_server").files(uuid4().hex)
    return files


def soon() -> datetime:
    return datetime.now(UTC) + timedelta(minutes=1)


def described(content: bytes) -> tuple[int, str]:
    return len(content), sha256(content).hexdigest()


@pytest.mark.parametrize("content", [b"", b"Name\nAnn\n", LARGE], ids=["empty", "small", "large"])
def test_a_file_is_read_as_it_was_stored_with_its_size_and_hash(
    store: FileStore, content: bytes
) -> None:
    kept = store.save(io.BytesIO(content), max_bytes=len(content))
    assert kept[1:] == described(content)
    for read in (store.open, store.fetch):
        with read(kept.key) as file:
            assert file.read() == content
    assert store.keys_before(soon()) == [kept.key]


def test_parts_of_a_file_can_be_read(store: FileStore) -> None:
    kept = store.save(io.BytesIO(LARGE), max_bytes=len(LARGE))
    with store.open(kept.key) as file:
        assert (file.seek(0, io.SEEK_END), file.seek(-3, io.SEEK_END)) == (
            len(LARGE),
            len(LARGE) - 3,
        )
        assert file.read() == b"def"
        assert (file.seek(5), file.read(4), file.tell()) == (5, b"5678", 9)


def test_a_deleted_file_is_gone_and_may_be_deleted_again(store: FileStore) -> None:
    kept = store.save(io.BytesIO(b"Ann"), max_bytes=3)
    store.delete(kept.key)
    store.delete(kept.key)
    assert store.keys_before(soon()) == []
    for read in (store.open, store.fetch):
        with pytest.raises(FileNotFoundError):
            read(kept.key)


@pytest.mark.parametrize("limit", [2048, len(LARGE) - 1])
def test_a_file_over_the_limit_leaves_nothing_behind(store: FileStore, limit: int) -> None:
    kept = store.save(io.BytesIO(b"Ann"), max_bytes=3)
    with pytest.raises(TooLarge) as refusal:
        store.save(io.BytesIO(LARGE), max_bytes=limit)
    expected = {2048: "2\u00a0kB", len(LARGE) - 1: "16\u00a0MB"}[limit]
    assert refusal.value.message == f"The file is larger than {expected}. Split it."
    assert store.keys_before(soon()) == [kept.key]


def test_a_stream_that_breaks_leaves_nothing_behind(store: FileStore) -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            found = super().read(size)
            if not found:
                message = "the browser is gone"
                raise ConnectionResetError(message)
            return found

    for content in (b"Ann", LARGE):
        with pytest.raises(ConnectionResetError):
            store.save(Broken(content), max_bytes=len(LARGE))
    assert store.keys_before(soon()) == []


@pytest.mark.parametrize("key", ["../secret.key", "", "x", "A" * 32, MARK])
def test_a_key_that_was_never_issued_names_no_file(store: FileStore, key: str) -> None:
    store.mark("this store")
    store.delete(key)
    for read in (store.open, store.fetch):
        with pytest.raises(FileNotFoundError):
            read(key)
    assert store.identity() == "this store"


def test_only_files_before_a_time_are_listed_and_never_the_mark(store: FileStore) -> None:
    store.mark("this store")
    kept = [store.save(io.BytesIO(b"x"), max_bytes=1).key for _ in range(3)]
    assert store.keys_before(soon()) == sorted(kept)
    assert store.keys_before(datetime.now(UTC) - timedelta(minutes=1)) == []


def test_the_first_identity_of_a_store_stays(store: FileStore) -> None:
    assert store.identity() is None
    for identity in ("one", "another"):
        store.mark(identity)
        assert store.identity() == "one"


def test_a_file_of_another_store_keeps_its_key(store: FileStore) -> None:
    key = uuid4().hex
    for content in (b"an earlier attempt", b"Ann"):
        assert store.write(key, io.BytesIO(content)) == StoredFile(key, *described(content))
    with store.open(key) as file:
        assert file.read() == b"Ann"


def test_a_folder_is_for_its_owner_alone(tmp_path: Path) -> None:
    folder = FolderFileStore(tmp_path / "uploads")
    key = folder.save(io.BytesIO(b"Name\nAnn\n"), max_bytes=9).key
    folder.mark("this store")
    modes = [
        path.stat().st_mode & 0o777
        for path in (tmp_path / "uploads", tmp_path / "uploads" / key, tmp_path / "uploads" / MARK)
    ]
    assert modes == [0o700, 0o600, 0o600]
