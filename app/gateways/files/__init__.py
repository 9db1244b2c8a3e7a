"""Uploaded files, recordings and exports: in a folder, or in a bucket with the same protocol."""

from app.config import Settings
from app.config.files import folder_of
from app.gateways.buckets import Bucket
from app.gateways.files.base import FileStore, StoredFile, size_label
from app.gateways.files.bucket import BucketFiles
from app.gateways.files.folder import FolderFileStore


def open_files(settings: Settings) -> FileStore:
    """Open the store of the settings."""
    folder = settings.files_folder
    return FolderFileStore(folder) if folder else open_files_at(settings, settings.files_url)


def open_files_at(settings: Settings, url: str) -> FileStore:
    """Open the store at a URL, ``file:///a/folder`` or ``s3://bucket/prefix``. Call it after a
    fork: connections to a bucket don't survive one."""
    folder = folder_of(url)
    if folder is not None:
        return FolderFileStore(folder)
    return BucketFiles(Bucket(settings, url), has_links=settings.files_downloads == "bucket")
