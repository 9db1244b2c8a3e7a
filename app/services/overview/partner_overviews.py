"""The partners as the operator sees them, each with its organizations and conversations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from app.calendar_months import month_of
from app.enums import CallStatus
from app.models import Call, Partner, PartnerDay, PartnerTier, utcnow
from app.models.base import id_at
from app.policy import Permission
from app.policy.caller import Caller
from app.services.calls import LAST_DAY
from app.services.paging import Page, SortOrder, keyset_page
from app.services.partners.loading import has_name_or_domain, visible

_BY_NAME = func.lower(Partner.name)
SORT = SortOrder(_BY_NAME, read=lambda row: row.name.lower())


@dataclass(frozen=True, slots=True)
class PartnerOverview:
    """A partner with its organizations that aren't archived, the members of all of them, and this
    month's conversations (UTC)."""

    partner: Partner
    organizations: int
    members: int
    conversations: int
    failed_calls: int
    """Failed calls in the last 24 hours."""


def list_partners(
    session: Session, caller: Caller, *, query: str | None = None, cursor: str | None, limit: int
) -> Page[PartnerOverview]:
    """Return a page of partners by name: two queries. ``query`` searches names and domains.

    Raises `Forbidden` and `ValidationFailed` (``invalid_cursor``).
    """
    caller.require(Permission.PARTNER_READ)
    rows = visible(caller)
    if query:
        rows = rows.where(has_name_or_domain(query))
    page = keyset_page(session, rows, SORT, cursor=cursor, limit=limit)
    return Page(_to_overviews(session, page.items), page.next_cursor)


def overview_of(session: Session, partner: Partner) -> PartnerOverview:
    """Return a partner that came from its loader with its counts."""
    return _to_overviews(session, [partner])[0]


def _to_overviews(session: Session, rows: Sequence[Partner]) -> list[PartnerOverview]:
    of_partner = PartnerTier.partner_id == Partner.id
    counts: tuple[Select[Any], ...] = (
        select(func.sum(PartnerTier.organizations - PartnerTier.archived)).where(of_partner),
        select(func.sum(PartnerTier.users)).where(of_partner),
        select(func.sum(PartnerDay.conversations)).where(
            PartnerDay.partner_id == Partner.id, PartnerDay.day >= month_of(utcnow().date())
        ),
        select(func.count()).where(
            Call.partner_id == Partner.id,
            Call.status == CallStatus.FAILED,
            Call.id >= id_at(utcnow() - LAST_DAY),
        ),
    )
    query = select(Partner.id, *(each.scalar_subquery() for each in counts))
    numbers = {
        partner_id: [int(each or 0) for each in counted]
        for partner_id, *counted in session.execute(
            query.where(Partner.id.in_([partner.id for partner in rows]))
        )
    }
    return [PartnerOverview(partner, *numbers[partner.id]) for partner in rows]
