"""Spending limits for users: the operator sets those of partners, the partner those of its
organizations and API keys."""

from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import literal, select
from sqlalchemy.orm import Session, aliased

from app.calendar_months import month_after
from app.database import read_once
from app.errors import NotFound, Problem, check_version, raise_problems
from app.languages import gettext
from app.languages.numbers import localize_number
from app.models import (
    ApiKey,
    Organization,
    Partner,
    SpendingLimit,
    SpendingTotal,
    utcnow,
)
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit, partners
from app.services.forecasting import MonthEnd
from app.services.postponed_calls import request_rescheduling
from app.services.spending import rates
from app.services.spending.scopes import (
    KEY,
    ORGANIZATION,
    PARTNER,
    day_period,
    month_period,
    next_day,
    scope_key,
)
from app.services.spending.usage import LimitUsage, day_of_limit, month_end, outlook
from app.services.tenancy import fetch, get_organization, of_tenant

MAX_MICROS = 1_000_000_000 * rates.MICROS
MAX_MINUTES = 100_000_000
_AMOUNTS = {
    "day_micros": "dayMicros",
    "month_micros": "monthMicros",
    "day_minutes": "dayMinutes",
    "month_minutes": "monthMinutes",
}
"""Names of the amounts in refusals."""


@dataclass(frozen=True, slots=True)
class SpendingLimits:
    """Maximum cost (in millionths) and duration of calls in a day and in a month; None: no limit.
    ``waits`` and ``is_watched`` (unusual calls pause the calling) apply to organizations only."""

    day_micros: int | None = None
    month_micros: int | None = None
    day_minutes: int | None = None
    month_minutes: int | None = None
    waits: bool = False
    is_watched: bool = True


@dataclass(frozen=True, slots=True)
class SpendingState:
    """The limits of a partner, an organization or an API key, and their use. Money is in millionths
    of ``currency``, time in seconds. ``until`` is when the day and the month end."""

    limits: SpendingLimits
    version: int
    currency: str
    day_money: LimitUsage
    month_money: LimitUsage
    day_time: LimitUsage
    month_time: LimitUsage
    until: tuple[datetime, datetime]
    passed_on: tuple[date | None, date | None] = (None, None)
    """The days on which spending and minutes are expected to reach the limit of the month."""
    end: MonthEnd | None = None
    """The forecast of the month's spending; None if too few days are known."""

    @property
    def is_limited(self) -> bool:
        return any(getattr(self.limits, name) is not None for name in _AMOUNTS)


@dataclass(frozen=True, slots=True)
class LimitSubject:
    """The subject of limits: exactly one of the three."""

    partner_id: UUID | None = None
    organization_id: UUID | None = None
    api_key_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class ScopeTotals:
    """The ``stored`` limits and budget of a scope, and its totals in a day and its month, None for
    what isn't stored. Amounts are in millionths of ``currency``."""

    currency: str
    stored: SpendingLimit | None
    day: SpendingTotal | None
    month: SpendingTotal | None


KINDS = {Partner: PARTNER, Organization: ORGANIZATION, ApiKey: KEY}


def spending_of(
    session: Session, caller: Caller, subject: LimitSubject, *, ahead: bool = False
) -> SpendingState:
    """Return the limits of the subject and their current use; ``ahead`` adds the forecast of this
    month. Raises `Forbidden`, `NotFound`."""
    row = subject_row(session, caller, subject)
    scope = scope_key(KINDS[type(row)], row.id)
    now = utcnow()
    used = _spending_state(totals_of(session, scope, now), now)
    if not ahead:
        return used
    days = outlook(session, SpendingTotal.scope == scope, now)
    money = day_of_limit(days.money, used.month_money, used.day_money, days.today)
    time = day_of_limit(days.time, used.month_time, used.day_time, days.today)
    end = month_end(days, used.month_money.spent, used.day_money.spent)
    return replace(used, passed_on=(money, time), end=end)


def totals_of(session: Session, scope: str, now: datetime) -> ScopeTotals:
    """Return the limits of a scope and its totals of the day and the month of ``now``, in one query
    with the currency. A read-only transaction reads them once."""
    periods = day_period(now), month_period(now)
    return read_once(session, (ScopeTotals, scope, periods), lambda: _read(session, scope, periods))


def _read(session: Session, scope: str, periods: tuple[str, str]) -> ScopeTotals:
    day, month = aliased(SpendingTotal), aliased(SpendingTotal)
    asked = select(literal(scope).label("scope")).subquery()
    of_scope = asked.c.scope
    query = (
        select(rates.stored_currency().scalar_subquery(), SpendingLimit, day, month)
        .select_from(asked)
        .outerjoin(SpendingLimit, SpendingLimit.scope == of_scope)
        .outerjoin(day, (day.scope == of_scope) & (day.period == periods[0]))
        .outerjoin(month, (month.scope == of_scope) & (month.period == periods[1]))
        .execution_options(populate_existing=True)
    )
    currency, stored, of_day, of_month = session.execute(query).one()
    return ScopeTotals(rates.remember_currency(session, currency), stored, of_day, of_month)


def _spending_state(totals: ScopeTotals, now: datetime) -> SpendingState:
    """Return the stored limits with the totals of their scope."""
    limits, day, month = _limits_of(totals.stored), totals.day, totals.month
    return SpendingState(
        limits,
        totals.stored.version if totals.stored else 0,
        totals.currency,
        _money_use(day, limits.day_micros),
        _money_use(month, limits.month_micros),
        _time_use(day, limits.day_minutes),
        _time_use(month, limits.month_minutes),
        (next_day(now), month_after(now)),
    )


def of_partners(
    session: Session, caller: Caller
) -> tuple[list[tuple[Partner, SpendingState]], MonthEnd | None]:
    """Return every partner by name with its limits and their use, and the forecast of the spending
    of all together this month. Raises `Forbidden`."""
    rates.require_operator(caller)
    now, currency = utcnow(), rates.currency_of(session)
    is_own_limit = (
        (SpendingLimit.partner_id == Partner.id)
        & SpendingLimit.organization_id.is_(None)
        & SpendingLimit.api_key_id.is_(None)
    )
    all_partners = (
        select(Partner, SpendingLimit)
        .outerjoin(SpendingLimit, is_own_limit)
        .order_by(Partner.name, Partner.id)
    )
    is_partners = SpendingTotal.organization_id.is_(None)
    rows = session.scalars(
        select(SpendingTotal).where(
            is_partners, SpendingTotal.period.in_((day_period(now), month_period(now)))
        )
    )
    totals = {(total.scope, total.period): total for total in rows}
    used = [
        (
            partner,
            _spending_state(
                ScopeTotals(
                    currency,
                    limit,
                    totals.get((scope, day_period(now))),
                    totals.get((scope, month_period(now))),
                ),
                now,
            ),
        )
        for partner, limit in session.execute(all_partners)
        for scope in (scope_key(PARTNER, partner.id),)
    ]
    month = sum(each.month_money.spent for _, each in used)
    today = sum(each.day_money.spent for _, each in used)
    return used, month_end(outlook(session, is_partners, now), month, today)


def change(
    session: Session,
    caller: Caller,
    subject: LimitSubject,
    limits: SpendingLimits,
    *,
    expected_version: int | None = None,
) -> bool:
    """Store the limits of the subject, from the next call on; return whether anything changed.
    Calls that wait for a limit are scheduled again.

    Raises `Forbidden`, `NotFound`, `ValidationFailed` (``out_of_range``) and `Conflict`
    (``changed_meanwhile``).
    """
    if subject.partner_id is not None:
        rates.require_operator(caller)
    elif subject.organization_id is not None:
        caller.require(Permission.PARTNER_WRITE)
    row = subject_row(session, caller, subject, for_change=True)
    message = gettext(
        "Enter an amount from 0 to %(most)s.", most=localize_number(MAX_MICROS // rates.MICROS)
    )
    problems = [
        Problem(field, "out_of_range", message)
        for name, field in _AMOUNTS.items()
        if not _is_in_range(name, getattr(limits, name))
    ]
    raise_problems(problems)
    scope = scope_key(KINDS[type(row)], row.id)
    stored = session.get(SpendingLimit, scope, populate_existing=True)
    before = _limits_of(stored)
    if before == limits:
        return False
    check_version(expected_version, stored.version if stored else 0, "spending limits")
    if stored is None:
        stored = new_limit(scope, row)
        session.add(stored)
    for name, value in asdict(limits).items():
        setattr(stored, name, value)
    stored.version += 1
    session.flush()
    _record(session, caller, row, before, limits)
    request_rescheduling(session, stored.partner_id, stored.organization_id)
    return True


def limit_new_partner(
    session: Session, caller: Caller, partner: Partner, micros_a_day: int | None
) -> None:
    """Give a partner that the caller has just created the installation's daily limit."""
    if micros_a_day is None:
        return
    limits = SpendingLimits(day_micros=micros_a_day)
    stored = new_limit(scope_key(PARTNER, partner.id), partner)
    stored.day_micros, stored.version = micros_a_day, 1
    session.add(stored)
    _record(session, caller, partner, SpendingLimits(), limits)


def exempt_from_watch(session: Session, organization: Organization, until: datetime) -> None:
    """Exempt an organization, locked for a change, from the watch for unusual calls until then."""
    scope = scope_key(ORGANIZATION, organization.id)
    stored = session.get(SpendingLimit, scope, populate_existing=True)
    if stored is None:
        stored = new_limit(scope, organization)
        session.add(stored)
    stored.left_alone_until = until
    session.flush()


def copy_to_key(session: Session, old: ApiKey, new: ApiKey) -> None:
    """Copy the limits of the replaced key to a key."""
    stored = session.get(SpendingLimit, scope_key(KEY, old.id))
    if stored is None:
        return
    copied = new_limit(scope_key(KEY, new.id), new)
    for name in _AMOUNTS:
        setattr(copied, name, getattr(stored, name))
    session.add(copied)


def subject_row(
    session: Session, caller: Caller, subject: LimitSubject, *, for_change: bool = False
) -> Partner | Organization | ApiKey:
    """Return the subject, loaded as its own screens load it."""
    if subject.partner_id is not None:
        caller.require(Permission.PARTNER_WRITE)
        return partners.get(session, caller, subject.partner_id, for_change=for_change)
    if subject.organization_id is not None:
        caller.require(Permission.ORGANIZATIONS_READ)
        return get_organization(session, caller, subject.organization_id, for_change=for_change)
    caller.require(Permission.CREDENTIALS_MANAGE)
    query = of_tenant(select(ApiKey), caller, ApiKey.partner_id, ApiKey.organization_id)
    missing = NotFound(gettext("There is no such key."), "key_not_found")
    query = query.where(ApiKey.id == subject.api_key_id)
    key = (ApiKey, caller, subject.api_key_id)
    return fetch(session, query, missing, for_change=for_change, key=key)


def _limits_of(stored: SpendingLimit | None) -> SpendingLimits:
    if stored is None:
        return SpendingLimits()
    return SpendingLimits(
        stored.day_micros,
        stored.month_micros,
        stored.day_minutes,
        stored.month_minutes,
        stored.waits,
        stored.is_watched,
    )


def new_limit(scope: str, row: Partner | Organization | ApiKey) -> SpendingLimit:
    limit = SpendingLimit(scope=scope, waits=False, is_watched=True, version=0)
    match row:
        case Partner():
            limit.partner_id = row.id
        case Organization():
            limit.partner_id, limit.organization_id = row.partner_id, row.id
        case ApiKey():
            limit.partner_id, limit.organization_id = row.partner_id, row.organization_id
            limit.api_key_id = row.id
    return limit


def _is_in_range(name: str, value: int | None) -> bool:
    maximum = MAX_MICROS if name.endswith("micros") else MAX_MINUTES
    return value is None or 0 <= value <= maximum


def _money_use(total: SpendingTotal | None, limit: int | None) -> LimitUsage:
    return (
        LimitUsage(total.spent_micros, total.reserved_micros, limit)
        if total
        else LimitUsage(0, 0, limit)
    )


def _time_use(total: SpendingTotal | None, minutes: int | None) -> LimitUsage:
    limit = None if minutes is None else minutes * 60
    return (
        LimitUsage(total.spent_seconds, total.reserved_seconds, limit)
        if total
        else LimitUsage(0, 0, limit)
    )


def _record(
    session: Session, caller: Caller, row: Any, before: SpendingLimits, after: SpendingLimits
) -> None:
    action = f"{KINDS[type(row)]}.spending_limited"
    audit.record_change(
        session,
        caller,
        action,
        row,
        before=_audit_values(session, before),
        after=_audit_values(session, after),
    )


def _audit_values(session: Session, limits: SpendingLimits) -> dict[str, Any]:
    """Return the limits as the history shows them."""
    amounts: dict[str, Any] = {
        "spendingADay": limits.day_micros,
        "spendingAMonth": limits.month_micros,
    }
    amounts = {name: rates.audit_amount(session, micros) for name, micros in amounts.items()}
    return amounts | {
        "minutesADay": limits.day_minutes,
        "minutesAMonth": limits.month_minutes,
        "spendingWaits": limits.waits,
        "unusualCallsWatched": limits.is_watched,
    }
