"""Copies of a person's actions and messages: stored answers, mails, files of exports, uploads."""

import zlib
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import ColumnElement, delete, or_, select, union_all, update
from sqlalchemy.orm import Session

from app.database import changed_rows
from app.enums import ExportStatus, ImportStatus
from app.gateways.mailers import Outbox
from app.models import (
    AlertRule,
    ApiKey,
    ContactImport,
    IdempotencyRecord,
    ImportBlock,
    ImportChange,
    ImportCorrection,
    ImportProblem,
    ImportRow,
    ListExport,
    Mail,
    OAuthClient,
    ReportSchedule,
    SpendingLimit,
    User,
    utcnow,
)
from app.services.contacts import removed_contacts
from app.services.imports.undo import UNDOING
from app.services.imports.uploads import AT_WORK
from app.services.personal_data.subjects import DataSubject

ROW_BATCH = 2000


def erase_answers(session: Session, subject: DataSubject, pseudonym: str) -> int:
    """Remove the person from the stored answers of requests; return from how many."""
    owners = union_all(
        *(
            select(model.id).where(model.partner_id == subject.partner_id)
            for model in (User, ApiKey, OAuthClient)
        )
    )
    terms = subject.search_terms
    erased = removed_contacts.erase(session, subject.contacts)
    if not terms.spellings:
        return erased
    names_subject = terms.match_columns(IdempotencyRecord.key, IdempotencyRecord.response)
    query = select(IdempotencyRecord).where(
        IdempotencyRecord.credential_id.in_(owners), names_subject
    )
    for record in session.scalars(query).all():
        erased += 1
        if terms.replace_in(record.key, pseudonym) != record.key:
            session.delete(record)
        else:
            record.response = terms.replace_in(record.response, pseudonym)
    return erased


def erase_mails(session: Session, subject: DataSubject) -> int:
    """Delete the mails to the subject, and the mails of the partner that name the subject."""
    conditions = [Mail.user_id == subject.subject_id]
    if subject.search_terms.spellings:
        conditions.append(subject.search_terms.match_columns(Mail.to, Mail.details, Mail.failure))
    scope = (Mail.partner_id == subject.partner_id) | (Mail.user_id == subject.subject_id)
    return changed_rows(session, delete(Mail).where(scope, or_(*conditions)))


def erase_kept_mails(outbox: Outbox, subject: DataSubject) -> int:
    """Delete the files of mails that name the person; return how many."""
    deleted = 0
    for mail in outbox.mails():
        if mail.partner_id not in (subject.partner_id, None):
            continue
        try:
            message = mail.read()
        except FileNotFoundError:
            continue
        texts = [str(value) for value in message.values()]
        texts += [
            part.get_content() for part in message.walk() if part.get_content_maintype() == "text"
        ]
        if subject.search_terms.occur_in(texts):
            mail.path.unlink(missing_ok=True)
            deleted += 1
    return deleted


def erase_recipients(session: Session, subject: DataSubject) -> None:
    """Remove the person from the recipients of reports, budgets and alerts."""
    emails = {email.casefold() for email in subject.emails}
    for kind, name in (
        (ReportSchedule, "recipients"),
        (SpendingLimit, "budget_recipients"),
        (AlertRule, "recipients"),
    ):
        query = select(kind).where(kind.partner_id == subject.partner_id)
        if subject.organization_id is not None:
            query = query.where(kind.organization_id == subject.organization_id)
        for row in session.scalars(query):
            recipients = getattr(row, name) or []
            remaining = [each for each in recipients if each.casefold() not in emails]
            if len(remaining) != len(recipients):
                setattr(row, name, remaining)


def erase_exports(session: Session, subject: DataSubject, requested_at: datetime) -> list[str]:
    """Delete the partner's exports, which may name the subject, and the user's own: those requested
    before the erasure, as its page says, and those started since. Return the key of the file of
    each, empty without one. They can be requested again."""
    is_started = (ListExport.status != ExportStatus.WAITING) | (ListExport.attempt_number > 0)
    is_old = is_started | (ListExport.created_at <= requested_at)
    query = select(ListExport.id, ListExport.file_key).where(exports_of(subject), is_old)
    rows = session.execute(query).all()
    session.execute(delete(ListExport).where(ListExport.id.in_([row.id for row in rows])))
    return [row.file_key for row in rows]


def exports_of(subject: DataSubject) -> ColumnElement[bool]:
    """Return the condition of exports that an erasure deletes if it is requested now, also those
    that are being prepared."""
    return or_(
        ListExport.partner_id == subject.partner_id,
        ListExport.partner_id.is_(None),
        ListExport.user_id == subject.subject_id,
    )


def newest_exports(session: Session, subject: DataSubject, limit: int) -> Sequence[ListExport]:
    """Return the newest exports that an erasure deletes."""
    query = select(ListExport).where(exports_of(subject)).order_by(ListExport.id.desc())
    return session.scalars(query.limit(limit)).all()


def is_upload_at_work(session: Session, subject: DataSubject) -> bool:
    """Return whether the organization has an upload whose rows can't be searched now."""
    busy = or_(ContactImport.status.in_(AT_WORK), ContactImport.undo_status == UNDOING)
    return session.scalar(_upload_ids(subject).where(busy).limit(1)) is not None


def uploads_to_search(session: Session, subject: DataSubject) -> Sequence[UUID]:
    """Return the organization's uploads that still store something."""
    stores = or_(ContactImport.rows_forgotten_at.is_(None), ContactImport.file_key != "")
    return session.scalars(_upload_ids(subject).where(stores).order_by(ContactImport.id)).all()


def is_in_upload(session: Session, subject: DataSubject, upload_id: UUID) -> bool:
    """Return whether an upload names the person, or may do so because its file can't be read."""
    upload = session.get_one(ContactImport, upload_id)
    if upload.status is ImportStatus.FAILED and upload.file_key:
        return True
    changes = select(ImportChange.contact_id).where(
        ImportChange.import_id == upload_id, ImportChange.contact_id.in_(subject.contacts)
    )
    if session.scalar(changes.limit(1)) is not None:
        return True
    terms = subject.search_terms
    return terms.occur_in(upload.samples) or any(
        terms.occur_in(values) for values in _stored_values(session, upload_id)
    )


def end_upload(session: Session, upload_id: UUID) -> None:
    """Cancel a checked upload; none of its contacts is applied."""
    session.execute(
        update(ContactImport)
        .where(ContactImport.id == upload_id, ContactImport.status == ImportStatus.CHECKED)
        .values(status=ImportStatus.CANCELLED, finished_at=utcnow())
    )


def _upload_ids(subject: DataSubject) -> Any:
    return select(ContactImport.id).where(
        ContactImport.partner_id == subject.partner_id,
        ContactImport.organization_id == subject.organization_id,
    )


def _stored_values(session: Session, upload_id: UUID) -> Iterator[Any]:
    """Return the stored rows of an upload, listed and packed."""
    for columns in (
        (ImportRow.cells, ImportRow.contact),
        (ImportProblem.message, ImportProblem.repair),
        (ImportCorrection.cells, ImportCorrection.was),
        (ImportChange.before, ImportChange.after),
    ):
        of_upload = columns[0].class_.import_id == upload_id
        query = select(*columns).where(of_upload).execution_options(yield_per=ROW_BATCH)
        for row in session.execute(query):
            yield tuple(row)
    for block in session.scalars(
        select(ImportBlock.content)
        .where(ImportBlock.import_id == upload_id)
        .execution_options(yield_per=10)
    ):
        yield from orjson.loads(zlib.decompress(block))
