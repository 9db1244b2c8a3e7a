"""Writing an export, step by step, and its expiry."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.enums import ExportProblem, ExportStatus
from app.gateways.files.base import StoredFile
from app.models import ListExport, MailKind, utcnow
from app.policy.caller import Caller
from app.services import mail_queue
from app.services.auth import sessions, sign_in_rules
from app.services.exports.requesting import RETENTION

BATCH_SIZE = 500


@dataclass(frozen=True, slots=True)
class ExportTask:
    """An export to write, as its user. ``attempt_number`` distinguishes it from later attempts."""

    export: ListExport
    attempt_number: int
    caller: Caller


def begin(session: Session, export_id: UUID) -> ExportTask | None:
    """Begin an attempt to write an export. None if it has ended; it ends now if its user can't sign
    in any more, or has another role or organization."""
    export = _lock_export(session, export_id)
    if export is None or export.status is not ExportStatus.WAITING:
        return None
    export.attempt_number += 1
    user = sign_in_rules.usable_user(session, export.user_id)
    is_same = (
        user is not None
        and user.role is export.role
        and user.partner_id == export.partner_id
        and user.organization_id == export.organization_id
    )
    if user is None or not is_same:
        _end_export(session, export, ExportStatus.FAILED, ExportProblem.NO_ACCESS)
        return None
    session.flush()
    return ExportTask(export, export.attempt_number, sessions.caller_of(user))


def finish(
    session: Session, export_id: UUID, attempt_number: int, file: StoredFile, rows: int
) -> str:
    """Keep the file and mail its user. Return the key of the file that is not needed: this one,
    after a later attempt has begun or the export was deleted; else none."""
    export = _lock_export(session, export_id)
    if (
        export is None
        or export.status is not ExportStatus.WAITING
        or export.attempt_number != attempt_number
    ):
        return file.key
    export.file_key, export.size, export.rows = file.key, file.size, rows
    _end_export(session, export, ExportStatus.READY)
    return ""


def fail(
    session: Session, export_id: UUID, problem: ExportProblem, attempt_number: int | None = None
) -> None:
    """End an export without a file and mail its user, unless it has ended or, with
    ``attempt_number``, a later attempt has begun."""
    export = _lock_export(session, export_id)
    if export is None or export.status is not ExportStatus.WAITING:
        return
    if attempt_number is None or export.attempt_number == attempt_number:
        _end_export(session, export, ExportStatus.FAILED, problem)


def purge(session: Session) -> Sequence[str]:
    """Delete expired exports, a limited number at once; return the keys of their files, empty for
    those without one."""
    query = (
        select(ListExport.id, ListExport.file_key)
        .where(ListExport.expires_at <= utcnow())
        .order_by(ListExport.expires_at)
        .limit(BATCH_SIZE)
    )
    old = session.execute(query).all()
    session.execute(delete(ListExport).where(ListExport.id.in_([row.id for row in old])))
    return [row.file_key for row in old]


def _end_export(
    session: Session,
    export: ListExport,
    status: ExportStatus,
    problem: ExportProblem | None = None,
) -> None:
    export.status, export.problem = status, problem
    export.finished_at = utcnow()
    export.expires_at = export.finished_at + RETENTION
    session.flush()
    mail_queue.enqueue(
        session,
        MailKind.EXPORT_FINISHED,
        partner_id=export.partner_id,
        user_id=export.user_id,
        details={
            "list": export.list_name,
            "rows": export.rows,
            "problem": problem,
            "until": export.expires_at.isoformat(),
        },
    )


def _lock_export(session: Session, export_id: UUID) -> ListExport | None:
    """Return an export that hasn't expired."""
    query = select(ListExport).where(ListExport.id == export_id, ListExport.expires_at > utcnow())
    locked = query.with_for_update().execution_options(populate_existing=True)
    return session.scalars(locked).one_or_none()
