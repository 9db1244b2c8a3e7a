"""Spending of calls against the limits: reserved before dialing, settled when an attempt ends.

A limited call reserves the price of the longest call, with the totals of its scopes locked: spent
and reserved amounts together never exceed a limit, however many workers dial. The rest is released
when the attempt ends. Calls that aren't live, and test calls on the simulated carrier, cost
nothing.

Totals are always locked in the order of their keys, and after the sums of `app.services.rollup`.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from sqlalchemy import and_, select
from sqlalchemy.orm import Session, aliased

from app import languages
from app.calendar_months import month_after
from app.config.calls import MAX_CALL_MINUTES
from app.enums import CarrierKind
from app.languages import lazy_gettext
from app.models import Call, CallAttempt, SpendingLimit, SpendingTotal
from app.services import rollup
from app.services.spending import rates
from app.services.spending.scopes import (
    KEY,
    ORGANIZATION,
    PARTNER,
    Spender,
    day_period,
    month_period,
    next_day,
)
from app.services.uniqueness import insert_into

REACHED = "spend_cap_reached"
MONEY, TIME = "money", "time"
DAY, MONTH = "day", "month"
_REASONS: dict[tuple[str, str, str], str] = {
    (ORGANIZATION, MONEY, DAY): lazy_gettext(
        "The organization's spending limit for today is reached."
    ),
    (ORGANIZATION, MONEY, MONTH): lazy_gettext(
        "The organization's spending limit for this month is reached."
    ),
    (ORGANIZATION, TIME, DAY): lazy_gettext(
        "The organization's limit of call minutes for today is reached."
    ),
    (ORGANIZATION, TIME, MONTH): lazy_gettext(
        "The organization's limit of call minutes for this month is reached."
    ),
    (PARTNER, MONEY, DAY): lazy_gettext("The portal's spending limit for today is reached."),
    (PARTNER, MONEY, MONTH): lazy_gettext("The portal's spending limit for this month is reached."),
    (PARTNER, TIME, DAY): lazy_gettext("The portal's limit of call minutes for today is reached."),
    (PARTNER, TIME, MONTH): lazy_gettext(
        "The portal's limit of call minutes for this month is reached."
    ),
    (KEY, MONEY, DAY): lazy_gettext("The API key's spending limit for today is reached."),
    (KEY, MONEY, MONTH): lazy_gettext("The API key's spending limit for this month is reached."),
    (KEY, TIME, DAY): lazy_gettext("The API key's limit of call minutes for today is reached."),
    (KEY, TIME, MONTH): lazy_gettext(
        "The API key's limit of call minutes for this month is reached."
    ),
}
"""The limited amount and its period, by kind of scope."""
_AMOUNT_COLUMNS = ("spent_micros", "spent_seconds", "reserved_micros", "reserved_seconds")


@dataclass(frozen=True, slots=True)
class SpendingStop:
    """A limit without room for a call: the reason, as an English sentence that pages translate, and
    the end of its day or month.

    ``frees_up``: the call would fit once other calls have ended. ``waits`` is the organization's
    setting for direct calls.
    """

    reason: str
    until: datetime
    frees_up: bool
    waits: bool


@dataclass(frozen=True, slots=True)
class CallAmount:
    """An amount of money and time."""

    micros: int
    seconds: int


@dataclass(frozen=True, slots=True)
class _TotalAmounts:
    """The content of a total; zero if there is no row."""

    spent: CallAmount
    reserved: CallAmount

    @classmethod
    def of(cls, row: Sequence[int | None]) -> "_TotalAmounts":
        micros, seconds, reserved_micros, reserved_seconds = (value or 0 for value in row)
        return cls(CallAmount(micros, seconds), CallAmount(reserved_micros, reserved_seconds))


def check(
    session: Session,
    spender: Spender,
    phone_number: str,
    now: datetime,
    *,
    max_call_minutes: int = MAX_CALL_MINUTES,
) -> SpendingStop | None:
    """Return the limit that prevents a live call from being placed now; None if it fits. Without
    limits this is one query."""
    limits = _load_limits(session, spender, now)
    if not limits:
        return None
    return _find_stop(limits, needed(session, phone_number, max_call_minutes))


def needed(session: Session, phone_number: str, max_call_minutes: int) -> CallAmount:
    """Return the cost of the longest call to the number."""
    rate, seconds = rates.rate_of(session, phone_number), max_call_minutes * 60
    return CallAmount(rate.price(seconds), rate.charged_seconds(seconds))


def reserve(
    session: Session, call: Call, now: datetime, *, max_call_minutes: int = MAX_CALL_MINUTES
) -> SpendingStop | CallAmount:
    """Reserve the price of the longest call in every total of a locked live call whose scopes have
    limits, or return the limit that is in the way. Without limits nothing is reserved."""
    spender = Spender.of(call)
    if not _load_limits(session, spender, now):
        return CallAmount(0, 0)
    amount = needed(session, call.phone_number, max_call_minutes)
    _lock_totals(session, spender, now)
    if stop := _find_stop(_load_limits(session, spender, now), amount):
        return stop
    _add_to_totals(session, spender, now, (0, 0, amount.micros, amount.seconds))
    return amount


def settle(session: Session, call: Call, attempt: CallAttempt) -> None:
    """Charge the actual cost of a locked attempt that has ended, and release its reservation.

    The carrier's cost counts if it is in the currency of the rates; else an answered attempt is
    charged by its length, at most its reservation. It may be repeated: a later cost corrects the
    totals.
    """
    if not call.live:
        return
    charge = CallAmount(0, 0)
    if call.is_charged and (attempt.answered_at is not None or attempt.cost is not None):
        rate = rates.rate_of(session, call.phone_number)
        charge = _charge(attempt, rate)
        _count_for_billing(session, call, attempt, charge, rate.currency)
    change = (
        charge.micros - attempt.charged_micros,
        charge.seconds - attempt.charged_seconds,
        -attempt.reserved_micros,
        -attempt.reserved_seconds,
    )
    if not any(change):
        return
    _add_to_totals(session, Spender.of(call), attempt.started_at, change)
    attempt.charged_micros, attempt.charged_seconds = charge.micros, charge.seconds
    attempt.reserved_micros = attempt.reserved_seconds = 0


def add_spent(session: Session, spender: Spender, at: datetime, amount: CallAmount) -> None:
    """Add the cost of calls of that time to the totals."""
    _add_to_totals(session, spender, at, (amount.micros, amount.seconds, 0, 0))


def _count_for_billing(
    session: Session, call: Call, attempt: CallAttempt, charge: CallAmount, currency: str
) -> None:
    """Count the minutes of the attempt, and its estimated cost until the carrier reports one.

    An answered call counts in full minutes, at least one. Simulated calls and calls that only speak
    a code aren't billed.
    """
    if attempt.carrier is CarrierKind.SIMULATOR:
        return
    minutes = 0
    if attempt.answered_at and attempt.ended_at and not call.verifies_a_number:
        length = (attempt.ended_at - attempt.answered_at).total_seconds()
        minutes = max(1, math.ceil(length / 60))
    estimated = charge.micros if attempt.cost is None else 0
    if (minutes, estimated) == (attempt.billed_minutes, attempt.estimated_micros):
        return
    rollup.add_billing(
        session,
        partner_id=call.partner_id,
        organization_id=call.organization_id,
        campaign_id=call.campaign_id,
        day=attempt.started_at.astimezone(UTC).date(),
        currency=currency,
        calls=bool(minutes) - bool(attempt.billed_minutes),
        minutes=minutes - attempt.billed_minutes,
        estimated_micros=estimated - attempt.estimated_micros,
    )
    attempt.billed_minutes, attempt.estimated_micros = minutes, estimated


def _charge(attempt: CallAttempt, rate: rates.CallPrice) -> CallAmount:
    charge = CallAmount(0, 0)
    if attempt.answered_at is not None and attempt.ended_at is not None:
        length = (attempt.ended_at - attempt.answered_at).total_seconds()
        charge = CallAmount(rate.price(length), rate.charged_seconds(length))
        if attempt.reserved_micros or attempt.reserved_seconds:
            charge = CallAmount(
                min(charge.micros, attempt.reserved_micros),
                min(charge.seconds, attempt.reserved_seconds),
            )
    if attempt.cost is not None and attempt.cost_currency == rate.currency:
        return CallAmount(round(Decimal(attempt.cost) * rates.MICROS), charge.seconds)
    return charge


@dataclass(frozen=True, slots=True)
class _LimitedPeriod:
    """A day or a month of a limit until ``until``: what is used, and the most, if there is one."""

    limit: SpendingLimit
    name: str
    until: datetime
    total: _TotalAmounts
    micros: int | None
    minutes: int | None

    def stops(self, call_amount: CallAmount, *, waits: bool) -> Iterator[SpendingStop]:
        """Return a stop for each amount without room for the call."""
        spent = self.total.spent
        reserved = self.total.reserved
        if self.micros is not None:
            micros = spent.micros + call_amount.micros
            if micros + reserved.micros > self.micros:
                yield SpendingStop(self._why(MONEY), self.until, micros <= self.micros, waits)
        if self.minutes is not None:
            seconds = spent.seconds + call_amount.seconds
            limit_seconds = self.minutes * 60
            if seconds + reserved.seconds > limit_seconds:
                yield SpendingStop(self._why(TIME), self.until, seconds <= limit_seconds, waits)

    def _why(self, amount: str) -> str:
        scope_kind = self.limit.scope.partition(":")[0]
        with languages.using_language(languages.DEFAULT):  # calls store the sentence
            return str(_REASONS[scope_kind, amount, self.name])


def _load_limits(session: Session, spender: Spender, now: datetime) -> list[_LimitedPeriod]:
    """Return the day and the month of each limit of a call, widest limit first."""
    day, month = aliased(SpendingTotal), aliased(SpendingTotal)
    query = (
        select(
            SpendingLimit,
            *(getattr(period, name) for period in (day, month) for name in _AMOUNT_COLUMNS),
        )
        .outerjoin(day, and_(day.scope == SpendingLimit.scope, day.period == day_period(now)))
        .outerjoin(
            month, and_(month.scope == SpendingLimit.scope, month.period == month_period(now))
        )
        .where(SpendingLimit.scope.in_(list(spender.scopes())))
        .execution_options(populate_existing=True)
    )
    periods = [
        period
        for limit, *amounts in session.execute(query)
        for period in (
            _LimitedPeriod(
                limit,
                name=DAY,
                until=next_day(now),
                total=_TotalAmounts.of(amounts[:4]),
                micros=limit.day_micros,
                minutes=limit.day_minutes,
            ),
            _LimitedPeriod(
                limit,
                name=MONTH,
                until=month_after(now),
                total=_TotalAmounts.of(amounts[4:]),
                micros=limit.month_micros,
                minutes=limit.month_minutes,
            ),
        )
    ]
    order = list(spender.scopes())
    return sorted(periods, key=lambda period: order.index(period.limit.scope))


def _find_stop(periods: Sequence[_LimitedPeriod], call_amount: CallAmount) -> SpendingStop | None:
    """Return the limit that stops a call for longest; one that frees up only if no other does."""
    waits = any(period.limit.waits for period in periods)
    stops = [stop for period in periods for stop in period.stops(call_amount, waits=waits)]
    return max(stops, key=lambda stop: (not stop.frees_up, stop.until), default=None)


def _total_keys(spender: Spender, now: datetime) -> list[tuple[str, str]]:
    """Return the keys of the totals, in the order in which they are locked."""
    periods = (month_period(now), day_period(now))
    return sorted((scope, period) for scope in spender.scopes() for period in periods)


def _lock_totals(session: Session, spender: Spender, now: datetime) -> None:
    _add_to_totals(session, spender, now, (0, 0, 0, 0))


def _add_to_totals(
    session: Session, spender: Spender, at: datetime, amounts: tuple[int, ...]
) -> None:
    """Add to each total of the call, or create it; the rows stay locked until the transaction
    ends."""
    statement = insert_into(session, SpendingTotal)
    columns, new = SpendingTotal.__table__.c, statement.excluded
    statement = statement.on_conflict_do_update(
        index_elements=("scope", "period"),
        set_={name: columns[name] + new[name] for name in _AMOUNT_COLUMNS},
    )
    partner = spender.partner_id
    session.execute(
        statement,
        [
            {
                "scope": scope,
                "period": period,
                "partner_id": partner,
                "organization_id": None if scope.startswith(PARTNER) else spender.organization_id,
                **dict(zip(_AMOUNT_COLUMNS, amounts, strict=True)),
            }
            for scope, period in _total_keys(spender, at.astimezone(UTC))
        ],
    )
