"""Spending limits that are nearly used, for the overview and the monthly report."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import BigInteger, ColumnElement, Select, and_, cast, or_, select
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus
from app.languages import gettext
from app.models import Organization, SpendingLimit, SpendingTotal, utcnow
from app.policy.caller import Caller
from app.services.spending.scopes import day_period, month_period
from app.services.tenancy import no_calls_message, of_tenant

NEAR = 80
"""Percentage from which a limit is nearly used."""


@dataclass(frozen=True, slots=True)
class NearSpendingLimit:
    """A limit that is nearly used, or ``is_reached``; ``organization_id`` and ``name`` are None for
    that of the partner. ``is_suspended``: the organization is."""

    organization_id: UUID | None
    name: str | None
    is_reached: bool
    is_suspended: bool

    @property
    def message(self) -> str:
        if self.is_reached:
            message = gettext("A spending limit is reached: calls are refused or wait.")
        else:
            message = gettext("A spending limit is nearly used.")
        return f"{message} {no_calls_message()}" if self.is_suspended else message


def near_limits(session: Session, caller: Caller, limit: int) -> list[NearSpendingLimit]:
    """Return at most this many limits of the caller's partner and its organizations, without
    archived ones, of which `NEAR` percent are used, in one query."""
    query = (
        _near_query(caller)
        .add_columns(Organization.name, Organization.status, _is_used(100))
        .outerjoin(Organization, Organization.id == SpendingLimit.organization_id)
        .where(or_(Organization.id.is_(None), Organization.status != OrganizationStatus.ARCHIVED))
        .order_by(SpendingLimit.scope.desc(), SpendingTotal.period.desc())
        .limit(2 * limit)
    )
    nearest: dict[UUID | None, NearSpendingLimit] = {}
    for limit_row, name, status, is_reached in session.execute(query):
        earlier = nearest.get(limit_row.organization_id)
        is_any_reached = bool(is_reached) or (earlier is not None and earlier.is_reached)
        nearest[limit_row.organization_id] = NearSpendingLimit(
            limit_row.organization_id,
            name,
            is_any_reached,
            is_suspended=status is OrganizationStatus.SUSPENDED,
        )
    return list(nearest.values())[:limit]


def any_near_limit(caller: Caller) -> ColumnElement[bool]:
    """Return the condition that `near_limits` finds any."""
    return _near_query(caller).exists()


def _near_query(caller: Caller) -> Select[SpendingLimit]:
    total, limit = SpendingTotal, SpendingLimit
    rows = of_tenant(select(limit), caller, limit.partner_id, limit.organization_id)
    rows = rows.join(total, total.scope == limit.scope)
    return rows.where(limit.api_key_id.is_(None), _is_used(NEAR))


def _is_used(percent: int) -> ColumnElement[bool]:
    """Return the condition that this percentage of a limit of this day or month is used."""
    now = utcnow()
    is_of_day = _is_used_in(percent, day_period(now), "day")
    return is_of_day | _is_used_in(percent, month_period(now), "month")


def _is_used_in(percent: int, period: str, name: str) -> ColumnElement[bool]:
    """Return the condition that this percentage of a limit of the period is spent or reserved."""
    total, limit = SpendingTotal, SpendingLimit
    money = 100 * (total.spent_micros + total.reserved_micros)
    time = 100 * (total.spent_seconds + total.reserved_seconds)
    minutes = cast(getattr(limit, f"{name}_minutes"), BigInteger)
    return and_(
        total.period == period,
        or_(
            money >= percent * getattr(limit, f"{name}_micros"),
            time >= percent * 60 * minutes,
        ),
    )
