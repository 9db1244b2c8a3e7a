"""Read contacts: one, a page for the API, and the list and search of screens."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, func, or_, select
from sqlalchemy.orm import Session, aliased

from app.database import read_once
from app.enums import ENDED_CONTACT_STATUSES
from app.errors import NotFound, ValidationFailed
from app.languages import gettext
from app.models import Campaign, Contact, ContactExternalId, DoNotCallEntry, Organization
from app.models.base import contains_words
from app.phone import PhoneError, normalise
from app.policy.caller import Caller
from app.schemas.contacts import ContactFilter, StoredContact
from app.services import campaigns
from app.services.calls.message_templates import fillable
from app.services.calls.rules import REFUSED
from app.services.number_search import numbers_meant
from app.services.paging import (
    MAX_COUNTED,
    Page,
    both_ways,
    count_up_to,
    keyset_page,
    sort_named,
)
from app.validation.texts import trim

NO_STATUS = ":none"
"""The filter for contacts without a status."""
SORTS = both_ways(
    created=Contact.id,
    name=Contact.sort_name,
    status=Contact.status,
    phone=Contact.phone,
    email=Contact.email_key,
)
"""The sort orders of `search`; ids begin with the time."""
LOOKED_AT = 1000
"""How many of the newest contacts are searched for the statuses that a screen offers, and for the
names of metadata."""
NAMED_AMONG = 100_000
"""How many of the newest contacts of all campaigns are searched for a name."""
_PHONE_CHARACTERS = frozenset("+0123456789 ().-/\u00a0")


@dataclass(frozen=True, slots=True)
class ContactPage:
    """Contacts, newest first; ``more``: older ones follow."""

    items: Sequence[StoredContact]
    more: bool


def get(session: Session, caller: Caller, campaign_id: UUID, contact_id: UUID) -> StoredContact:
    """Return a contact; a read-only transaction reads it once. Raises `NotFound`
    (``campaign_not_found``, ``contact_not_found``)."""
    key = (Contact, caller, campaign_id, contact_id)
    return read_once(session, key, lambda: _get(session, caller, campaign_id, contact_id))


def _get(session: Session, caller: Caller, campaign_id: UUID, contact_id: UUID) -> StoredContact:
    campaign = campaigns.get(session, caller, campaign_id)
    rows = session.execute(
        select(Contact, ContactExternalId.key, ContactExternalId.value)
        .outerjoin(ContactExternalId, ContactExternalId.contact_id == Contact.id)
        .where(Contact.campaign_id == campaign.id, Contact.id == contact_id)
        .order_by(ContactExternalId.key)
    ).all()
    if not rows:
        message = gettext("There is no such contact in the campaign.")
        raise NotFound(message, "contact_not_found")
    return _stored(rows[0].Contact, {row.key: row.value for row in rows if row.key is not None})


def page(
    session: Session,
    caller: Caller,
    campaign_id: UUID,
    filters: ContactFilter,
    *,
    before: UUID | None = None,
) -> ContactPage:
    """Return the campaign's contacts that match every filter, newest first, starting after
    ``before``.

    Raises `NotFound` (``campaign_not_found``) and `ValidationFailed` (``invalid_phone``).
    """
    campaign = campaigns.get(session, caller, campaign_id)
    query = select(Contact).where(Contact.campaign_id == campaign.id)
    if filters.phone is not None:
        query = query.where(Contact.phone.in_(_parse_numbers(session, campaign, filters.phone)))
    if filters.email is not None:
        query = query.where(Contact.email_key == filters.email.lower())
    if filters.status is not None:
        query = query.where(Contact.status == filters.status)
    if filters.external_id_value is not None:
        carriers = select(ContactExternalId.contact_id).where(
            ContactExternalId.campaign_id == campaign.id,
            ContactExternalId.value == filters.external_id_value.strip(),
        )
        query = query.where(Contact.id.in_(carriers))
    if before is not None:
        query = query.where(Contact.id < before)
    rows = session.scalars(query.order_by(Contact.id.desc()).limit(filters.per_page + 1)).all()
    return ContactPage(
        _load_details(session, rows[: filters.per_page]), more=len(rows) > filters.per_page
    )


def _parse_numbers(session: Session, campaign: Campaign, text: str) -> list[str]:
    """Return the numbers in E.164 that the text can mean: in a URL an unescaped + becomes a space.
    Raises `ValidationFailed` (``invalid_phone``) if it means none."""
    region = session.get_one(Organization, campaign.organization_id).default_region
    readings = [text, f"+{text[1:]}"] if text.startswith(" ") else [text]
    numbers, refused = [], []
    for reading in readings:
        try:
            numbers.append(normalise(reading, region))
        except PhoneError as error:
            refused.append(error.message)
    if not numbers:
        raise ValidationFailed.on("phone", "invalid_phone", refused[0])
    return numbers


def _load_details(session: Session, contacts: Sequence[Contact]) -> list[StoredContact]:
    ids: dict[UUID, dict[str, str]] = {contact.id: {} for contact in contacts}
    query = (
        select(ContactExternalId.contact_id, ContactExternalId.key, ContactExternalId.value)
        .where(ContactExternalId.contact_id.in_(ids))
        .order_by(ContactExternalId.key)
    )
    for contact_id, key, value in session.execute(query):
        ids[contact_id][key] = value
    return [_stored(contact, ids[contact.id]) for contact in contacts]


def _stored(contact: Contact, external_ids: dict[str, str]) -> StoredContact:
    return StoredContact(
        id=contact.id,
        first_name=contact.first_name,
        last_name=contact.last_name,
        email=contact.email,
        phone=contact.phone,
        contact_metadata=contact.contact_metadata or {},
        status=contact.status,
        external_ids=external_ids,
        created_at=contact.created_at,
        updated_at=contact.updated_at,
    )


class CallObstacle(StrEnum):
    """Why a contact can't be called."""

    NO_PHONE = "no-phone"
    DO_NOT_CALL = "do-not-call"
    REFUSED = "refused"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class ContactSearch:
    """The filters of a campaign's contacts; ``query`` is a whole number in any notation, a whole
    external id, or the beginning of an email address or name. Numbers and ids are found by an
    index; names and addresses by a scan of the campaign."""

    query: str | None = None
    status: str | None = None
    obstacle: CallObstacle | None = None


def search(
    session: Session,
    campaign: Campaign,
    filters: ContactSearch | None = None,
    *,
    sort: str = "-created",
    cursor: str | None = None,
    limit: int = 50,
) -> Page[Contact]:
    """Return a page of a campaign's contacts. The campaign must come from its loader. Raises
    `ValidationFailed` (``unknown_sort``, ``invalid_cursor``)."""
    rows = _filter_contacts(session, campaign, filters or ContactSearch())
    return keyset_page(session, rows, sort_named(sort, SORTS), cursor=cursor, limit=limit)


def count(
    session: Session, campaign: Campaign, filters: ContactSearch, *, most: int = MAX_COUNTED
) -> int:
    """Return how many match, as `paging.count_up_to`; all of them without a query."""
    if not (trim(filters.query) or filters.status or filters.obstacle):
        return min(campaign.contact_count, most + 1)
    rows = _filter_contacts(session, campaign, filters)
    return count_up_to(session, rows.with_only_columns(Contact.id), most)


def _filter_contacts(
    session: Session, campaign: Campaign, filters: ContactSearch
) -> Select[Contact]:
    query = trim(filters.query)
    matching_ids = _known_ids(session, campaign, query) if query else None
    listed_ids = _listed_ids(campaign) if filters.obstacle is CallObstacle.DO_NOT_CALL else None
    by_index = [ids for ids in (matching_ids, listed_ids) if ids is not None]
    # The campaign isn't part of this query: the databases would scan the campaign.
    rows = select(Contact).where(*(Contact.id.in_(ids) for ids in by_index))
    if not by_index:
        rows = rows.where(Contact.campaign_id == campaign.id)
    if query and matching_ids is None:
        rows = rows.where(_begins_with(query))
    if filters.status == NO_STATUS:
        rows = rows.where(Contact.status.is_(None))
    elif filters.status is not None:
        rows = rows.where(Contact.status == filters.status)
    if filters.obstacle is CallObstacle.NO_PHONE:
        rows = rows.where(Contact.phone.is_(None))
    elif filters.obstacle is CallObstacle.REFUSED:
        rows = rows.where(Contact.consent == REFUSED)
    elif filters.obstacle is CallObstacle.ENDED:
        rows = rows.where(_has_ended())
    return rows


def get_many(session: Session, campaign: Campaign, ids: Collection[UUID]) -> Sequence[Contact]:
    """Return those of the contacts that are in the campaign, newest first. The campaign must come
    from its loader."""
    rows = select(Contact).where(Contact.campaign_id == campaign.id, Contact.id.in_(ids))
    return session.scalars(rows.order_by(Contact.id.desc())).all()


def find_by_address(
    session: Session, caller: Caller, text: str, *, limit: int
) -> Sequence[tuple[Contact, Campaign]]:
    """Return the contacts of all campaigns that the caller may use with this whole email address,
    or this whole number in any notation, newest first, each with its campaign."""
    query = trim(text)
    if "@" in query:
        condition = Contact.email_key == query.lower()
    elif query and set(query) <= _PHONE_CHARACTERS:
        condition = Contact.phone.in_(numbers_meant(session, caller, query))
    else:
        return []
    # Not just a join, for which SQLite may scan the contacts.
    campaign_ids = campaigns.visible(caller).with_only_columns(Campaign.id)
    rows = (
        select(Contact, Campaign)
        .join(Campaign, Campaign.id == Contact.campaign_id)
        .where(Contact.campaign_id.in_(campaign_ids), condition)
        .order_by(Contact.id.desc())
        .limit(limit)
    )
    return [(contact, campaign) for contact, campaign in session.execute(rows)]


def find_by_name(
    session: Session, caller: Caller, text: str, *, limit: int
) -> Sequence[tuple[Contact, Campaign]]:
    """Return the contacts of all campaigns that the caller may use with a name of which a part
    begins with each word, newest first, each with its campaign; among the newest `NAMED_AMONG`,
    since no index holds the names of all campaigns."""
    campaign_ids = campaigns.visible(caller).with_only_columns(Campaign.id)
    newest = (
        select(Contact.id)
        .where(Contact.campaign_id.in_(campaign_ids))
        .order_by(Contact.id.desc())
        .limit(NAMED_AMONG)
        .subquery()
    )
    rows = (
        select(Contact, Campaign)
        .join(newest, newest.c.id == Contact.id)
        .join(Campaign, Campaign.id == Contact.campaign_id)
        .where(_has_name(text))
        .order_by(Contact.id.desc())
        .limit(limit)
    )
    return [(contact, campaign) for contact, campaign in session.execute(rows)]


def statuses_of(session: Session, campaign: Campaign) -> Sequence[str]:
    """Return the statuses among the campaign's newest contacts, in order; see `LOOKED_AT`."""
    newest = (
        select(Contact.status)
        .where(Contact.campaign_id == campaign.id)
        .order_by(Contact.id.desc())
        .limit(LOOKED_AT)
        .subquery()
    )
    query = select(newest.c.status).where(newest.c.status.is_not(None)).distinct()
    return sorted(session.scalars(query))


def metadata_names(session: Session, campaign: Campaign) -> set[str]:
    """Return the names of metadata of the campaign's newest contacts that fill placeholders."""
    newest = (
        select(Contact.contact_metadata)
        .where(Contact.campaign_id == campaign.id)
        .order_by(Contact.id.desc())
        .limit(LOOKED_AT)
    )
    return {name for metadata in session.scalars(newest) for name in fillable(metadata or {})}


def _known_ids(session: Session, campaign: Campaign, text: str) -> Select[UUID] | None:
    """Return the contacts with this number or external id; None if it is neither."""
    carriers = select(ContactExternalId.contact_id).where(
        ContactExternalId.campaign_id == campaign.id, ContactExternalId.value == text
    )
    if set(text) <= _PHONE_CHARACTERS:
        number = _searched_number(session, campaign, text)
        if number is None:
            return carriers
        owners = select(Contact.id).where(
            Contact.campaign_id == campaign.id, Contact.phone == number
        )
        matches = carriers.union_all(owners).subquery()
        return select(matches.c[0])
    return carriers if session.scalar(carriers.limit(1)) else None


def _listed_ids(campaign: Campaign) -> Select[UUID]:
    """Return the contacts whose numbers are on the do-not-call list."""
    numbers = select(DoNotCallEntry.phone).where(
        DoNotCallEntry.organization_id == campaign.organization_id
    )
    contact = aliased(Contact)
    return select(contact.id).where(contact.campaign_id == campaign.id, contact.phone.in_(numbers))


def _has_ended() -> ColumnElement[bool]:
    """Return the condition of `ends_outreach`; comparing the length first is cheaper."""
    long_enough = func.length(Contact.status) >= min(map(len, ENDED_CONTACT_STATUSES))
    return long_enough & func.lower(func.trim(Contact.status)).in_(sorted(ENDED_CONTACT_STATUSES))


def _begins_with(text: str) -> ColumnElement[bool]:
    """Return the condition for an email address that begins with the words, or a name with parts
    that begin with each word."""
    in_address = Contact.email_key.startswith(text.lower(), autoescape=True)
    return in_address if "@" in text else or_(in_address, _has_name(text))


def _has_name(name: str) -> ColumnElement[bool]:
    names = (Contact.first_name, Contact.last_name)
    return and_(
        *(contains_words(Contact.search_name, names, word, after=" ") for word in name.split())
    )


def _searched_number(session: Session, campaign: Campaign, text: str) -> str | None:
    query = select(Organization.default_region).where(Organization.id == campaign.organization_id)
    try:
        return normalise(text, session.scalar(query))
    except PhoneError:
        return None
