"""The progress of a campaign's round: when it will end at its current pace, what it has done."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, case, func, select
from sqlalchemy.orm import Session

from app.enums import FINAL_CALL_STATUSES, AnsweredBy, CallStatus, CampaignStatus, OutreachStatus
from app.errors import ValidationFailed
from app.languages import gettext
from app.models import (
    Call,
    CallAttempt,
    Campaign,
    Contact,
    Organization,
    Outreach,
    OutreachContact,
    utcnow,
)
from app.models.base import id_at
from app.phone import DestinationLayer, region_of
from app.services import destinations
from app.services.calls import searching, states
from app.services.outreach import forecasting
from app.services.outreach.estimates import HOUR, end_of
from app.services.outreach.plans import stored_plan
from app.services.paging import Page

LOOKED_BACK = timedelta(hours=1)
MIN_ENDED_CALLS = 3
"""Minimum ended calls from which a pace is calculated."""
SECOND = timedelta(seconds=1)
NOT_ALLOWED = "number_not_allowed"

NOT_REACHED, ON_THE_WAY, FAILED, STOPPED = "not-reached", "on-the-way", "failed", "stopped"
_RESULTS = {
    **dict.fromkeys(states.NOT_REACHED, NOT_REACHED),
    **dict.fromkeys(states.FAILURES, FAILED),
    CallStatus.CANCELED: STOPPED,
}


@dataclass(frozen=True, slots=True)
class RoundProgress:
    """One round. ``calls`` counts contacts by the result of their call, which for a completed one
    is who answered; ``waiting`` counts them by their reason, as does ``left_out``, with those that
    will be left out (`forecasting.count_undecided`). ``to_come`` are the others without a decision.
    ``removed`` of those that were called have left the campaign since; ``total`` counts them too.

    ``pace`` is the ended calls an hour, None while it isn't known; ``ends_at`` follows from it
    and the plan's hours.
    """

    total: int
    calls: dict[str, int]
    waiting: dict[str, int]
    left_out: dict[str, int]
    removed: int
    to_come: int
    next_due: datetime | None
    pace: float | None
    ends_at: datetime | None

    @property
    def called(self) -> int:
        return sum(self.calls.values())

    @property
    def callable(self) -> int:
        """Contacts that were or will be called in this round."""
        return self.total - sum(self.left_out.values())

    @property
    def in_progress(self) -> int:
        """Contacts whose call hasn't ended."""
        return self.calls.get(ON_THE_WAY, 0)

    @property
    def open(self) -> int:
        """Contacts without a scheduled call."""
        return self.to_come + sum(self.waiting.values())

    @property
    def is_over(self) -> bool:
        return self.open == 0 and self.in_progress == 0


class ClosedCountry(NamedTuple):
    """A region (ISO 3166) that isn't open for calls, and the highest layer that keeps it closed."""

    region: str
    layer: DestinationLayer


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A contact that this round leaves out, and why; ``country`` if that isn't open for calls."""

    contact: Contact
    reason: str
    country: ClosedCountry | None = None


def progress_of(session: Session, campaign: Campaign, now: datetime | None = None) -> RoundProgress:
    """Count a round in a fixed number of queries."""
    now = now or utcnow()
    outreach = stored_plan(session, campaign)
    calls: Counter[str] = Counter()
    waiting: dict[str, int] = {}
    left_out: Counter[str] = Counter()
    next_due: datetime | None = None
    counts = _load_counts(session, outreach)
    for contact_status, reason, call_status, answered_by, due_at, count in counts:
        if contact_status is OutreachStatus.CALLED:
            calls[_call_result(call_status, answered_by)] += count
        elif contact_status is OutreachStatus.WAITING:
            waiting[reason] = count
            next_due = due_at if next_due is None else min(next_due, due_at)
        else:
            left_out[reason] += count
    decided = sum(calls.values()) + sum(waiting.values()) + sum(left_out.values())
    ahead = forecasting.count_undecided(session, [campaign]).get(campaign.id, Counter[str]())
    to_come = max(0, campaign.contact_count - decided - sum(ahead.values()))
    left_out.update(ahead)
    removed = 0
    for _, call_status, answered_by, count in removed_calls(
        session, [outreach] if outreach else []
    ):
        calls[_call_result(call_status, answered_by)] += count
        removed += count
    pace = ends_at = None
    if outreach is not None and campaign.status is CampaignStatus.ACTIVE:
        pace = _measure_pace(session, outreach, now)
        remaining = to_come + sum(waiting.values()) + calls[ON_THE_WAY]
        if pace and remaining:
            organization = session.get_one(Organization, campaign.organization_id)
            is_waiting = next_due is not None and remaining == sum(waiting.values())
            since = max(now, next_due) if is_waiting and next_due else now
            ends_at = end_of(session, outreach, campaign, organization, remaining, pace, since)
    return RoundProgress(
        total=campaign.contact_count + removed,
        calls=dict(calls),
        waiting=waiting,
        left_out=dict(left_out),
        removed=removed,
        to_come=to_come,
        next_due=next_due,
        pace=pace,
        ends_at=ends_at,
    )


def removed_calls(
    session: Session, plans: Collection[Outreach]
) -> Sequence[tuple[UUID | None, CallStatus, AnsweredBy | None, int]]:
    """Count the placed calls of each current round to contacts that were removed since, by
    campaign, status and who answered."""
    started = [plan.started_at for plan in plans if plan.started_at is not None]
    if not started:
        return []
    columns = (Call.campaign_id, Call.status, Call.answered_by)
    query = (
        select(*columns, func.count())
        .join(Outreach, Outreach.campaign_id == Call.campaign_id)
        .where(
            Call.organization_id.in_({plan.organization_id for plan in plans}),
            Call.id >= id_at(min(started)),
            Call.campaign_id.in_({plan.campaign_id for plan in plans}),
            *searching.of_removed_contact(),
        )
        .group_by(*columns)
    )
    return [(row[0], row[1], row[2], row[3]) for row in session.execute(query)]


def left_out(
    session: Session,
    campaign: Campaign,
    *,
    reason: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page[LeftOut]:
    """Return the contacts that this round leaves out or will leave out, newest first.

    Raises `ValidationFailed` (``invalid_cursor``).
    """
    query = _left_out(session, campaign, reason, Contact)
    if cursor:
        try:
            query = query.where(Contact.id < UUID(cursor))
        except ValueError:
            message = gettext("This position in the list is not valid. Start from the first page.")
            raise ValidationFailed.on("cursor", "invalid_cursor", message) from None
    rows = session.execute(query.order_by(Contact.id.desc()).limit(limit + 1)).all()
    page_rows = rows[:limit]
    closed = _countries_by_phone(
        session, campaign, {row.phone for row, why in page_rows if why == NOT_ALLOWED}
    )
    items = [LeftOut(contact, code or "", closed.get(contact.phone)) for contact, code in page_rows]
    return Page(items, str(items[-1].contact.id) if len(rows) > limit else None)


def closed_countries(session: Session, campaign: Campaign) -> Counter[ClosedCountry]:
    """Count the contacts that are left out because their country isn't open for calls; empty if
    more than `forecasting.NUMBERS_READ` numbers may not be called."""
    query = _left_out(session, campaign, NOT_ALLOWED, Contact.phone)
    limit = forecasting.NUMBERS_READ
    phones = [phone for phone, _ in session.execute(query.limit(limit + 1))]
    if len(phones) > limit:
        return Counter()
    closed = _countries_by_phone(session, campaign, set(phones))
    return Counter(closed[phone] for phone in phones if phone in closed)


def _countries_by_phone(
    session: Session, campaign: Campaign, phones: Collection[str | None]
) -> dict[str | None, ClosedCountry]:
    """Return the country of each of these numbers whose country isn't open."""
    if not phones:
        return {}
    organization = session.get_one(Organization, campaign.organization_id)
    open_regions = destinations.destinations_of(session, organization).regions
    regions = {phone: region_of(phone) for phone in phones if phone}
    return {
        phone: ClosedCountry(region, layer)
        for phone, region in regions.items()
        if region and (layer := open_regions.closed_by(region))
    }


def _left_out(session: Session, campaign: Campaign, reason: str | None, column: Any) -> Any:
    """Select ``column`` of the contacts that this round leaves out or will leave out, and why."""
    row, ahead = OutreachContact, forecasting.reason_ahead()
    is_left_out = row.status == OutreachStatus.LEFT_OUT
    if forecasting.is_looked_at(campaign):
        unfit: dict[str, list[UUID]] = defaultdict(list)
        for _, contact_id, code in forecasting.unfit_numbers(session, [campaign]):
            unfit[code].append(contact_id)
        if unfit:
            by_number = case(*((Contact.id.in_(ids), code) for code, ids in unfit.items()))
            ahead = func.coalesce(ahead, by_number)
        is_left_out |= row.contact_id.is_(None) & ahead.is_not(None)
    why = func.coalesce(row.reason, ahead)
    query = forecasting.with_decisions(select(column, why).select_from(Contact)).where(
        Contact.campaign_id == campaign.id, is_left_out
    )
    return query if reason is None else query.where(why == reason)


def _load_counts(session: Session, outreach: Outreach | None) -> Sequence[Any]:
    if outreach is None:
        return []
    row = OutreachContact
    columns = (row.status, row.reason, Call.status, Call.answered_by)
    query = (
        select(*columns, func.min(row.due_at), func.count())
        .outerjoin(Call, Call.id == row.call_id)
        .where(row.campaign_id == outreach.campaign_id, row.round == outreach.round)
        .group_by(*columns)
    )
    return session.execute(query).all()


def _call_result(status: CallStatus, answered_by: AnsweredBy | None) -> str:
    if status is CallStatus.COMPLETED:
        return answered_by or AnsweredBy.UNKNOWN
    return _RESULTS.get(status, ON_THE_WAY)


def _measure_pace(session: Session, outreach: Outreach, now: datetime) -> float | None:
    """Return the ended calls per hour since the first call of the last hour, or since the last
    start; the plan's pace before `MIN_ENDED_CALLS` have ended."""
    since = max(outreach.resumed_at or now, now - LOOKED_BACK)
    ended, first = session.execute(
        select(
            func.count().filter(Call.status.in_(FINAL_CALL_STATUSES)),
            func.min(OutreachContact.decided_at),
        )
        .join(Call, Call.id == OutreachContact.call_id)
        .where(
            OutreachContact.campaign_id == outreach.campaign_id,
            OutreachContact.round == outreach.round,
            OutreachContact.decided_at >= since,
        )
    ).one()
    planned = float(outreach.calls_per_hour) if outreach.calls_per_hour else None
    if ended < MIN_ENDED_CALLS:
        return planned
    pace = float(ended / (max(now - first, SECOND) / HOUR))
    return min(pace, planned) if planned else pace


@dataclass(frozen=True, slots=True)
class FinishedRound:
    """``costs`` are the carriers' by currency; empty until they name any."""

    started_at: datetime | None
    ended_at: datetime | None
    costs: Mapping[str, Decimal]


def finished(session: Session, outreach: Outreach) -> FinishedRound:
    """Summarize the calls of the current round in two queries."""
    ended_at = session.scalar(
        select(func.max(Call.ended_at))
        .join(OutreachContact, OutreachContact.call_id == Call.id)
        .where(*_of_round(outreach))
    )
    costs = session.execute(
        select(CallAttempt.cost_currency, func.sum(CallAttempt.cost))
        .join(OutreachContact, OutreachContact.call_id == CallAttempt.call_id)
        .where(*_of_round(outreach), CallAttempt.cost.is_not(None))
        .group_by(CallAttempt.cost_currency)
    )
    by_currency = {currency or "": cost for currency, cost in costs if cost is not None}
    return FinishedRound(outreach.started_at, ended_at, by_currency)


def _of_round(outreach: Outreach) -> tuple[ColumnElement[bool], ...]:
    row = OutreachContact
    return row.campaign_id == outreach.campaign_id, row.round == outreach.round
