"""The sizes of the lists, and one entry of a list."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.errors import NotFound
from app.models import DoNotCallEntry, Organization
from app.policy import Permission
from app.policy.caller import Caller
from app.services import name_search, organizations
from app.services.do_not_call.entries import WRITTEN
from app.services.organizations.loading import SORTS
from app.services.paging import Page, keyset_page


@dataclass(frozen=True, slots=True)
class ListSize:
    """The numbers on an organization's list, and when the latest of them was added."""

    numbers: int
    latest: datetime | None


def sizes(
    session: Session,
    caller: Caller,
    *,
    query: str | None = None,
    numbers: Collection[str] = (),
    cursor: str | None = None,
    limit: int = 50,
) -> tuple[Page[Organization], dict[UUID, ListSize]]:
    """Return the caller's organizations by name, each with the size of its list.

    ``query`` searches their names; ``numbers`` (E.164) keep those whose list
    contains one of them. Raises
    `Forbidden` and `ValidationFailed` (``invalid_cursor``).
    """
    caller.require(Permission.CONTACTS_READ)
    rows = organizations.visible(caller)
    if query:
        by_index = name_search.organizations_by_name(session, query)
        rows = rows.where(Organization.named(query))
        rows = rows if by_index is None else rows.where(by_index)
    if numbers:
        holding = select(DoNotCallEntry.organization_id).where(DoNotCallEntry.phone.in_(numbers))
        rows = rows.where(Organization.id.in_(holding))
    page = keyset_page(session, rows, SORTS["name"], cursor=cursor, limit=limit)
    counts = session.execute(
        select(DoNotCallEntry.organization_id, func.count(), func.max(DoNotCallEntry.created_at))
        .where(DoNotCallEntry.organization_id.in_([row.id for row in page.items]))
        .group_by(DoNotCallEntry.organization_id)
    )
    list_sizes = {row[0]: ListSize(row[1], row[2]) for row in counts}
    return page, {row.id: list_sizes.get(row.id, ListSize(0, None)) for row in page.items}


def entry(session: Session, caller: Caller, organization_id: UUID, number: str) -> DoNotCallEntry:
    """Return one entry by its number (E.164). Raises `NotFound` if it isn't on the list."""
    organizations.check(session, caller, organization_id)
    stored = None
    if WRITTEN.fullmatch(number):
        stored = session.get(DoNotCallEntry, (organization_id, number))
    if stored is None:
        raise NotFound
    return stored
