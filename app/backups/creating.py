"""Create a backup: a snapshot of the database first, with all files that it names."""

import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from app import VERSION
from app.backups import archive, databases
from app.backups.archive import ArchivedFile, BackupManifest, BackupUnusable
from app.backups.databases import DatabaseContent, NoThrowAway
from app.config import Settings

SUFFIX = ".tar.gz.age"
PARTIAL = ".partial"
WORK = ".unfinished-backup-"
"""Prefix of a backup's folder in the instance folder while it is being made. Old folders with it
are deleted, so it is none that people give to theirs."""
LEFT_OVER_SECONDS = 24 * 3600.0
UPLOADS = "uploads"
SECRET_KEY = "secret.key"  # noqa: S105 - the name of a file
"""Files of the instance folder that are backed up. The SIP ledgers are not: an older one would
claim that calls were never placed. Nor is the mark by which a restore is detected."""


@dataclass(frozen=True, slots=True)
class CreatedBackup:
    """A backup. ``unverified`` is why its database was not test-restored, if it wasn't.
    ``left_out`` is which files are not in it, and ``url`` where it is in a bucket."""

    path: Path
    size: int
    manifest: BackupManifest
    unverified: str | None
    left_out: str | None = None
    url: str | None = None

    @property
    def location(self) -> str:
        return self.url or str(self.path)


def create(settings: Settings, folder: Path, public_keys: Sequence[str]) -> CreatedBackup:
    """Write a backup into the folder. Its database is restored into a throw-away database and
    compared before it is encrypted. Raises `DatabaseToolFailed`, `BackupUnusable`, `OSError`."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    now = datetime.now(UTC)
    target = folder / f"portal-{now:%Y%m%dT%H%M%SZ}{SUFFIX}"
    partial = target.with_suffix(PARTIAL)
    # On the same file system as the files, so that they can be linked instead of copied.
    settings.instance_dir.mkdir(parents=True, exist_ok=True)
    _remove_left_over(settings.instance_dir)
    _remove_partial(folder)
    with tempfile.TemporaryDirectory(prefix=WORK, dir=settings.instance_dir) as work_path:
        work = Path(work_path)
        content = _gather(settings, work)
        unverified = _verify_snapshot(settings, work, content)

        def manifest(files: dict[str, ArchivedFile]) -> BackupManifest:
            return BackupManifest(
                kind=databases.kind_of(settings.effective_database_url),
                server=content.server,
                revision=content.revision,
                version=VERSION,
                created_at=now.isoformat(timespec="seconds"),
                tables=content.tables,
                files=files,
            )

        names = sorted(str(path.relative_to(work)) for path in work.rglob("*") if path.is_file())
        try:
            packed_manifest = archive.pack(
                partial, public_keys, [(n, work / n) for n in names], manifest
            )
            partial.rename(target)
        finally:
            partial.unlink(missing_ok=True)
    left_out = None
    if settings.files_folder is None:
        left_out = (
            f"The files in {settings.files_url} are not in it: keep their deleted versions in the "
            "bucket for as long as backups."
        )
    return CreatedBackup(target, target.stat().st_size, packed_manifest, unverified, left_out)


def listing(folder: Path) -> list[Path]:
    """Return the backups in the folder, newest first."""
    return sorted(folder.glob(f"portal-*{SUFFIX}"), reverse=True)


def remove_old(folder: Path, keep: int) -> None:
    for path in listing(folder)[keep:]:
        path.unlink(missing_ok=True)


def _remove_left_over(instance: Path) -> None:
    """Remove the folders of interrupted backups: their links keep deleted files alive."""
    for path in instance.glob(f"{WORK}*"):
        if path.is_dir() and _is_left_over(path):
            shutil.rmtree(path, ignore_errors=True)


def _remove_partial(folder: Path) -> None:
    """Remove the files of interrupted backups, which may be as large as whole ones."""
    for path in folder.glob(f"portal-*{PARTIAL}"):
        with suppress(FileNotFoundError):  # another backup has just ended
            if _is_left_over(path):
                path.unlink()


def _is_left_over(path: Path) -> bool:
    return path.stat().st_mtime < time.time() - LEFT_OVER_SECONDS


def _gather(settings: Settings, work: Path) -> DatabaseContent:
    """Link the files before and after the snapshot: it still names files deleted meanwhile, and may
    name new ones."""
    uploads = settings.files_folder
    if uploads:
        _link_files(uploads, work / UPLOADS)
    content = databases.dump(settings.effective_database_url, work / archive.DATABASE)
    if uploads:
        _link_files(uploads, work / UPLOADS)
    key = settings.instance_dir / SECRET_KEY
    if key.exists():
        shutil.copyfile(key, work / SECRET_KEY)
    return content


def _verify_snapshot(settings: Settings, work: Path, content: DatabaseContent) -> str | None:
    """Restore the snapshot; return why that wasn't possible. Raises `BackupUnusable` if the
    restored database differs."""
    database_url = settings.effective_database_url
    server = settings.backup_scratch_url or database_url
    with tempfile.TemporaryDirectory(prefix="portal-verify-") as folder:
        try:
            with databases.throw_away(databases.kind_of(database_url), server, Path(folder)) as url:
                restored = databases.restore(work / archive.DATABASE, url)
        except NoThrowAway as error:
            return str(error)
    if message := databases.differences(content, restored):
        raise BackupUnusable(message)
    return None


def _link_files(source: Path, target: Path) -> None:
    """Link every file, or copy it where the file system can't. Files that just vanished are
    skipped."""
    for path in source.rglob("*"):
        target_file = target / path.relative_to(source)
        if not path.is_file() or target_file.exists():
            continue
        target_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            try:
                target_file.hardlink_to(path)
            except FileNotFoundError:
                raise
            except OSError:
                shutil.copyfile(path, target_file)
