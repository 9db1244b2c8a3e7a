"""Where backups are kept: a folder, or a bucket (``s3://bucket/prefix``)."""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from app.backups.archive import CHUNK, BackupUnusable
from app.backups.creating import SUFFIX, WORK, CreatedBackup, create, remove_old
from app.config import Settings
from app.errors import Unavailable
from app.gateways.buckets import Bucket

S3 = "s3://"


def create_at(settings: Settings, target: str, public_keys: Sequence[str]) -> CreatedBackup:
    """Make a backup in a folder or bucket. Raises what `create` raises."""
    if not target.startswith(S3):
        return create(settings, Path(target), public_keys)
    settings.instance_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=WORK, dir=settings.instance_dir) as folder:
        backup = create(settings, Path(folder), public_keys)
        with _open_bucket(settings, target) as bucket, backup.path.open("rb") as file:
            bucket.put(backup.path.name, iter(lambda: file.read(CHUNK), b""), backup.size)
            return replace(backup, url=f"{bucket.url}/{backup.path.name}")


def remove_old_at(settings: Settings, target: str, keep: int) -> None:
    """Remove all backups but the newest."""
    if not target.startswith(S3):
        remove_old(Path(target), keep)
        return
    with _open_bucket(settings, target) as bucket:
        names = sorted(
            name
            for name, _at in bucket.names()
            if name.startswith("portal-") and name.endswith(SUFFIX) and "/" not in name
        )
        for name in names[:-keep]:
            bucket.delete(name)


@contextmanager
def local_file(settings: Settings, file: str) -> Iterator[Path]:
    """Yield the path of a backup; one in a bucket is copied to this machine for the block. Raises
    `BackupUnusable`."""
    if not file.startswith(S3):
        yield Path(file)
        return
    target, _, name = file.rpartition("/")
    with tempfile.NamedTemporaryFile() as copy:
        try:
            with _open_bucket(settings, target) as bucket, bucket.open(name) as source:
                shutil.copyfileobj(source, copy, CHUNK)
        except FileNotFoundError:
            message = f"{file} doesn't exist."
            raise BackupUnusable(message) from None
        copy.flush()
        yield Path(copy.name)


@contextmanager
def _open_bucket(settings: Settings, url: str) -> Iterator[Bucket]:
    try:
        yield Bucket(settings, url)
    except Unavailable:
        message = f"{url} can't be used. The log says why."
        raise BackupUnusable(message) from None
