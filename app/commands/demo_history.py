"""Some months of conversations for report, usage and charts."""

import random
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from sqlalchemy import insert
from sqlalchemy.orm import Session

from app.enums import AnsweredBy, CallStatus
from app.models import (
    Assistant,
    Conversation,
    CostDay,
    Organization,
    PartnerCostDay,
    new_id,
    utcnow,
)
from app.services import rollup, spending
from app.services.spending import Amount, Spender
from app.services.spending.rates import CURRENCY

SATURDAY = 5
UNREPORTED_DAYS = 2
"""The carrier hasn't reported the costs of the last days yet."""


def add_conversations(
    session: Session,
    organization: Organization,
    assistant: Assistant,
    pace: int,
    days: int,
    rng: random.Random,
) -> None:
    """Add about ``pace`` conversations a working day, fewer at weekends, growing over
    the months. None belongs to a campaign: those of the demo haven't been started."""
    today = utcnow().date()
    for age in range(days, 0, -1):
        day = today - timedelta(days=age)
        share = 0.25 if day.weekday() >= SATURDAY else 1
        expected = pace * share * (0.6 + 0.4 * (days - age) / days)
        count = round(rng.gauss(expected, expected / 4))
        talks = [_conversation(organization, assistant, day, rng) for _ in range(count)]
        _record(session, organization, day, talks)
        lengths = [talk["seconds"] for talk in talks]
        _bill(session, organization, day, lengths, age)
        _spend(session, organization, day, lengths, age)
        if age > 1:  # the totals of yesterday are compared with their rows
            _add_ended_calls(session, organization, day, len(lengths))


def _conversation(
    organization: Organization, assistant: Assistant, day: date, rng: random.Random
) -> dict[str, Any]:
    opening = datetime.combine(day, time(14), UTC)
    started = opening + timedelta(seconds=rng.randrange(8 * 3600))
    is_human = rng.random() < 0.62
    seconds = rng.randrange(40, 400) if is_human else rng.randrange(15, 40)
    return {
        "id": new_id(),
        "partner_id": organization.partner_id,
        "organization_id": organization.id,
        "assistant_id": assistant.id,
        "answered_by": AnsweredBy.HUMAN if is_human else AnsweredBy.VOICEMAIL,
        "started_at": started,
        "ended_at": started + timedelta(seconds=seconds),
        "seconds": seconds,
    }


def _record(
    session: Session, organization: Organization, day: date, talks: Sequence[Mapping[str, Any]]
) -> None:
    """Store the conversations of a day and count them: at once, as they are thousands."""
    if not talks:
        return
    session.execute(insert(Conversation), talks)
    seconds = {
        kind: [talk["seconds"] for talk in talks if talk["answered_by"] is kind]
        for kind in AnsweredBy
    }
    rollup.add_conversations(
        session,
        partner_id=organization.partner_id,
        organization_id=organization.id,
        day=day,
        seconds=seconds,
    )


def _add_ended_calls(
    session: Session, organization: Organization, day: date, answered: int
) -> None:
    """Count the day's calls: for two that were answered about one was not, and some failed."""
    ends = {
        CallStatus.COMPLETED: answered,
        CallStatus.NO_ANSWER: answered // 3 + day.day % 3,
        CallStatus.BUSY: answered // 8,
        CallStatus.FAILED: answered // 20,
    }
    rollup.add_ended_calls(
        session,
        partner_id=organization.partner_id,
        organization_id=organization.id,
        day=day,
        ends=ends,
    )


def _bill(
    session: Session,
    organization: Organization,
    day: date,
    lengths: Sequence[int],
    age: int,
) -> None:
    """Count the calls of a day as billed."""
    if minutes := _minutes(lengths):
        kind = "reported_micros" if age > UNREPORTED_DAYS else "estimated_micros"
        rollup.add_billing(
            session,
            partner_id=organization.partner_id,
            organization_id=organization.id,
            campaign_id=None,
            day=day,
            currency=CURRENCY,
            calls=len(lengths),
            minutes=minutes,
            **{kind: _cost(minutes, age)},
        )


def _spend(
    session: Session, organization: Organization, day: date, lengths: Sequence[int], age: int
) -> None:
    """Count the calls of a day as spending, and as costs that the carrier has reported."""
    minutes = _minutes(lengths)
    if not minutes:
        return
    spender = Spender(organization.partner_id, organization.id)
    amount = Amount(_cost(minutes, age), minutes * 60)
    spending.add_spent(session, spender, datetime.combine(day, time(), UTC), amount)
    if age > UNREPORTED_DAYS:
        amounts = {"attempts": len(lengths), "micros": amount.micros}
        when, partner = {"day": day, "currency": CURRENCY}, {"partner_id": organization.partner_id}
        own = {"organization_id": organization.id, **when}
        rollup.add(session, CostDay, own, amounts, partner)
        rollup.add(session, PartnerCostDay, {**partner, **when}, amounts, {})


def _minutes(lengths: Sequence[int]) -> int:
    return sum(max(1, -(-seconds // 60)) for seconds in lengths)


def _cost(minutes: int, age: int) -> int:
    return minutes * (14_000 if age > UNREPORTED_DAYS else 30_000)
