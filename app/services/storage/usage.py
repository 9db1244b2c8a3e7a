"""Used storage, counted from the stored sizes of uploads, recordings and brand images."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, case, func, select, union_all
from sqlalchemy.orm import Session

from app.config.limits import StorageDefaults
from app.languages import gettext
from app.models import (
    STORED,
    BrandImage,
    CallRecording,
    ContactImport,
    Organization,
    OutsidePicture,
    Partner,
)
from app.policy.caller import Caller
from app.services import partners
from app.services.tenancy import in_groups, of_tenant, visible_organizations

_FILE = case((ContactImport.file_key != "", ContactImport.file_size), else_=0)
SIZE: ColumnElement[int] = _FILE + func.coalesce(ContactImport.stored_bytes, 0)
"""Bytes of an upload: its file until that is deleted, rows and undo log."""
MAX_LISTED = 25


@dataclass(frozen=True, slots=True)
class StorageUsage:
    """Storage in bytes. ``own_limit`` is None without a limit of its own: then the installation's
    applies."""

    used: int
    limit: int
    own_limit: int | None = None

    @property
    def remaining(self) -> int:
        return max(self.limit - self.used, 0)


@dataclass(frozen=True, slots=True)
class StoredUpload:
    """An upload with its bytes."""

    upload: ContactImport
    organization: str
    size: int


def used_by_organization(session: Session, organization: Organization) -> int:
    return _sum_of(session, *sums_of_organization(organization))


def sums_of_organization(organization: Organization) -> tuple[Select[Any], ...]:
    """Return the queries whose sum is `used_by_organization`."""
    query = _uploads_query(organization.partner_id).where(
        ContactImport.organization_id == organization.id
    )
    recordings = select(func.sum(CallRecording.size)).where(
        CallRecording.partner_id == organization.partner_id,
        CallRecording.organization_id == organization.id,
    )
    return query, recordings


def used_by_partner(session: Session, partner_id: UUID) -> int:
    sums = [
        select(func.sum(kind.size)).where(kind.partner_id == partner_id)
        for kind in (BrandImage, OutsidePicture, CallRecording)
    ]
    return _sum_of(session, _uploads_query(partner_id), *sums)


def _group_usage(session: Session, caller: Caller, partner_id: UUID) -> int:
    uploads = _uploads_query(partner_id).where(in_groups(caller, ContactImport.organization_id))
    recordings = select(func.sum(CallRecording.size)).where(
        CallRecording.partner_id == partner_id, in_groups(caller, CallRecording.organization_id)
    )
    return _sum_of(session, uploads, recordings)


def _sum_of(session: Session, *queries: Select[Any]) -> int:
    """Return the sum of all the queries, in one statement."""
    row = session.execute(select(*(query.scalar_subquery() for query in queries))).one()
    return sum(int(each or 0) for each in row)


def used_by_all(session: Session, caller: Caller) -> int:
    """Return the bytes of all partners. Raises `Forbidden`."""
    require_operator(caller)
    uploads = select(func.sum(SIZE)).where(STORED)
    other_queries = (
        select(func.sum(kind.size)) for kind in (BrandImage, OutsidePicture, CallRecording)
    )
    return _sum_of(session, uploads, *other_queries)


def of_organization(
    session: Session,
    organization: Organization,
    defaults: StorageDefaults,
    used: int | None = None,
) -> StorageUsage:
    """Return the usage of an organization that came from its loader; the bytes ``used`` are counted
    unless they are given."""
    if used is None:
        used = used_by_organization(session, organization)
    limit = limit_of_organization(organization, defaults)
    return StorageUsage(used, limit, organization.storage_limit)


def of_partner(
    session: Session, caller: Caller, partner_id: UUID, defaults: StorageDefaults
) -> StorageUsage:
    """Return the usage of a partner with all its organizations. Raises `NotFound`."""
    partner = partners.get(session, caller, partner_id)
    used = (
        _group_usage(session, caller, partner_id)
        if caller.is_limited
        else used_by_partner(session, partner_id)
    )
    return StorageUsage(used, limit_of_partner(partner, defaults), partner.storage_limit)


def of_organizations(
    session: Session, caller: Caller, partner_id: UUID, defaults: StorageDefaults
) -> list[tuple[Organization, StorageUsage]]:
    """Return the organizations of a partner with the largest usage. Raises `NotFound`."""
    partners.get(session, caller, partner_id)
    uploads = select(ContactImport.organization_id, SIZE.label("size")).where(
        ContactImport.partner_id == partner_id, STORED
    )
    recordings = select(CallRecording.organization_id, CallRecording.size).where(
        CallRecording.partner_id == partner_id
    )
    stored = union_all(uploads, recordings).subquery()
    used = func.sum(stored.c.size)
    visible_rows = visible_organizations(caller).where(Organization.partner_id == partner_id)
    query = (
        visible_rows.add_columns(used)
        .join(stored, stored.c.organization_id == Organization.id)
        .group_by(Organization.id)
        .order_by(used.desc(), Organization.id)
        .limit(MAX_LISTED)
    )
    rows: Sequence[Any] = session.execute(query).all()
    return [
        (
            row[0],
            StorageUsage(
                int(row[1]), limit_of_organization(row[0], defaults), row[0].storage_limit
            ),
        )
        for row in rows
    ]


def of_partners(
    session: Session, caller: Caller, defaults: StorageDefaults
) -> list[tuple[Partner, StorageUsage]]:
    """Return every partner with its usage, largest first. Raises `Forbidden`."""
    require_operator(caller)
    uploads = select(ContactImport.partner_id, func.sum(SIZE)).where(STORED)
    other_queries = (
        select(kind.partner_id, func.sum(kind.size)).group_by(kind.partner_id)
        for kind in (BrandImage, OutsidePicture, CallRecording)
    )
    used: dict[UUID, int] = {}
    queries = (uploads.group_by(ContactImport.partner_id), *other_queries)
    for partner_id, size in session.execute(union_all(*queries)):
        used[partner_id] = used.get(partner_id, 0) + int(size or 0)
    partner_rows = session.scalars(select(Partner).order_by(Partner.name, Partner.id))
    usages = [
        (
            partner,
            StorageUsage(
                used.get(partner.id, 0), limit_of_partner(partner, defaults), partner.storage_limit
            ),
        )
        for partner in partner_rows
    ]
    return sorted(usages, key=lambda pair: -pair[1].used)


def largest_uploads(
    session: Session,
    caller: Caller,
    *,
    partner_id: UUID | None = None,
    organization_id: UUID | None = None,
) -> list[StoredUpload]:
    """Return the largest uploads, of the caller or of one partner or organization."""
    query: Select[Any] = of_tenant(
        select(ContactImport), caller, ContactImport.partner_id, ContactImport.organization_id
    ).where(STORED)
    if partner_id is not None:
        query = query.where(ContactImport.partner_id == partner_id)
    if organization_id is not None:
        query = query.where(ContactImport.organization_id == organization_id)
    condition = and_(
        Organization.id == ContactImport.organization_id,
        Organization.partner_id == ContactImport.partner_id,
    )
    query = query.join(Organization, condition).add_columns(Organization.name, SIZE)
    query = query.order_by(SIZE.desc(), ContactImport.id).limit(MAX_LISTED)
    rows: Sequence[Any] = session.execute(query).all()
    return [StoredUpload(row[0], row[1], row[2]) for row in rows]


def limit_of_organization(organization: Organization, defaults: StorageDefaults) -> int:
    limit = organization.storage_limit
    return defaults.organization if limit is None else limit


def limit_of_partner(partner: Partner, defaults: StorageDefaults) -> int:
    return defaults.partner if partner.storage_limit is None else partner.storage_limit


def require_operator(caller: Caller) -> None:
    caller.require_operator(
        gettext("Only the platform operator sees and sets the storage of partners.")
    )


def _uploads_query(partner_id: UUID) -> Select[Any]:
    return select(func.sum(SIZE)).where(ContactImport.partner_id == partner_id, STORED)
