"""Open a backup: verify it in a throw-away database, or restore it."""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from app.backups import archive, databases
from app.backups.archive import BackupManifest, BackupUnusable, Identities
from app.backups.creating import SECRET_KEY, UPLOADS
from app.backups.databases import DatabaseContent


@dataclass(frozen=True, slots=True)
class VerifiedBackup:
    """``rows`` of all ``tables``, and ``files`` besides the database."""

    revision: str | None
    tables: int
    rows: int
    files: int


def verify(file: Path, identities: Identities, server: str) -> VerifiedBackup:
    """Restore a backup into a throw-away database and compare it with the manifest.

    ``server`` is the URL of a PostgreSQL database whose role may create others. Raises
    `BackupUnusable`, `DatabaseToolFailed`.
    """
    with tempfile.TemporaryDirectory(prefix="portal-verify-") as temporary:
        folder = Path(temporary)
        manifest = archive.unpack(file, identities, folder)
        if manifest.kind == "postgresql" and databases.kind_of(server) != "postgresql":
            message = "This is a backup of PostgreSQL. Name a server with --scratch."
            raise BackupUnusable(message)
        with databases.throw_away(manifest.kind, server, folder) as url:
            _compare(manifest, databases.restore(folder / archive.DATABASE, url))
    return _summarize(manifest)


def restore(file: Path, identities: Identities, url: str, instance: Path) -> VerifiedBackup:
    """Restore a backup into an empty database, and its files into an instance folder without
    uploads. Raises `BackupUnusable`, `DatabaseToolFailed`."""
    uploads, key = instance / UPLOADS, instance / SECRET_KEY
    if uploads.exists() and any(uploads.iterdir()):
        message = f"{uploads} holds files already. Move them away."
        raise BackupUnusable(message)
    instance.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="restore-", dir=instance) as temporary:
        folder = Path(temporary)
        manifest = archive.unpack(file, identities, folder)
        if manifest.kind != databases.kind_of(url):
            message = f"This is a backup of {manifest.kind}: it can't be restored into this URL."
            raise BackupUnusable(message)
        _check_key(folder / SECRET_KEY, key)
        _compare(manifest, databases.restore(folder / archive.DATABASE, url))
        if (folder / UPLOADS).exists():
            shutil.copytree(folder / UPLOADS, uploads, dirs_exist_ok=True)
        if (folder / SECRET_KEY).exists():
            shutil.copy(folder / SECRET_KEY, key)
    return _summarize(manifest)


def _check_key(stored: Path, present: Path) -> None:
    """Refuse a different key in the folder: it may be the only one that decrypts other data."""
    if stored.exists() and present.exists() and stored.read_text() != present.read_text():
        message = f"{present} holds another secret key. Move it away."
        raise BackupUnusable(message)


def _compare(manifest: BackupManifest, actual: DatabaseContent) -> None:
    expected = DatabaseContent(manifest.server, manifest.revision, manifest.tables)
    if message := databases.differences(expected, actual):
        raise BackupUnusable(message)


def _summarize(manifest: BackupManifest) -> VerifiedBackup:
    return VerifiedBackup(
        manifest.revision,
        len(manifest.tables),
        sum(manifest.tables.values()),
        len(manifest.files) - 1,
    )
