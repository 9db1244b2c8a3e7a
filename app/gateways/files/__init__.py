"""Uploaded files, kept in a folder of this installation or in a store with the same protocol."""

from app.config import Settings
from app.gateways.files.base import FileStore, StoredFile, size_words
from app.gateways.files.folder import Folder


def open_files(settings: Settings) -> FileStore:
    return Folder(settings.instance_dir / "uploads")
