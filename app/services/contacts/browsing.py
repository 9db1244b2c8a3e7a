"""Contacts as screens page through them."""

from collections.abc import Collection
from uuid import UUID

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from app.errors import ValidationFailed
from app.models import Campaign, Contact
from app.services.paging import Page


def search(
    session: Session,
    campaign: Campaign,
    *,
    query: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page[Contact]:
    """A screen of a campaign's contacts, in the order they came; ``query`` looks in names,
    numbers and addresses. The campaign must come from its loader.

    Raises `ValidationFailed` (``invalid_cursor``).
    """
    rows = select(Contact).where(Contact.campaign_id == campaign.id)
    words = (query or "").replace("\0", "").strip()
    if words:
        columns = (Contact.first_name, Contact.last_name, Contact.phone, Contact.email)
        rows = rows.where(or_(*(column.icontains(words, autoescape=True) for column in columns)))
    if cursor:
        try:
            rows = rows.where(Contact.id > UUID(cursor))
        except ValueError:
            message = "This place in the list can't be read; start from its beginning."
            raise ValidationFailed.on("cursor", "invalid_cursor", message) from None
    found = session.scalars(rows.order_by(Contact.id).limit(limit + 1)).all()
    items = found[:limit]
    return Page(items, str(items[-1].id) if len(found) > limit else None)


def counts_of(session: Session, campaign_ids: Collection[UUID]) -> dict[UUID, int]:
    """How many contacts each campaign holds. The campaigns must come from their loader."""
    query = (
        select(Contact.campaign_id, func.count())
        .where(Contact.campaign_id.in_(campaign_ids))
        .group_by(Contact.campaign_id)
    )
    counted = {row[0]: int(row[1]) for row in session.execute(query)}
    return {key: counted.get(key, 0) for key in campaign_ids}
