"""Uploads that correct the failed rows of an earlier one.

Which row of the corrected file replaces which failed one is not known: a row counts as fixed when
the corrected file has at least as many rows that can be applied, and fewer that fail.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.errors import NotFound
from app.languages import gettext
from app.models import ContactImport
from app.policy.caller import Caller
from app.services.imports.uploads import get, lock_upload, visible


@dataclass(frozen=True, slots=True)
class CorrectedFile:
    """A later upload, and how many failed rows of the first one it has fixed."""

    upload: ContactImport
    fixed: int


def to_correct(
    session: Session, caller: Caller, campaign_id: UUID, upload_id: UUID
) -> ContactImport:
    """Return the upload of the campaign that a file is to correct. Raises `NotFound`
    (``upload_not_found``)."""
    upload = get(session, caller, upload_id)
    if upload.campaign_id != campaign_id:
        raise NotFound(gettext("There is no such upload."), "upload_not_found")
    return upload


def corrected_by(session: Session, caller: Caller, upload: ContactImport) -> ContactImport | None:
    """Return the upload whose failed rows this one corrects."""
    if upload.corrects_id is None:
        return None
    return session.scalar(visible(caller).where(ContactImport.id == upload.corrects_id))


def corrected_files_of(session: Session, upload: ContactImport) -> list[CorrectedFile]:
    """Return the files that correct an upload, the latest first, without those that were undone or
    left before they were applied."""
    return [
        CorrectedFile(each, _count_fixed(upload, each))
        for each in reversed(_list_corrections(session, upload))
        if each.undone_at is None and (each.apply_started_at or each.finished_at is None)
    ]


def rows_to_fix(upload: ContactImport) -> int:
    """Return how many failed rows no corrected file has fixed yet."""
    return max(0, upload.failed - upload.rows_fixed)


def count_fixed(session: Session, upload: ContactImport) -> None:
    """Update the fixed rows of the uploads that this one corrects, also indirectly, after it was
    applied or undone."""
    correction = upload
    while correction.corrects_id is not None:
        session.flush()
        corrected = lock_upload(session, correction.corrects_id)
        if corrected is None:
            return
        fixed = sum(
            _count_fixed(corrected, each) + each.rows_fixed
            for each in _list_corrections(session, corrected)
            if each.undone_at is None
        )
        corrected.rows_fixed = min(corrected.failed, fixed)
        correction = corrected


def _list_corrections(session: Session, upload: ContactImport) -> Sequence[ContactImport]:
    query = select(ContactImport).where(
        ContactImport.campaign_id == upload.campaign_id,
        ContactImport.id > upload.id,
        ContactImport.corrects_id == upload.id,
    )
    return session.scalars(query.order_by(ContactImport.id)).all()


def _count_fixed(upload: ContactImport, later: ContactImport) -> int:
    if later.apply_started_at is None:
        return 0
    usable_rows = later.created + later.updated + later.deleted + later.ignored
    return max(0, min(upload.failed - later.failed, usable_rows))
