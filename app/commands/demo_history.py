"""Some months of calls for lists, report, usage and charts."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import insert
from sqlalchemy.orm import Session

from app.calendar_months import midnight
from app.enums import AnsweredBy, CallSource, CallStatus, CarrierKind, EndedReason
from app.models import (
    Assistant,
    Call,
    CallAttempt,
    CallTranscript,
    Conversation,
    CostDay,
    Organization,
    PartnerCostDay,
    new_id,
    utcnow,
)
from app.models.base import id_at
from app.services import rollup, spending
from app.services.recordings import samples
from app.services.spending import CallAmount, Spender
from app.services.spending.rates import CURRENCY

SATURDAY = 5
UNREPORTED_DAYS = 2
"""The carrier hasn't reported the costs of the last days yet."""
REPORTED_RATE, ESTIMATED_RATE = 14_000, 30_000
"""Millionths of the currency per minute."""
FIRST_NAMES = ("Nadia", "Emil", "Grace", "Hakan", "Ruth", "Vikram", "Ingrid")
LAST_NAMES = ("Lindqvist", "Abara", "Moreau", "Castellanos", "Petrov", "Nakamura")
LINES = 45
"""The called numbers end with 0100 to 0144; the organization's own follow."""
QUEUED, RINGING = timedelta(seconds=2), timedelta(seconds=9)
STATUSES = {
    EndedReason.COMPLETED: CallStatus.COMPLETED,
    EndedReason.VOICEMAIL: CallStatus.COMPLETED,
    EndedReason.NO_ANSWER: CallStatus.NO_ANSWER,
    EndedReason.BUSY: CallStatus.BUSY,
    EndedReason.NUMBER_INVALID: CallStatus.FAILED,
}
ANSWERED_BY = {
    EndedReason.COMPLETED: AnsweredBy.HUMAN,
    EndedReason.VOICEMAIL: AnsweredBy.VOICEMAIL,
}


@dataclass(frozen=True, slots=True)
class PastCall:
    """A finished call; ``at`` is when it was answered or failed."""

    at: datetime
    reason: EndedReason
    seconds: int | None = None

    @property
    def micros(self) -> int | None:
        """Return the cost that the carrier has reported."""
        is_reported = (utcnow().date() - self.at.date()).days > UNREPORTED_DAYS
        minutes = _minutes([self.seconds]) if self.seconds else 0
        return minutes * REPORTED_RATE if minutes and is_reported else None


def add_calls(
    session: Session,
    organization: Organization,
    assistant: Assistant,
    pace: int,
    days: int,
    rng: random.Random,
) -> None:
    """Add about ``pace`` conversations a working day, fewer at weekends, growing over the months,
    each with its call, and the calls that were not answered. None belongs to a campaign: those of
    the demo haven't been started."""
    today = utcnow().date()
    other_rng = random.Random(pace)  # noqa: S311 - as those of the demo, without changing these
    all_calls: list[PastCall] = []
    for age in range(days, 0, -1):
        day = today - timedelta(days=age)
        share = 0.25 if day.weekday() >= SATURDAY else 1
        expected = pace * share * (0.6 + 0.4 * (days - age) / days)
        count = round(rng.gauss(expected, expected / 4))
        talks = [_conversation(day, rng) for _ in range(count)]
        lengths = [talk.seconds or 0 for talk in talks]
        calls = talks + _unanswered_calls(day, len(talks), other_rng)
        _count_calls(session, organization, day, calls)
        _add_billing(session, organization, day, lengths, age)
        _add_spending(session, organization, day, lengths, age)
        all_calls += calls
    _store_calls(
        session, organization, assistant, sorted(all_calls, key=lambda call: call.at), other_rng
    )


def _conversation(day: date, rng: random.Random) -> PastCall:
    moment = _moment(day, rng)
    if rng.random() < 0.62:
        return PastCall(moment, EndedReason.COMPLETED, rng.randrange(40, 400))
    return PastCall(moment, EndedReason.VOICEMAIL, rng.randrange(15, 40))


def _unanswered_calls(day: date, answered_count: int, rng: random.Random) -> list[PastCall]:
    """Return about one unanswered call for two answered ones; some failed."""
    counts = {
        EndedReason.NO_ANSWER: answered_count // 3 + day.day % 3,
        EndedReason.BUSY: answered_count // 8,
        EndedReason.NUMBER_INVALID: answered_count // 20,
    }
    return [
        PastCall(_moment(day, rng), reason)
        for reason, count in counts.items()
        for _ in range(count)
    ]


def _moment(day: date, rng: random.Random) -> datetime:
    return datetime.combine(day, time(14), UTC) + timedelta(seconds=rng.randrange(8 * 3600))


def _count_calls(
    session: Session, organization: Organization, day: date, calls: Sequence[PastCall]
) -> None:
    """Add the calls of a day to the totals."""
    keys: dict[str, Any] = {
        "partner_id": organization.partner_id,
        "organization_id": organization.id,
        "day": day,
    }
    seconds = {
        kind: [call.seconds for call in calls if call.reason is reason and call.seconds]
        for reason, kind in ANSWERED_BY.items()
    }
    if any(seconds.values()):
        rollup.add_conversations(session, **keys, seconds=seconds)
    ends = Counter(STATUSES[call.reason] for call in calls)
    rollup.add_ended_calls(session, **keys, ends=ends)


def _store_calls(
    session: Session,
    organization: Organization,
    assistant: Assistant,
    calls: Sequence[PastCall],
    rng: random.Random,
) -> None:
    """Store the calls with their attempts and conversations, in bulk."""
    rows = [_rows(organization, assistant, call, rng) for call in calls]
    for table, kind in enumerate((Call, CallAttempt, Conversation)):
        if values := [row[table] for row in rows if row[table]]:
            session.execute(insert(kind), values)
    _store_samples(session, [row[0] for row in rows])


def _store_samples(session: Session, calls: Sequence[dict[str, Any]]) -> None:
    """Store the sample conversation of each call that a person answered."""
    report = samples.sample()
    turns = [turn.model_dump(exclude_none=True) for turn in report.transcript or ()]
    transcripts = [
        {
            "id": new_id(),
            "partner_id": call["partner_id"],
            "organization_id": call["organization_id"],
            "call_id": call["id"],
            "summary": report.summary,
            "turns": turns,
            "report_id": samples.SAMPLE,
            "sent_at": call["ended_at"],
            "created_at": call["ended_at"],
            "updated_at": call["ended_at"],
        }
        for call in calls
        if call["answered_by"] is AnsweredBy.HUMAN
    ]
    if transcripts:
        session.execute(insert(CallTranscript), transcripts)


def _rows(
    organization: Organization, assistant: Assistant, call: PastCall, rng: random.Random
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return the rows of the call, its attempt and its conversation; the last is empty if it was
    not answered."""
    line, started = rng.randrange(LINES), call.at - RINGING
    shared = {
        "organization_id": organization.id,
        "answered_by": ANSWERED_BY.get(call.reason),
        "ended_at": call.at + timedelta(seconds=call.seconds or 0),
    }
    call_columns = {
        **shared,
        "carrier": CarrierKind.SIMULATOR,
        "status": STATUSES[call.reason],
        "ended_reason": call.reason,
        "started_at": started,
        "answered_at": call.at if call.seconds else None,
    }
    owner = {"partner_id": organization.partner_id, "assistant_id": assistant.id}
    stored = {
        "id": _id_of(started - QUEUED, rng),
        **call_columns,
        **owner,
        **_call_values(assistant, call, line),
    }
    attempt = {
        "id": _id_of(started, rng),
        **call_columns,
        "call_id": stored["id"],
        **_attempt_values(assistant, call),
    }
    attempt["carrier_reference"] = f"sim-{attempt['id']}"
    conversation = {
        "id": new_id(),
        **shared,
        **owner,
        "call_id": stored["id"],
        "started_at": call.at,
        "seconds": call.seconds,
    }
    return stored, attempt, conversation if call.seconds else {}


def _call_values(assistant: Assistant, call: PastCall, line: int) -> dict[str, Any]:
    """Return what only the call has: the request for it, and its sums."""
    number = f"{(assistant.phone_number or '')[:-4]}{100 + line:04}"
    started = call.at - RINGING
    return {
        "source": CallSource.API,
        "requested_by": "demo",
        "phone_number": number,
        "contact": {
            "phoneNumber": number,
            "firstName": FIRST_NAMES[line % len(FIRST_NAMES)],
            "lastName": LAST_NAMES[line % len(LAST_NAMES)],
        },
        "intro_message": assistant.default_intro,
        "voicemail_message": assistant.default_voicemail,
        "created_at": started - QUEUED,
        "updated_at": call.at + timedelta(seconds=call.seconds or 0),
        "expires_at": started + timedelta(days=1),
        "seconds": call.seconds,
        "cost_micros": call.micros,
    }


def _attempt_values(assistant: Assistant, call: PastCall) -> dict[str, Any]:
    """Return the columns that only the attempt has: the messages, and the cost."""
    minutes = _minutes([call.seconds] if call.seconds else [])
    charged = _cost(minutes, (utcnow().date() - call.at.date()).days)
    spoken = {
        EndedReason.COMPLETED: assistant.default_intro,
        EndedReason.VOICEMAIL: assistant.default_voicemail,
    }
    return {
        "number": 1,
        "from_number": assistant.phone_number,
        "spoken": spoken.get(call.reason),
        "cost": call.micros and Decimal(call.micros) / spending.MICROS,
        "cost_currency": CURRENCY if call.micros else None,
        "billed_minutes": minutes,
        "charged_micros": charged,
        "charged_seconds": minutes * 60,
        "estimated_micros": 0 if call.micros else charged,
    }


def _id_of(moment: datetime, rng: random.Random) -> UUID:
    """Return an id as `new_id` would have made it then."""
    return UUID(int=id_at(moment).int | 7 << 76 | rng.getrandbits(76) & ~(3 << 62) | 2 << 62)


def _add_billing(
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


def _add_spending(
    session: Session, organization: Organization, day: date, lengths: Sequence[int], age: int
) -> None:
    """Count the calls of a day as spending, and as costs that the carrier has reported."""
    minutes = _minutes(lengths)
    if not minutes:
        return
    spender = Spender(organization.partner_id, organization.id)
    amount = CallAmount(_cost(minutes, age), minutes * 60)
    spending.add_spent(session, spender, midnight(day), amount)
    if age > UNREPORTED_DAYS:
        amounts = {"attempts": len(lengths), "micros": amount.micros}
        day_keys = {"day": day, "currency": CURRENCY}
        partner_keys = {"partner_id": organization.partner_id}
        organization_keys = {"organization_id": organization.id, **day_keys}
        rollup.add(session, CostDay, organization_keys, amounts, partner_keys)
        rollup.add(session, PartnerCostDay, {**partner_keys, **day_keys}, amounts, {})


def _minutes(lengths: Sequence[int]) -> int:
    return sum(max(1, -(-seconds // 60)) for seconds in lengths)


def _cost(minutes: int, age: int) -> int:
    return minutes * (REPORTED_RATE if age > UNREPORTED_DAYS else ESTIMATED_RATE)
