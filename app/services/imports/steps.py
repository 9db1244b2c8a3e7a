"""Actions of users and commands on an upload: choose columns, repair, apply, cancel.

A command that processes an upload itself holds a lease. While the lease lasts, the worker leaves
the upload alone; when it expires, its holder has died and the worker continues. Two at work would
do no harm, because a check belongs to one run and a batch is applied once.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.database import changed_rows
from app.enums import ImportStatus
from app.errors import Conflict, Problem, check_version, raise_problems
from app.languages import gettext
from app.models import Campaign, ColumnMapping, ContactImport, utcnow
from app.policy import Permission
from app.policy.caller import Caller, system_caller
from app.services import audit, campaigns
from app.services.imports import uploads
from app.services.imports.mapping import ONCE, ColumnTarget, TargetField, columns_hash
from app.services.imports.uploads import (
    ENDED,
    can_go_on,
    counts_of,
    external_id_keys,
    get,
    get_open,
    lock_upload,
    not_open,
    request_check,
    rows_left,
)

_ONCE = ONCE | {TargetField.EXTERNAL_ID}
LEASE_LASTS = timedelta(seconds=15)
_BATCH_SIZE = 20


@dataclass(frozen=True, slots=True)
class ReadingChoices:
    """The user's choices about reading the file; None leaves it to detection.

    ``header_row`` is a row number as a spreadsheet shows it, 0 for no header; ``region`` is the
    country of numbers without a country code.
    """

    encoding: str | None = None
    delimiter: str | None = None
    header_row: int | None = None
    sheet: str | None = None
    region: str | None = None


def read_again(
    session: Session,
    caller: Caller,
    upload_id: UUID,
    *,
    mapping: Sequence[str] | None = None,
    reading: ReadingChoices | None = None,
) -> ContactImport:
    """Check the file again with other columns (a `ColumnTarget` each) or read differently.

    The columns are remembered for the campaign's next file with the same ones. Raises `Forbidden`,
    `NotFound`, `Conflict` (``upload_not_open``) and `ValidationFailed` (``unknown_target``,
    ``column_twice``) naming ``columns.3``.
    """
    upload = get_open(session, caller, upload_id)
    before: dict[str, Any] = {"mapping": upload.mapping, "reading": upload.read_options}
    if reading is not None:
        upload.read_options = {
            "encoding": reading.encoding,
            "delimiter": reading.delimiter,
            "headerRow": reading.header_row,
            "sheet": reading.sheet,
            "region": reading.region,
        }
    if mapping is not None and upload.columns:
        _check_mapping(upload, mapping, external_id_keys(session, upload))
        upload.mapping = list(mapping)
        _remember_mapping(session, upload)
    request_check(session, upload)
    after = {"mapping": upload.mapping, "reading": upload.read_options}
    audit.record_change(session, caller, "upload.read_again", upload, before=before, after=after)
    return upload


def repair(session: Session, caller: Caller, upload_id: UUID, reason: str) -> ContactImport:
    """Accept the suggested repair of one kind of damage for all rows, and check again.

    Raises `Forbidden`, `NotFound` and `Conflict` (``upload_not_open``).
    """
    upload = get_open(session, caller, upload_id)
    return _set_repairs(session, caller, upload, {*upload.repairs, reason})


def undo_repair(session: Session, caller: Caller, upload_id: UUID, reason: str) -> ContactImport:
    """Undo `repair`; raises as it does."""
    upload = get_open(session, caller, upload_id)
    return _set_repairs(session, caller, upload, {*upload.repairs} - {reason})


def start_apply(
    session: Session, caller: Caller, upload_id: UUID, *, expected_check: int | None = None
) -> ContactImport:
    """Start applying the good rows; after a stop, the remaining ones.

    A repeated request changes nothing. ``expected_check`` is the check that the user saw. Raises
    `Forbidden`, `NotFound` and `Conflict` (``upload_not_open``, ``nothing_to_apply``,
    ``changed_meanwhile``, ``archived``).
    """
    upload = _lock_upload(session, caller, upload_id)
    if upload.status in (ImportStatus.APPLYING, ImportStatus.DONE):
        return upload
    if upload.status is not ImportStatus.CHECKED and not can_go_on(upload):
        raise not_open()
    if not upload.apply_when_checked:  # with it, applying was accepted with the upload
        campaigns.get_for_new_contacts(session, caller, upload.campaign_id)
    check_version(expected_check, upload.check_number, "check")
    if not rows_left(upload):
        message = gettext("No row of the file can be applied.")
        raise Conflict(message, "nothing_to_apply")
    if upload.expected is None:
        upload.expected = counts_of(upload)
        upload.created = upload.updated = upload.deleted = 0
        _remember_mapping(session, upload)
    upload.status, upload.failure = ImportStatus.APPLYING, None
    upload.cancel_requested_at = upload.finished_at = None
    upload.apply_started_at = utcnow()
    upload.apply_number += 1
    if upload.lease_until is None:
        uploads.enqueue(session, upload, "apply", upload.apply_number)
    audit.record_change(
        session, caller, "upload.started", upload, after={"rows": rows_left(upload)}
    )
    return upload


def cancel(session: Session, caller: Caller, upload_id: UUID) -> ContactImport:
    """End an upload: at once before it is applied, else after the current batch.

    Raises `Forbidden`, `NotFound` and `Conflict` (``upload_not_open``) if it has ended.
    """
    upload = _lock_upload(session, caller, upload_id)
    if upload.status in ENDED:
        raise not_open()
    if upload.status is ImportStatus.APPLYING:
        upload.cancel_requested_at = upload.cancel_requested_at or utcnow()
    else:
        upload.status, upload.finished_at = ImportStatus.CANCELLED, utcnow()
        upload.check_run = None
    is_applying = upload.status is ImportStatus.APPLYING
    audit.record_change(
        session, caller, f"upload.{'stop_asked' if is_applying else 'cancelled'}", upload
    )
    return upload


def _lock_upload(session: Session, caller: Caller, upload_id: UUID) -> ContactImport:
    caller.require(Permission.CONTACTS_WRITE)
    return get(session, caller, upload_id, for_change=True)


def _set_repairs(
    session: Session, caller: Caller, upload: ContactImport, repairs: set[str]
) -> ContactImport:
    before, upload.repairs = upload.repairs, sorted(repairs)
    request_check(session, upload)
    audit.record_change(
        session,
        caller,
        "upload.repaired",
        upload,
        before={"repairs": before},
        after={"repairs": upload.repairs},
    )
    return upload


def _check_mapping(
    upload: ContactImport, mapping: Sequence[str], external_keys: Collection[str]
) -> None:
    problems: list[Problem] = []
    seen: dict[ColumnTarget, int] = {}
    if len(mapping) != len(upload.columns):
        message = gettext("The file's columns have changed. Nothing was saved.")
        raise Conflict(message, "upload_not_open")
    for index, text in enumerate(mapping):
        field = f"columns.{index}"
        target = _parse_target(text, external_keys)
        if target is None:
            message = gettext("Choose what this column becomes.")
            problems.append(Problem(field, "unknown_target", message))
        elif target.field in _ONCE and target in seen:
            message = gettext(
                "“%(column)s” is already this field. Keep one of the two.",
                column=upload.columns[seen[target]],
            )
            problems.append(Problem(field, "column_twice", message))
        else:
            seen[target] = index
    raise_problems(problems)


def _parse_target(text: str, external_keys: Collection[str]) -> ColumnTarget | None:
    try:
        target = ColumnTarget.parse(text)
    except ValueError:
        return None
    if target.field is TargetField.EXTERNAL_ID and target.key not in external_keys:
        return None
    needs_key = target.field in (TargetField.EXTERNAL_ID, TargetField.METADATA)
    is_valid = bool(target.key) == needs_key and "\0" not in target.key
    return target if is_valid else None


def _remember_mapping(session: Session, upload: ContactImport) -> None:
    """Store the columns under the campaign's lock: two users may choose the same ones at once."""
    campaigns.lock(session, session.get_one(Campaign, upload.campaign_id))
    session.merge(
        ColumnMapping(
            campaign_id=upload.campaign_id,
            columns_hash=columns_hash(upload.columns),
            organization_id=upload.organization_id,
            mapping=upload.mapping,
        )
    )


def renew_lease(session: Session, import_id: UUID) -> bool:
    """Extend the lease; return False if the import was taken over."""
    renewed = changed_rows(
        session,
        update(ContactImport)
        .where(ContactImport.id == import_id, ContactImport.lease_until.is_not(None))
        .values(lease_until=utcnow() + LEASE_LASTS, updated_at=ContactImport.updated_at),
    )
    return renewed > 0


def end_lease(session: Session, import_id: UUID) -> None:
    session.execute(
        update(ContactImport)
        .where(ContactImport.id == import_id)
        .values(lease_until=None, apply_when_checked=False)
    )


def expired_leases(session: Session) -> list[UUID]:
    """Return imports whose lease has expired; a limited number at once."""
    query = select(ContactImport.id).where(ContactImport.lease_until < utcnow())
    return list(session.scalars(query.order_by(ContactImport.lease_until).limit(_BATCH_SIZE)))


def take_over(session: Session, import_id: UUID) -> bool:
    """Hand an import to the worker; return False if its lease was renewed or ended meanwhile."""
    upload = lock_upload(session, import_id)
    if upload is None or upload.lease_until is None or upload.lease_until >= utcnow():
        return False
    upload.lease_until = None
    match upload.status:
        case ImportStatus.UPLOADED | ImportStatus.READING:
            uploads.enqueue(session, upload, "check", upload.check_number)
        case ImportStatus.APPLYING:
            uploads.enqueue(session, upload, "apply", upload.apply_number)
        case ImportStatus.CHECKED:
            apply_unattended(session, import_id)
        case _:
            pass  # it has ended, only its lease had not
    return True


def apply_unattended(session: Session, import_id: UUID) -> None:
    """Apply a checked import that was to be applied at once, if no command holds it."""
    upload = session.get_one(ContactImport, import_id)
    is_due = upload.apply_when_checked and upload.lease_until is None
    if is_due and upload.status is ImportStatus.CHECKED and uploads.rows_left(upload):
        caller = system_caller(upload.author, partner_id=upload.partner_id)
        start_apply(session, caller, import_id)
