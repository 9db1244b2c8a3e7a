"""``flask backup …``: create, verify and restore backups of the database and the files."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from flask.cli import AppGroup

from app import backups, extensions
from app.backups import records
from app.commands.transactions import as_json, changing, print_result, reading
from app.models import Backup, utcnow
from app.schemas.fields import write_moment

backup_commands = AppGroup("backup", help="Backups of the database and the files.")

FILE = click.argument("file")
"""A path, or ``s3://bucket/prefix/name``."""
IDENTITY = click.option(
    "--identity",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File with the private key, as `backup key` prints it.",
)


@backup_commands.command("key")
def key() -> None:
    """Print a new pair of keys. Keep the private key on another machine."""
    private, public = backups.new_key()
    click.echo(f"# public key: {public}\n{private}")
    click.echo(f"PORTAL_BACKUP_PUBLIC_KEY={public}", err=True)


@backup_commands.command("create")
@click.option("--to", metavar="PLACE", help="Folder of the file, or s3://bucket/prefix.")
@as_json
def create(to: str | None, as_json: bool) -> None:
    """Make a backup now, encrypted for PORTAL_BACKUP_PUBLIC_KEY, and try out its database."""
    settings = extensions.settings()
    target = to or settings.backup_place
    if not target:
        message = "Name a folder with --to, or set PORTAL_BACKUP_DIR."
        raise click.UsageError(message)
    if not settings.backup_public_keys:
        message = "Set PORTAL_BACKUP_PUBLIC_KEY. `backup key` makes a pair of keys."
        raise click.UsageError(message)
    with changing() as (session, _caller):
        backup_id = records.begin(session, utcnow())
    try:
        with _reporting_errors():
            created = backups.create_at(settings, target, settings.backup_public_keys)
    except click.ClickException as error:
        with changing() as (session, _caller):
            records.fail(session, backup_id, error.message)
        raise
    is_verified = created.unverified is None
    with changing() as (session, _caller):
        records.succeed(session, backup_id, created.location, created.size, is_verified=is_verified)
    rows = sum(created.manifest.tables.values())
    described = {
        "file": created.location,
        "size": created.size,
        "tables": len(created.manifest.tables),
        "rows": rows,
        "files": len(created.manifest.files) - 1,
        "unverified": created.unverified,
        "leftOut": created.left_out,
    }
    print_result(
        described,
        as_json,
        f"{created.location}: {rows} rows, {described['files']} files, {created.size} bytes.",
        f"Not verified. {created.unverified}"
        if created.unverified
        else "Its database was restored.",
        *([created.left_out] if created.left_out else []),
    )


@backup_commands.command("verify")
@FILE
@IDENTITY
@click.option("--scratch", help="URL of a PostgreSQL database whose role may create databases.")
@as_json
def verify(file: str, identity: Path, scratch: str | None, as_json: bool) -> None:
    """Restore a backup into a throw-away database and compare it with its manifest."""
    settings = extensions.settings()
    server = scratch or settings.backup_scratch_url or settings.effective_database_url
    with _reporting_errors(), backups.local_file(settings, file) as path:
        verified = backups.verify(path, backups.read_identities(identity), server)
    _print_verified("The backup is complete", verified, as_json)


@backup_commands.command("restore")
@FILE
@IDENTITY
@click.option("--into", required=True, metavar="URL", help="An empty database.")
@click.option(
    "--instance",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The instance folder for the uploads and the generated secret key.",
)
@as_json
def restore(file: str, identity: Path, into: str, instance: Path, as_json: bool) -> None:
    """Restore a backup into an empty database and an instance folder.

    Workers start paused on it. Then `calls reconcile` compares the calls with the carrier.
    """
    with _reporting_errors(), backups.local_file(extensions.settings(), file) as path:
        restored = backups.restore(path, backups.read_identities(identity), into, instance)
    _print_verified("Restored", restored, as_json)


@backup_commands.command("list")
@click.option("--limit", type=click.IntRange(1, 1000), default=20)
@as_json
def list_backups(limit: int, as_json: bool) -> None:
    """List the newest backups; exit code 1 if daily backups are on and the last is too old."""
    with reading() as (session, _caller):
        described = [_describe_backup(each) for each in records.listing(session, limit)]
        is_overdue = records.state(session).is_overdue
    lines = [f"{each['startedAt']}  {each['state']}  {each['file']}" for each in described]
    print_result(described, as_json, *(lines or ["No backup was made."]))
    if extensions.settings().backup_place and is_overdue:
        raise SystemExit(1)


def _describe_backup(backup: Backup) -> dict[str, Any]:
    state = "verified" if backup.verified_at else "not verified"
    if backup.problem:
        state = f"failed: {backup.problem}"
    elif backup.finished_at is None:
        state = "running, or cut off"
    return {
        "startedAt": write_moment(backup.started_at),
        "state": state,
        "file": backup.file,
        "size": backup.size,
    }


def _print_verified(label: str, backup: backups.VerifiedBackup, as_json: bool) -> None:
    described = {
        "revision": backup.revision,
        "tables": backup.tables,
        "rows": backup.rows,
        "files": backup.files,
    }
    line = (
        f"{label}: migration {backup.revision}, {backup.rows} rows in {backup.tables} tables, "
        f"{backup.files} files."
    )
    print_result(described, as_json, line)


@contextmanager
def _reporting_errors() -> Iterator[None]:
    """Turn an error of a backup into one sentence and exit code 1."""
    try:
        yield
    except (backups.BackupUnusable, backups.DatabaseToolFailed, OSError) as error:
        raise click.ClickException(str(error)) from None
