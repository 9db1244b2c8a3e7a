"""Single numbers of the list: checking, listing, adding, removing."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Select, delete, exists, func, select
from sqlalchemy.orm import Session

from app.models import Call, DoNotCallEntry, utcnow
from app.models.folded_text import holds_words
from app.phone import normalise
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit, organizations
from app.services.calls.states import WAITING
from app.services.paging import MAX_COUNTED, Page, both_ways, count_up_to, keyset_page, sort_named
from app.validation.texts import trim

NUMBERS_A_QUERY = 5000
SORTS = both_ways(
    number=DoNotCallEntry.phone,
    added=DoNotCallEntry.created_at,
    reason=DoNotCallEntry.reason,
    source=DoNotCallEntry.source,
)
"""The sort orders of `listing`."""
WRITTEN = re.compile(r"\+[1-9][0-9]{1,14}", re.ASCII)
"""The format of every number on a list."""


def is_listed(session: Session, organization_id: UUID, phone: str) -> bool:
    """Return whether the organization must not call the number (E.164)."""
    return session.get(DoNotCallEntry, (organization_id, phone)) is not None


def listed_or_waiting(session: Session, organization_id: UUID, phone: str) -> tuple[bool, int]:
    """Return whether the number (E.164) is on the list, and how many of the organization's calls to
    it are not placed yet: one query."""
    on_list = exists().where(
        DoNotCallEntry.organization_id == organization_id, DoNotCallEntry.phone == phone
    )
    waiting = waiting_to(organization_id, [phone]).scalar_subquery()
    row = session.execute(select(on_list, waiting)).one()
    return bool(row[0]), row[1]


def waiting_to(organization_id: UUID, phones: Collection[str]) -> Select[int]:
    """Return the query of the number of the organization's calls to these numbers (E.164) that are
    not placed yet."""
    return select(func.count()).where(
        Call.organization_id == organization_id,
        Call.phone_number.in_(phones),
        Call.status.in_(WAITING),
    )


def listed_among(session: Session, organization_id: UUID, phones: Collection[str]) -> set[str]:
    """Return those of the numbers (E.164) that are on the list."""
    ordered = sorted(phones)
    numbers_listed: set[str] = set()
    for start in range(0, len(ordered), NUMBERS_A_QUERY):
        chunk = ordered[start : start + NUMBERS_A_QUERY]
        query = select(DoNotCallEntry.phone).where(
            DoNotCallEntry.organization_id == organization_id, DoNotCallEntry.phone.in_(chunk)
        )
        numbers_listed.update(session.scalars(query))
    return numbers_listed


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """The filters of a do-not-call list; ``query`` searches numbers and reasons."""

    query: str | None = None
    source: str | None = None


def listing(
    session: Session,
    caller: Caller,
    organization_id: UUID,
    filters: EntryFilter | None = None,
    *,
    sort: str = "number",
    cursor: str | None = None,
    limit: int = 50,
) -> Page[DoNotCallEntry]:
    """Return a page of the list. Raises `NotFound` and `ValidationFailed` (``unknown_sort``,
    ``invalid_cursor``)."""
    rows = _filter_entries(session, caller, organization_id, filters or EntryFilter())
    sort_order = sort_named(sort, SORTS)
    return keyset_page(
        session, rows, sort_order, cursor=cursor, limit=limit, key=DoNotCallEntry.phone
    )


def count(
    session: Session,
    caller: Caller,
    organization_id: UUID,
    filters: EntryFilter,
    *,
    most: int = MAX_COUNTED,
) -> int:
    """Return how many match, as `paging.count_up_to`. Raises `NotFound`."""
    rows = _filter_entries(session, caller, organization_id, filters)
    return count_up_to(session, rows.with_only_columns(DoNotCallEntry.phone), most)


def get_many(
    session: Session, caller: Caller, organization_id: UUID, phones: Collection[str]
) -> Sequence[DoNotCallEntry]:
    """Return those of the numbers (E.164) that are on the list, in order. Raises `NotFound`."""
    organizations.get(session, caller, organization_id)
    numbers = [phone for phone in phones if WRITTEN.fullmatch(phone)]
    rows = select(DoNotCallEntry).where(
        DoNotCallEntry.organization_id == organization_id, DoNotCallEntry.phone.in_(numbers)
    )
    return session.scalars(rows.order_by(DoNotCallEntry.phone)).all()


def _filter_entries(
    session: Session, caller: Caller, organization_id: UUID, filters: EntryFilter
) -> Select[DoNotCallEntry]:
    organizations.get(session, caller, organization_id)
    rows: Select[DoNotCallEntry] = select(DoNotCallEntry).where(
        DoNotCallEntry.organization_id == organization_id
    )
    query = trim(filters.query)
    if query:
        rows = rows.where(
            DoNotCallEntry.phone.icontains(query, autoescape=True)
            | holds_words(DoNotCallEntry.reason, query)
        )
    if filters.source is not None:
        rows = rows.where(DoNotCallEntry.source == filters.source)
    return rows


def add(
    session: Session,
    caller: Caller,
    organization_id: UUID,
    phone: str,
    *,
    reason: str | None = None,
    source: str = "portal",
) -> DoNotCallEntry:
    """Add a number to the list; a number that is on it keeps its first entry.

    Raises `Forbidden`, `NotFound` and `PhoneError`.
    """
    caller.require(Permission.CONTACTS_WRITE)
    organization = organizations.get(session, caller, organization_id, for_change=True)
    number = normalise(phone, organization.default_region)
    entry = session.get(DoNotCallEntry, (organization.id, number))
    if entry is not None:
        return entry
    entry = DoNotCallEntry(
        organization_id=organization.id,
        phone=number,
        partner_id=organization.partner_id,
        reason=trim(reason)[:500] or None,
        source=source,
        added_by=caller.label[:200],
        created_at=utcnow(),
    )
    session.add(entry)
    session.flush()
    audit.record(
        session,
        caller,
        action=audit.NUMBER_LISTED,
        target_type="do_not_call",
        target_id=number,
        partner_id=organization.partner_id,
        organization_id=organization.id,
        target=number,
        after={"reason": entry.reason, "source": source},
    )
    return entry


def remove(session: Session, caller: Caller, organization_id: UUID, phone: str) -> bool:
    """Remove a number from the list; return whether it was on it.

    Raises `Forbidden`, `NotFound` and `PhoneError`.
    """
    caller.require(Permission.CONTACTS_WRITE)
    organization = organizations.get(session, caller, organization_id, for_change=True)
    on_the_list = is_listed(session, organization.id, phone)
    number = phone if on_the_list else normalise(phone, organization.default_region)
    entry = session.get(DoNotCallEntry, (organization.id, number))
    if entry is None:
        return False
    audit.record(
        session,
        caller,
        action="do_not_call.removed",
        target_type="do_not_call",
        target_id=number,
        partner_id=organization.partner_id,
        organization_id=organization.id,
        target=number,
        before={"reason": entry.reason, "source": entry.source},
    )
    session.execute(
        delete(DoNotCallEntry).where(
            DoNotCallEntry.organization_id == organization.id, DoNotCallEntry.phone == number
        )
    )
    session.expunge(entry)
    session.flush()
    return True
