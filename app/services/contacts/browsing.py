"""Contacts as screens page through them."""

from collections.abc import Collection, Sequence
from enum import StrEnum
from uuid import UUID

from sqlalchemy import ColumnElement, false, func, or_, select
from sqlalchemy.orm import Session

from app.errors import ValidationFailed
from app.models import Campaign, Contact, ContactExternalId, DoNotCallEntry, Organization
from app.phone import PhoneError, normalise
from app.services.contacts.rules import ENDED_STATUSES
from app.services.paging import Page

NO_STATUS = ":none"
"""Stands for contacts without a status, where a status is asked for."""

LOOKED_AT = 1000
"""So many of the newest contacts are looked at for the statuses that a screen offers."""

_PHONE_CHARACTERS = frozenset("+0123456789 ().-/\u00a0")


class Hindrance(StrEnum):
    """Why a contact can't be called."""

    NO_PHONE = "no-phone"
    DO_NOT_CALL = "do-not-call"
    ENDED = "ended"


def search(
    session: Session,
    campaign: Campaign,
    *,
    query: str | None = None,
    status: str | None = None,
    hindrance: Hindrance | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page[Contact]:
    """A screen of a campaign's contacts, newest first. The campaign must come from its loader.

    ``query`` is a whole number in any writing, a whole external id, or the beginning of an e-mail
    address or name. Numbers and ids are found by an index; names and addresses are looked for
    through the campaign. Raises `ValidationFailed` (``invalid_cursor``).
    """
    rows = select(Contact).where(Contact.campaign_id == campaign.id)
    words = (query or "").replace("\0", "").strip()
    if words:
        rows = rows.where(_matches(session, campaign, words))
    if status == NO_STATUS:
        rows = rows.where(Contact.status.is_(None))
    elif status is not None:
        rows = rows.where(Contact.status == status)
    if hindrance is not None:
        rows = rows.where(_hindered(campaign, hindrance))
    if cursor:
        try:
            rows = rows.where(Contact.id < UUID(cursor))
        except ValueError:
            message = "This place in the list can't be read; start from its beginning."
            raise ValidationFailed.on("cursor", "invalid_cursor", message) from None
    found = session.scalars(rows.order_by(Contact.id.desc()).limit(limit + 1)).all()
    items = found[:limit]
    return Page(items, str(items[-1].id) if len(found) > limit else None)


def statuses_of(session: Session, campaign: Campaign) -> Sequence[str]:
    """The statuses among the campaign's newest contacts, in order; see `LOOKED_AT`."""
    newest = (
        select(Contact.status)
        .where(Contact.campaign_id == campaign.id)
        .order_by(Contact.id.desc())
        .limit(LOOKED_AT)
        .subquery()
    )
    query = select(newest.c.status).where(newest.c.status.is_not(None)).distinct()
    return sorted(session.scalars(query))


def counts_of(session: Session, campaign_ids: Collection[UUID]) -> dict[UUID, int]:
    """How many contacts each campaign holds. The campaigns must come from their loader."""
    query = (
        select(Contact.campaign_id, func.count())
        .where(Contact.campaign_id.in_(campaign_ids))
        .group_by(Contact.campaign_id)
    )
    counted = {row[0]: int(row[1]) for row in session.execute(query)}
    return {key: counted.get(key, 0) for key in campaign_ids}


def _matches(session: Session, campaign: Campaign, words: str) -> ColumnElement[bool]:
    carriers = select(ContactExternalId.contact_id).where(
        ContactExternalId.campaign_id == campaign.id, ContactExternalId.value == words
    )
    conditions: list[ColumnElement[bool]] = [Contact.id.in_(carriers)]
    if set(words) <= _PHONE_CHARACTERS:
        number = _number(session, campaign, words)
        conditions.append(Contact.phone == number if number else false())
    elif "@" in words:
        conditions.append(Contact.email_key.startswith(words.lower(), autoescape=True))
    else:
        low = words.lower()
        first, last = func.lower(Contact.first_name), func.lower(Contact.last_name)
        conditions += [
            first.startswith(low, autoescape=True),
            last.startswith(low, autoescape=True),
            Contact.email_key.startswith(low, autoescape=True),
        ]
        conditions += [
            (first == before) & last.startswith(behind, autoescape=True)
            for before, behind in _parted(low)
        ]
    return or_(*conditions)


def _parted(words: str) -> list[tuple[str, str]]:
    """A first and a last name, for each blank that may stand between them."""
    parts = words.split()
    return [(" ".join(parts[:at]), " ".join(parts[at:])) for at in range(1, min(len(parts), 4))]


def _number(session: Session, campaign: Campaign, words: str) -> str | None:
    query = select(Organization.default_region).where(Organization.id == campaign.organization_id)
    try:
        return normalise(words, session.scalar(query))
    except PhoneError:
        return None


def _hindered(campaign: Campaign, hindrance: Hindrance) -> ColumnElement[bool]:
    match hindrance:
        case Hindrance.NO_PHONE:
            return Contact.phone.is_(None)
        case Hindrance.DO_NOT_CALL:
            listed = select(DoNotCallEntry.phone).where(
                DoNotCallEntry.organization_id == campaign.organization_id
            )
            return Contact.phone.in_(listed)
        case Hindrance.ENDED:
            return func.lower(func.trim(Contact.status)).in_(sorted(ENDED_STATUSES))
