"""``flask upgrade``: what an upgrade will do, and assets for hosts that are not upgraded yet."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import timedelta

import click
from flask.cli import AppGroup
from sqlalchemy import func, inspect, select
from sqlalchemy.orm import Session

from app import extensions
from app.backups.records import OVERDUE
from app.database.migration import current, head
from app.database.migration_plan import CONTRACT, EXPAND, STOPPED, MigrationStep, pending
from app.http.health import HEARTBEAT_LIMIT
from app.http.static_files import publish_assets
from app.models import Backup, WorkerHeartbeat, utcnow

upgrade_commands = AppGroup("upgrade", help="Upgrade the database to this version.")


@upgrade_commands.command("check")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(as_json: bool) -> None:
    """List pending migrations, their locks, and whether the previous version keeps working.

    It changes nothing. Exit code 1 if processes of the previous version must be replaced or stopped
    before all migrations can run.
    """
    with extensions.database().transaction(read_only=True) as session:
        revision = current(session.connection())
        steps = pending(session.connection())
        workers = _count_workers(session)
        todo = list(_instructions(session, steps))
    is_gapless = all(step.serves for step in steps)
    if as_json:
        summary = {"current": revision, "target": head(), "gapless": is_gapless, "workers": workers}
        migrations = [asdict(step) for step in steps]
        click.echo(json.dumps(summary | {"migrations": migrations, "todo": todo}))
    else:
        click.echo(f"The database is at migration {revision or 'none'}, this version at {head()}.")
        click.echo(f"Workers connected: {workers}.")
        for step in steps:
            click.echo(_step_line(step))
            for lock in step.locks:
                size = f"{lock.rows:,} rows, {lock.octets // 2**20:,} MB"
                click.echo(f"      {lock.mode} on {lock.table} ({size})")
        for number, sentence in enumerate(todo, 1):
            click.echo(f"{number}. {sentence}")
    if not is_gapless:
        raise click.exceptions.Exit(1)


@upgrade_commands.command("assets")
def assets() -> None:
    """Give this host's web processes of other versions the assets of this version.

    They serve them to pages of hosts that are upgraded already.
    """
    folder = extensions.settings().assets_dir
    publish_assets(folder)
    click.echo(f"The assets of this version are in {folder}.")


def _step_line(step: MigrationStep) -> str:
    after = {
        EXPAND: "Older processes keep working.",
        CONTRACT: f"All processes need migration {step.oldest_code}.",
        STOPPED: "All processes must be stopped.",
    }
    return f"{step.revision}  {step.phase}: {step.title} {after[step.phase]}"


def _instructions(session: Session, steps: list[MigrationStep]) -> Iterator[str]:
    """Return what to do, in this order."""
    if not steps:
        return
    if _backup_is_overdue(session):
        yield (
            f"Make a backup, since none is younger than {OVERDUE // timedelta(hours=1)} hours: "
            "flask --app wsgi backup create"
        )
    expected = max((step.oldest_code for step in steps if step.oldest_code), default=None)
    if expected and all(step.serves for step in steps):
        yield f"When all processes have migration {expected}: flask --app wsgi migrate"
    elif not expected and all(step.serves for step in steps):
        yield "Migrate while the previous version serves: flask --app wsgi migrate"
        yield "Replace the processes one by one: first workers, then web processes."
    elif any(step.phase == STOPPED for step in steps):
        yield "Stop all web processes and workers."
        yield "Migrate: flask --app wsgi migrate"
        yield "Start the processes of this version."
    else:
        yield "Migrate as far as the previous version serves: flask --app wsgi migrate --expand"
        yield "Replace the processes one by one: first workers, then web processes."
        yield f"When all processes have migration {expected}: flask --app wsgi migrate"


def _count_workers(session: Session) -> int:
    if not inspect(session.connection()).has_table(WorkerHeartbeat.__tablename__):
        return 0
    alive = (
        WorkerHeartbeat.stopped_at.is_(None),
        WorkerHeartbeat.beat_at > utcnow() - HEARTBEAT_LIMIT,
    )
    return session.scalar(select(func.count(WorkerHeartbeat.executor_id)).where(*alive)) or 0


def _backup_is_overdue(session: Session) -> bool:
    """Return whether a daily backup is overdue. Reads only two columns: the table may be of an
    older version."""
    if not inspect(session.connection()).has_table(Backup.__tablename__):
        return True
    last_finished_at = session.scalar(
        select(func.max(Backup.finished_at)).where(Backup.problem.is_(None))
    )
    return last_finished_at is None or last_finished_at < utcnow() - OVERDUE
