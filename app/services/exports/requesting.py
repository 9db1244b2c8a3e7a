"""A user's exports: requesting one, listing and deleting them, and reading a file."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from app.enums import ExportFormat, ExportStatus
from app.errors import Conflict, NotFound
from app.gateways.job_queue import enqueue_export
from app.languages import gettext
from app.models import ListExport, new_id, utcnow
from app.policy.caller import Caller
from app.services import audit
from app.services.tenancy import fetch, lock_own_user, of_tenant

RETENTION = timedelta(days=7)
MAX_EXPORTS = 20
"""Maximum exports of one user."""


@dataclass(frozen=True, slots=True)
class ExportInput:
    """The list to write, with the query string of its page, to which the ids of the path are added;
    ``zone`` is the time zone of its days."""

    list_name: str
    query: str
    file_format: ExportFormat
    zone: str


def create(session: Session, caller: Caller, export_input: ExportInput) -> ListExport:
    """Request an export; one of the same that still waits is returned instead of another.

    Raises `NotFound` for a caller that isn't a user, and `Conflict` (``too_many_exports``).
    """
    caller.require_write()
    if caller.user_id is None:
        raise NotFound
    lock_own_user(session, caller)
    user_exports = of_user(session, caller)
    for each in user_exports:
        existing = ExportInput(each.list_name, each.query, each.file_format, each.zone)
        if each.status is ExportStatus.WAITING and existing == export_input:
            return each
    if len(user_exports) >= MAX_EXPORTS:
        message = gettext("You have %(most)s exports. Delete one first.", most=MAX_EXPORTS)
        raise Conflict(message, "too_many_exports")
    export = ListExport(
        id=new_id(),
        partner_id=caller.partner_id,
        organization_id=caller.organization_id,
        user_id=caller.user_id,
        role=caller.role,
        list_name=export_input.list_name,
        query=export_input.query,
        zone=export_input.zone,
        file_format=export_input.file_format,
        status=ExportStatus.WAITING,
        expires_at=utcnow() + RETENTION,
    )
    session.add(export)
    session.flush()
    enqueue_export(session, export.id, caller.partner_id or caller.user_id)
    audit.record_change(
        session, caller, "list_export.requested", export, after=_audit_values(export)
    )
    return export


def of_user(session: Session, caller: Caller) -> Sequence[ListExport]:
    """Return the caller's exports, newest first."""
    return session.scalars(_own_exports(caller).order_by(ListExport.id.desc())).all()


def get(
    session: Session, caller: Caller, export_id: UUID, *, for_change: bool = False
) -> ListExport:
    """Return an export of the caller. Raises `NotFound`, also once it has expired."""
    missing = NotFound(gettext("There is no such export."), "export_not_found")
    query = _own_exports(caller).where(ListExport.id == export_id)
    return fetch(session, query, missing, for_change=for_change)


def file_of(session: Session, caller: Caller, export_id: UUID) -> ListExport:
    """Return an export of the caller that has a file. Raises `NotFound`."""
    export = get(session, caller, export_id)
    if export.status is not ExportStatus.READY:
        raise NotFound(gettext("There is no such export."), "export_not_found")
    return export


def delete(session: Session, caller: Caller, export_id: UUID) -> str:
    """Delete an export; return the key of its file, which the caller deletes after the commit;
    empty if there is none. Raises `NotFound`."""
    caller.require_write()
    export = get(session, caller, export_id, for_change=True)
    audit.record_change(
        session, caller, "list_export.deleted", export, before=_audit_values(export)
    )
    session.delete(export)
    session.flush()
    return export.file_key


def _own_exports(caller: Caller) -> Select[ListExport]:
    """Return the query of the caller's exports that were written for the role that the caller still
    has."""
    rows = of_tenant(select(ListExport), caller, ListExport.partner_id)
    return rows.where(
        ListExport.user_id == caller.user_id,
        ListExport.organization_id == caller.organization_id,
        ListExport.role == caller.role,
        ListExport.expires_at > utcnow(),
    )


def _audit_values(export: ListExport) -> dict[str, object]:
    return {
        "list": export.list_name,
        "filters": export.query,
        "format": export.file_format,
    }
