"""Uploads of contact files: access to them, and their start.

Users' actions on them are in `steps`, the work on them in `pipeline`.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from app.config.limits import StorageDefaults
from app.enums import CallerKind, ContactAction, ImportStatus
from app.errors import Conflict, NotFound, ValidationFailed
from app.gateways import job_queue
from app.gateways.files import StoredFile
from app.languages import gettext
from app.models import Campaign, ContactImport, User, new_id
from app.models.folded_text import holds_words
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit, campaigns, storage
from app.services.contacts.results import COUNTS, CREATED, DELETED, UPDATED
from app.services.imports.kinds import UNCHANGED
from app.services.imports.statuses import UploadStatus, has_status
from app.services.paging import (
    MAX_COUNTED,
    Page,
    both_ways,
    count_among,
    count_up_to,
    keyset_page,
    sort_named,
)
from app.services.tenancy import fetch, of_tenant

SORTS = both_ways(
    created=ContactImport.id,
    file=ContactImport.file_name,
    rows=ContactImport.rows_total,
    failed=ContactImport.failed,
    status=ContactImport.status,
    author=ContactImport.author,
)
"""The sort orders of `search`; ids begin with the time."""
AT_WORK = frozenset({ImportStatus.UPLOADED, ImportStatus.READING, ImportStatus.APPLYING})
ENDED = frozenset({ImportStatus.DONE, ImportStatus.CANCELLED, ImportStatus.FAILED})
CHANGED_BACK = "changedBack"
"""The key in `ContactImport.found` of the applied rows whose changes later rows undid."""
_MAX_NAME_LENGTH = 200
_STORAGE = StorageDefaults()


@dataclass(frozen=True, slots=True)
class UploadChoices:
    """The choices that were made with an upload: ``reading`` by the names of
    `ContactImport.read_options`, and one target for each of the ``columns``, if any."""

    reading: dict[str, Any] = field(default_factory=dict)
    columns: Sequence[str] = ()
    mapping: Sequence[str] = ()


def choices_for_failed_rows(upload: ContactImport) -> UploadChoices:
    """Return the choices for a file of the rows that failed: how phone numbers are read. The
    targets of its columns are known from the upload itself."""
    option_names = ("region", "phoneOrder")
    return UploadChoices(
        {each: upload.read_options[each] for each in option_names if each in upload.read_options}
    )


def get(
    session: Session, caller: Caller, upload_id: UUID, *, for_change: bool = False
) -> ContactImport:
    """Return the caller's upload. Raises `NotFound` (``upload_not_found``).

    ``for_change`` locks the row until the transaction ends.
    """
    query = visible(caller).where(ContactImport.id == upload_id)
    missing = NotFound(gettext("There is no such upload."), "upload_not_found")
    return fetch(session, query, missing, for_change=for_change)


def get_open(session: Session, caller: Caller, upload_id: UUID) -> ContactImport:
    """Return the caller's upload, locked, while it `can_be_read_again`. Raises `Forbidden`,
    `NotFound` and `Conflict` (``upload_not_open``)."""
    caller.require(Permission.CONTACTS_WRITE)
    upload = get(session, caller, upload_id, for_change=True)
    if not can_be_read_again(upload):
        raise not_open()
    return upload


def not_open() -> Conflict:
    message = gettext("The upload has changed. Nothing was saved.")
    return Conflict(message, "upload_not_open")


def lock_upload(session: Session, import_id: UUID) -> ContactImport | None:
    """Return the upload, locked until the transaction ends, for the worker."""
    return session.get(ContactImport, import_id, with_for_update=True, populate_existing=True)


def counts_of(upload: ContactImport) -> dict[str, int]:
    """Return how many rows have each outcome: as planned, or as applied since that began."""
    return {name: getattr(upload, name) for name in COUNTS}


def has_results(upload: ContactImport) -> bool:
    """Return whether the counts are those of rows that were applied, and not undone."""
    return upload.expected is not None and upload.undone_at is None


def unchanged_rows(upload: ContactImport) -> int:
    """Return how many of the updated rows change nothing: as planned, or as applied since that
    began. Rows whose changes later ones undo are counted when applying ends."""
    names = ("equalRows",) if upload.expected is None else (UNCHANGED, CHANGED_BACK)
    return sum(upload.found.get(name, 0) for name in names)


def figures_of(upload: ContactImport) -> dict[str, int]:
    """Return `counts_of` as users see it: rows that change nothing are counted as ``unchanged``, if
    there are any, and not as updated."""
    counts = counts_of(upload)
    unchanged = unchanged_rows(upload)
    if not unchanged:
        return counts
    updated = counts[UPDATED] - unchanged
    figures = {CREATED: counts[CREATED], UPDATED: updated, UNCHANGED: unchanged}
    return figures | {name: count for name, count in counts.items() if name not in figures}


def changing_rows(upload: ContactImport) -> int:
    """Return how many rows change something: as planned, or as applied since that began."""
    figures = figures_of(upload)
    return figures[CREATED] + figures[UPDATED] + figures[DELETED]


def undo_statuses(session: Session, caller: Caller, ids: Collection[UUID]) -> dict[UUID, str]:
    """Return the state of the undo of those of the uploads that are or were being undone. Raises
    `Forbidden`."""
    caller.require(Permission.CONTACTS_WRITE)
    if not ids:
        return {}
    query = visible(caller).with_only_columns(ContactImport.id, ContactImport.undo_status)
    under_way = ContactImport.id.in_(ids), ContactImport.undo_status.is_not(None)
    return {row.id: row.undo_status for row in session.execute(query.where(*under_way))}


@dataclass(frozen=True, slots=True)
class UploadFilter:
    """The filters of a list of uploads; ``query`` is a part of the name of a file or campaign,
    ``author`` of that of the user or credential."""

    query: str | None = None
    status: UploadStatus | None = None
    action: ContactAction | None = None
    author: str | None = None
    campaign_id: UUID | None = None


def search(
    session: Session,
    caller: Caller,
    filters: UploadFilter | None = None,
    *,
    sort: str = "-created",
    cursor: str | None = None,
    limit: int = 50,
) -> Page[ContactImport]:
    """Return a page of uploads. Raises `ValidationFailed` (``unknown_sort``,
    ``invalid_cursor``)."""
    rows = _filter_uploads(caller, filters or UploadFilter())
    return keyset_page(session, rows, sort_named(sort, SORTS), cursor=cursor, limit=limit)


def count(
    session: Session, caller: Caller, filters: UploadFilter, *, most: int = MAX_COUNTED
) -> int:
    """Return how many match, as `paging.count_up_to`."""
    rows = _filter_uploads(caller, filters).with_only_columns(ContactImport.id)
    return count_up_to(session, rows, most)


def count_if_few(session: Session, caller: Caller, filters: UploadFilter, limit: int) -> int | None:
    """Return how many match, as `paging.count_among` those of the caller or campaign."""
    rows, narrowed = (
        _filter_uploads(caller, each).with_only_columns(ContactImport.id)
        for each in (filters, UploadFilter(campaign_id=filters.campaign_id))
    )
    return count_among(session, rows, narrowed, limit)


def _filter_uploads(caller: Caller, filters: UploadFilter) -> Select[ContactImport]:
    rows = visible(caller)
    if filters.query:
        matches = holds_words(ContactImport.file_name, filters.query)
        if filters.campaign_id is None:
            named_campaigns = campaigns.visible(caller).where(Campaign.named(filters.query))
            matches |= ContactImport.campaign_id.in_(named_campaigns.with_only_columns(Campaign.id))
        rows = rows.where(matches)
    if filters.status is not None:
        rows = rows.where(has_status(filters.status))
    if filters.campaign_id is not None:
        rows = rows.where(ContactImport.campaign_id == filters.campaign_id)
    if filters.action is not None:
        rows = rows.where(ContactImport.action == filters.action)
    if filters.author:
        rows = rows.where(ContactImport.author.icontains(filters.author, autoescape=True))
    return rows


def get_many(session: Session, caller: Caller, ids: Collection[UUID]) -> Sequence[ContactImport]:
    """Return those of the uploads that the caller may see, newest first."""
    rows = visible(caller).where(ContactImport.id.in_(ids))
    return session.scalars(rows.order_by(ContactImport.id.desc())).all()


def campaign_names(session: Session, uploads: Collection[ContactImport]) -> dict[UUID, str]:
    """Return the names of the campaigns of uploads that come from their loader."""
    query = select(Campaign.id, Campaign.name).where(
        Campaign.id.in_({upload.campaign_id for upload in uploads})
    )
    return {row.id: row.name for row in session.execute(query)}


def create(
    session: Session,
    caller: Caller,
    campaign_id: UUID,
    *,
    action: ContactAction,
    file: StoredFile,
    file_name: str,
    chosen: UploadChoices | None = None,
    corrects: ContactImport | None = None,
    lease_until: datetime | None = None,
    storage_defaults: StorageDefaults = _STORAGE,
) -> ContactImport:
    """Create an upload of a stored file, and request its check. ``corrects`` is the loaded upload
    whose failed rows the file corrects.

    With a lease it is checked and applied by the lease's holder, see `steps`. Raises `Forbidden`,
    `NotFound`, `Conflict` (``archived``), `ValidationFailed` (``empty_file``), or `TooLarge`
    (``storage_limit_reached``).
    """
    caller.require(Permission.CONTACTS_WRITE)
    campaign = campaigns.get_for_new_contacts(session, caller, campaign_id)
    owner_ids = campaign.partner_id, campaign.organization_id
    storage.reserve_room(session, *owner_ids, file.size, storage_defaults)
    if not file.size:
        message = gettext("The file is empty. Export it again and upload the new file.")
        raise ValidationFailed.on("file", "empty_file", message)
    upload = ContactImport(
        id=new_id(),
        partner_id=campaign.partner_id,
        organization_id=campaign.organization_id,
        campaign_id=campaign.id,
        created_by=caller.subject_id if caller.kind is CallerKind.USER else None,
        author=author_of(session, caller),
        status=ImportStatus.UPLOADED,
        action=action,
        file_name=_plain_name(file_name),
        file_size=file.size,
        file_sha256=file.sha256,
        file_key=file.key,
        check_number=0,
        apply_number=0,
        corrects_id=corrects.id if corrects is not None else None,
        lease_until=lease_until,
        apply_when_checked=lease_until is not None,
    )
    if chosen is not None:
        upload.read_options = chosen.reading
        upload.columns, upload.mapping = list(chosen.columns), list(chosen.mapping)
    session.add(upload)
    session.flush()
    request_check(session, upload)
    audit.record_change(
        session, caller, "upload.created", upload, after={"action": action, "size": file.size}
    )
    return upload


def require_room(
    session: Session, caller: Caller, campaign_id: UUID, size: int, defaults: StorageDefaults
) -> None:
    """Raise as `create` does if a file of this many bytes can't be uploaded."""
    caller.require(Permission.CONTACTS_WRITE)
    campaign = campaigns.get_for_new_contacts(session, caller, campaign_id)
    storage.require_room(session, campaign.partner_id, campaign.organization_id, size, defaults)


def same_file(session: Session, upload: ContactImport) -> ContactImport | None:
    """Return the latest other upload of the same file into the campaign that was applied at least
    in part."""
    query = (
        select(ContactImport)
        .where(ContactImport.campaign_id == upload.campaign_id)
        .where(ContactImport.file_sha256 == upload.file_sha256)
        .where(ContactImport.id != upload.id, ContactImport.rows_applied > 0)
        .order_by(ContactImport.id.desc())
        .limit(1)
    )
    return session.scalars(query).one_or_none()


def external_id_keys(session: Session, upload: ContactImport) -> list[str]:
    """Return the external-id keys that a column of the upload can become."""
    campaign = session.get_one(Campaign, upload.campaign_id)
    return list(campaigns.external_id_keys(session, campaign))


def rows_to_apply(upload: ContactImport) -> int:
    """Return how many rows the check found good."""
    expected = upload.expected
    if expected is None:
        return upload.created + upload.updated + upload.deleted
    return expected["created"] + expected["updated"] + expected["deleted"]


def rows_left(upload: ContactImport) -> int:
    return rows_to_apply(upload) - upload.rows_applied


def can_go_on(upload: ContactImport) -> bool:
    """Return whether applying stopped early, so that the rest can still be applied."""
    stopped = upload.status in (ImportStatus.CANCELLED, ImportStatus.FAILED)
    checked = upload.expected is not None and upload.undo_status is None
    return stopped and checked and rows_left(upload) > 0 and keeps_rows(upload)


def keeps_rows(upload: ContactImport) -> bool:
    """Return whether the upload has all its rows and undo log: their deletion hasn't begun."""
    return upload.rows_forgotten_at is None and upload.deletion_requested_at is None


def can_be_read_again(upload: ContactImport) -> bool:
    """Return whether columns and reading options can still be changed."""
    if upload.status is ImportStatus.FAILED:
        return upload.expected is None and bool(upload.file_key)
    return upload.status is ImportStatus.CHECKED


def request_check(session: Session, upload: ContactImport) -> None:
    """Request a check of the file from its beginning."""
    upload.status, upload.failure, upload.finished_at = ImportStatus.UPLOADED, None, None
    upload.check_run, upload.checked_at = None, None
    upload.check_number += 1
    if upload.lease_until is None:
        enqueue(session, upload, "check", upload.check_number)


def enqueue(session: Session, upload: ContactImport, step: str, number: int) -> None:
    """Queue a step: "check", "apply" or "undo", for the ``number``-th time."""
    job_id, upload_id = f"{step}-{upload.id}-{number}", str(upload.id)
    owner = upload.partner_id
    job_queue.enqueue_import(session, f"{step}_import", job_id, owner, upload_id, str(number))


def visible(caller: Caller) -> Select[ContactImport]:
    query = select(ContactImport)
    return of_tenant(query, caller, ContactImport.partner_id, ContactImport.organization_id)


def author_of(session: Session, caller: Caller) -> str:
    """Return the user's name, else the label of the credential."""
    user = session.get(User, caller.subject_id) if caller.kind is CallerKind.USER else None
    return ((user and user.name) or caller.label)[:200]


def _plain_name(name: str) -> str:
    """Return the last part of the file name that a browser sent, without unprintable characters."""
    last = name.replace("\\", "/").rpartition("/")[2]
    printable = "".join(c for c in last if c.isprintable()).encode(errors="replace").decode()
    return printable.strip()[:_MAX_NAME_LENGTH] or "contacts"
