"""Spending limits that are nearly used, for the overview and the monthly report."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import Session

from app.languages import gettext
from app.models import Organization, SpendingLimit, SpendingTotal, utcnow
from app.policy.caller import Caller
from app.services.spending.scopes import day_of, month_of
from app.services.tenancy import of_tenant

NEAR = 80
"""From this percentage on, a limit is nearly used."""


@dataclass(frozen=True, slots=True)
class NearLimit:
    """A limit that is nearly used, or ``is_reached``; ``organization_id`` and ``name`` are None for
    that of the partner."""

    organization_id: UUID | None
    name: str | None
    is_reached: bool

    @property
    def words(self) -> str:
        if self.is_reached:
            return gettext("A spending limit is reached: calls are refused or wait.")
        return gettext("A spending limit is nearly used.")


def near_limits(session: Session, caller: Caller, most: int) -> list[NearLimit]:
    """At most so many limits of the caller's partner and its organizations of which `NEAR` percent
    are used, in one query."""
    now, total, limit = utcnow(), SpendingTotal, SpendingLimit
    query = (
        of_tenant(select(limit), caller, limit.partner_id, limit.organization_id)
        .add_columns(
            Organization.name,
            or_(_is_used(100, day_of(now), "day"), _is_used(100, month_of(now), "month")),
        )
        .join(total, total.scope == limit.scope)
        .outerjoin(Organization, Organization.id == limit.organization_id)
        .where(
            limit.api_key_id.is_(None),
            or_(_is_used(NEAR, day_of(now), "day"), _is_used(NEAR, month_of(now), "month")),
        )
        .order_by(limit.scope.desc(), total.period.desc())
        .limit(2 * most)
    )
    found: dict[UUID | None, NearLimit] = {}
    for near, name, is_reached in session.execute(query):
        known = found.get(near.organization_id)
        is_any_reached = bool(is_reached) or (known is not None and known.is_reached)
        found[near.organization_id] = NearLimit(near.organization_id, name, is_any_reached)
    return list(found.values())[:most]


def _is_used(percent: int, period: str, name: str) -> ColumnElement[bool]:
    """Whether so much of a limit of the period is spent or reserved."""
    total, limit = SpendingTotal, SpendingLimit
    money = 100 * (total.spent_micros + total.reserved_micros)
    time = 100 * (total.spent_seconds + total.reserved_seconds)
    minutes = getattr(limit, f"{name}_minutes")
    return and_(
        total.period == period,
        or_(
            money >= percent * getattr(limit, f"{name}_micros"),
            time >= percent * 60 * minutes,
        ),
    )
