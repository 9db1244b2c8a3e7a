"""The free space of the disks that an installation writes to."""

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import make_url

from app.config import Settings

MIN_FREE_BYTES = 200 * 10**6
LOW_FREE_BYTES = 2 * 10**9
MIN_FREE_FILES = 1000


@dataclass(frozen=True, slots=True)
class FileSystem:
    """The free space for an ordinary account on the file system of ``folder``, in bytes.
    ``free_files`` is None if the number of files is unlimited."""

    folder: Path
    free: int
    total: int
    free_files: int | None

    @property
    def takes_few_files(self) -> bool:
        return self.free_files is not None and self.free_files < MIN_FREE_FILES

    @property
    def is_almost_full(self) -> bool:
        return self.takes_few_files or self.free < MIN_FREE_BYTES

    @property
    def is_low(self) -> bool:
        return self.is_almost_full or self.free < LOW_FREE_BYTES


def shortage(settings: Settings, needed: int = 0) -> str | None:
    """Return which disk would have less than the reserve left after ``needed`` bytes, as a sentence
    without its end; None if all have room."""
    for name, folder in writable_folders(settings):
        file_system = _measure(folder)
        if file_system.free - needed < settings.disk_reserve_bytes:
            return f"under {_megabytes(settings.disk_reserve_bytes)} are free in {name}"
        if file_system.free_files == 0:
            return f"no more files fit in {name}"
    return None


def writable_folders(settings: Settings) -> Iterator[tuple[str, Path]]:
    """Yield what is stored in each folder, with the folder or its nearest existing parent."""
    yield "the instance folder", existing(settings.instance_dir)
    if settings.files_folder is not None:
        yield "the folder of the files", existing(settings.files_folder)
    url = make_url(settings.effective_database_url)
    if url.get_backend_name() == "sqlite" and url.database:
        yield "the folder of the database", existing(Path(url.database).parent)
    yield "the folder for temporary files", Path(tempfile.gettempdir())


def file_systems(settings: Settings) -> list[FileSystem]:
    """Return each file system that the portal writes to once, by its first folder: those of
    `writable_folders`, then that of the backups."""
    folders = [folder for _name, folder in writable_folders(settings)]
    if settings.backup_dir is not None:
        folders.append(existing(settings.backup_dir))
    by_system = {folder.stat().st_dev: folder for folder in reversed(folders)}
    return [_measure(folder) for folder in reversed(by_system.values())]


def _measure(folder: Path) -> FileSystem:
    status = os.statvfs(folder)
    return FileSystem(
        folder,
        free=status.f_bavail * status.f_frsize,
        total=status.f_blocks * status.f_frsize,
        free_files=status.f_favail if status.f_files else None,
    )


def existing(folder: Path) -> Path:
    """Return the folder, or its nearest existing parent."""
    resolved = folder.resolve()
    return next(path for path in (resolved, *resolved.parents) if path.exists())


def _megabytes(count: int) -> str:
    return f"{count / 10**6:,.0f} MB"
