"""Detects a database that was restored, recovered or copied; docs/operations.md explains the rules.

There are two signs: the database's own identity, stored in its row, and a number that workers
increase in the database and keep outside as well. If the row names another database, or the number
outside is larger, then what happened since the row was written may be missing.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from sqlalchemy import BigInteger, ColumnElement, Text, cast, exists, literal_column, select
from sqlalchemy.orm import Session

from app.database import identity
from app.database.identity import DatabaseIdentity
from app.models import Call, DispatchPause, InstallationMark, SimulatedCall, WorkerHeartbeat, utcnow
from app.policy.caller import system_caller
from app.services.pauses import pauses
from app.services.uniqueness import insert_into

RECENTLY = timedelta(seconds=30)
"""Time since its last report in which a worker is considered alive, with no restore since."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DatabaseMark:
    """``lineage`` names a database and all copies of it; ``generation`` is a moment in
    milliseconds, and larger each time."""

    lineage: str
    generation: int


def _not_moved() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class OutsideMarks:
    """The marks outside of the database.

    ``mark`` is that of the worker's folder, ``label`` that of SQLite's file, and ``has_labels``
    whether the file system can keep one. ``is_moved``: the folder was copied. ``is_first``: the
    worker has just started.
    """

    mark: DatabaseMark | None = None
    label: DatabaseMark | None = None
    has_labels: bool = False
    is_moved: Callable[[], bool] = _not_moved
    is_first: bool = False


def advance(session: Session, marks: OutsideMarks) -> DatabaseMark:
    """Increase the mark and return it. Pauses all calls if this isn't the database that the last
    heartbeat wrote to, or an older state of it, and a call was accepted before."""
    row, written_by = _load_row(session)
    current = identity.read(session)
    now = int(utcnow().timestamp() * 1000)
    ahead = max(
        (each.generation for each in (marks.mark, marks.label) if each and _is_of(each, row)),
        default=0,
    )
    reason = (
        pauses.RESTORED if row.generation < ahead else _mismatch(row, written_by, current, marks)
    )
    reason = reason or _outside_mismatch(session, row, marks)
    if reason is not None and (row.generation < ahead or _has_calls(session)):
        _pause_all(session, row, reason)
    row.generation = max(now, ahead + 1, row.generation + 1)
    row.is_labelled = marks.has_labels
    if current is not None:
        row.server, row.timeline, row.database = current.server, current.timeline, current.database
        row.written_by = current.transaction
    session.flush()
    return DatabaseMark(row.lineage, row.generation)


def missing_since(session: Session) -> datetime | None:
    """Return since when calls may be missing, while the pause after a restore lasts."""
    if session.get(DispatchPause, pauses.ALL) is None:
        return None
    return session.scalar(select(InstallationMark.missing_since))


def _mismatch(
    row: InstallationMark,
    written_by: int | None,
    current: DatabaseIdentity | None,
    marks: OutsideMarks,
) -> str | None:
    """Why the row was not written in this database. A row without an identity is of an earlier
    version, or new."""
    if current is None or row.database is None:
        return None
    if (row.server, row.database) != (current.server, current.database):
        return pauses.COPIED
    if row.timeline != current.timeline:
        return pauses.RECOVERED
    if row.written_by is not None and row.written_by != written_by:
        return (
            pauses.RESTORED
        )  # by a dump: its rows are written by the transaction that reads them in
    return pauses.COPIED if row.is_labelled and marks.label is None else None


def _outside_mismatch(session: Session, row: InstallationMark, marks: OutsideMarks) -> str | None:
    if not marks.is_first:
        return None
    if marks.mark is None:
        return pauses.NEW_HOST if row.database is not None and _have_workers_died(session) else None
    return pauses.COPIED if _is_of(marks.mark, row) and marks.is_moved() else None


def _is_of(mark: DatabaseMark, row: InstallationMark) -> bool:
    return mark.lineage == row.lineage


def _have_workers_died(session: Session) -> bool:
    """Return whether the last workers died without being stopped, and none but the current one is
    alive: as after a power cut, or in a copy of their disk."""
    beats = session.scalars(select(WorkerHeartbeat.beat_at)).all()
    recent = [beat_at for beat_at in beats if beat_at > utcnow() - RECENTLY]
    return len(recent) <= 1 and len(beats) > len(recent)


def _pause_all(session: Session, row: InstallationMark, reason: str) -> None:
    since = datetime.fromtimestamp(row.generation / 1000, UTC)
    earlier = missing_since(session)
    row.missing_since = min(since, earlier) if earlier else since
    pauses.pause(session, system_caller(), pauses.PauseScope(), reason)
    log.error(
        "calling is paused: %s. Calls after %s may be missing. To compare them with the carrier "
        "and resume, run: flask --app wsgi calls reconcile",
        reason,
        row.missing_since.isoformat(timespec="seconds"),
    )


def _load_row(session: Session) -> tuple[InstallationMark, int | None]:
    """Return the only row, locked, and on PostgreSQL the transaction that wrote it. The first
    worker creates it, so that databases copied before that have different lineages."""
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    xmin: ColumnElement[str] = literal_column("installation_marks.xmin")
    writer = literal_column("NULL") if is_sqlite else cast(cast(xmin, Text), BigInteger)
    query = select(InstallationMark, writer).with_for_update()
    row = session.execute(query, execution_options={"populate_existing": True}).one_or_none()
    if row is None:
        values = {"id": 1, "lineage": uuid4().hex, "generation": 0, "is_labelled": False}
        session.execute(
            insert_into(session, InstallationMark).values(**values).on_conflict_do_nothing()
        )
        row = session.execute(query).one()
    return row[0], row[1]


def _has_calls(session: Session) -> bool:
    """Return whether there is, or was, a call that could be placed again."""
    has_any = exists().select_from(Call) | exists().select_from(SimulatedCall)
    return bool(session.scalar(select(has_any)))
