"""Files of an installation are private to its account: folders 0700, files 0600."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import make_url

from app.config import Settings

UMASK = 0o077
_DATABASE_PARTS = ("", "-wal", "-shm", "-journal", "-turns", "-wake", ".worker.lock")
MARK_FILE = "dialler.mark"
"""The file of `app.jobs.restore_detection`."""
_IN_INSTANCE = ("secret.key", "demo.json", MARK_FILE, "uploads", "outbox", "sip", "templates")


class OpenToOthers(Exception):
    """Files that other accounts of this machine can read, with how to fix that."""


def keep_private(settings: Settings) -> None:
    """Make every new file of this process private to its account, and check the existing ones.

    Raises `OpenToOthers` in production. Elsewhere their modes are corrected.
    """
    os.umask(UMASK)
    if settings.env == "production":
        opened = open_to_others(settings)
        if opened:
            raise OpenToOthers("\n".join(opened))
    for path, mode in _readable_paths(settings).items():
        path.chmod(mode & ~UMASK)


def open_to_others(settings: Settings) -> list[str]:
    """Return a sentence for each file that other accounts can read, with how to fix that."""
    return [_warning(path, mode) for path, mode in _readable_paths(settings).items()]


def _readable_paths(settings: Settings) -> dict[Path, int]:
    return {
        path: mode
        for path in _paths(settings)
        if (mode := stat.S_IMODE(path.stat().st_mode)) & UMASK
    }


def _paths(settings: Settings) -> Iterator[Path]:
    folder = settings.instance_dir
    url = make_url(settings.effective_database_url)
    paths = [folder, *(folder / name for name in _IN_INSTANCE)]
    if settings.files_url and settings.files_folder:
        paths.append(settings.files_folder)
    if url.get_backend_name() == "sqlite" and url.database:
        paths += [Path(f"{url.database}{suffix}") for suffix in _DATABASE_PARTS]
    yield from (path for path in paths if path.exists())


def _warning(path: Path, mode: int) -> str:
    required_mode = "700" if path.is_dir() else "600"
    return f"Other accounts can read {path} (mode {mode:o}). Run: chmod {required_mode} {path}"
