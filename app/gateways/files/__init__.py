"""Uploaded files: a folder of this installation, or whatever else stands behind the protocol."""

from app.config import Settings
from app.gateways.files.base import FileStore, StoredFile, size_words
from app.gateways.files.folder import Folder


def open_files(settings: Settings) -> FileStore:
    return Folder(settings.instance_dir / "uploads")
