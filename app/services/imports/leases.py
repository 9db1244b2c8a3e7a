"""Imports that a command works on by itself.

While the lease lasts, the worker leaves the import alone; whoever holds it renews it. Where it
runs out, its holder is gone and the worker goes on: it checks what was not checked, and applies.
Two at work would do no harm, for a check belongs to one run and a batch is applied once.
"""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.enums import ImportState
from app.models import ContactImport, utcnow
from app.policy.caller import system_caller
from app.services.imports import steps, uploads

LASTS = timedelta(seconds=15)
_AT_ONCE = 20


def renew(session: Session, import_id: UUID) -> bool:
    """Holds the lease for longer; False where somebody else has taken the import over."""
    renewed = session.execute(
        update(ContactImport)
        .where(ContactImport.id == import_id, ContactImport.lease_until.is_not(None))
        .values(lease_until=utcnow() + LASTS, updated_at=ContactImport.updated_at)
    )
    return bool(renewed.rowcount)  # type: ignore[attr-defined]  # an update has it


def end(session: Session, import_id: UUID) -> None:
    """Gives the lease back."""
    session.execute(
        update(ContactImport)
        .where(ContactImport.id == import_id)
        .values(lease_until=None, apply_when_checked=False)
    )


def left_behind(session: Session) -> list[UUID]:
    """Imports whose holder is gone; not all at once."""
    query = select(ContactImport.id).where(ContactImport.lease_until < utcnow())
    return list(session.scalars(query.order_by(ContactImport.lease_until).limit(_AT_ONCE)))


def take_over(session: Session, import_id: UUID) -> bool:
    """Hands an import to the worker; False where its lease was renewed or ended meanwhile."""
    query = select(ContactImport).where(ContactImport.id == import_id).with_for_update()
    upload = session.scalars(query.execution_options(populate_existing=True)).one_or_none()
    if upload is None or upload.lease_until is None or upload.lease_until >= utcnow():
        return False
    upload.lease_until = None
    match upload.state:
        case ImportState.UPLOADED | ImportState.READING:
            uploads.enqueue_check(session, upload)
        case ImportState.APPLYING:
            steps.enqueue_apply(session, upload)
        case ImportState.CHECKED:
            apply_unattended(session, import_id)
        case _:
            pass  # it had ended, only its lease had not
    return True


def apply_unattended(session: Session, import_id: UUID) -> None:
    """Has a checked import applied where that was asked for with it and nobody holds it."""
    upload = session.get_one(ContactImport, import_id)
    wanted = upload.apply_when_checked and upload.lease_until is None
    if wanted and upload.state is ImportState.CHECKED and uploads.rows_left(upload):
        caller = system_caller(upload.author, partner_id=upload.partner_id)
        steps.start_apply(session, caller, import_id)
