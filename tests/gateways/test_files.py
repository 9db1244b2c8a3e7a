"""The folder of uploaded files."""

import io
from hashlib import sha256
from pathlib import Path

import pytest

from app.errors import TooLarge
from app.gateways.files.folder import Folder


def test_a_file_is_kept_for_its_owner_alone_with_its_size_and_hash(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "uploads")
    kept = folder.save(io.BytesIO(b"Name\nAnn\n"), max_bytes=9)
    path = folder.path(kept.key)
    assert (kept.size, kept.sha256) == (9, sha256(b"Name\nAnn\n").hexdigest())
    assert path.read_bytes() == b"Name\nAnn\n"
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    folder.delete(kept.key)
    folder.delete(kept.key)
    with pytest.raises(FileNotFoundError):
        folder.path(kept.key)


def test_a_file_over_the_limit_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "uploads")
    with pytest.raises(TooLarge) as refusal:
        folder.save(io.BytesIO(b"x" * 2049), max_bytes=2048)
    assert refusal.value.message == "The file is larger than 2\u00a0kB. Split it."
    assert list((tmp_path / "uploads").iterdir()) == []


@pytest.mark.parametrize("key", ["../secret.key", "", "x", "A" * 32])
def test_a_key_that_was_never_given_out_names_no_file(tmp_path: Path, key: str) -> None:
    (tmp_path / "secret.key").write_text("secret")
    folder = Folder(tmp_path / "uploads")
    folder.delete(key)
    with pytest.raises(FileNotFoundError):
        folder.path(key)
    assert (tmp_path / "secret.key").exists()
