"""The carriers' charges for attempts, which are known some time after a call has ended."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import CallStatus, CarrierKind
from app.gateways.carriers.base import AttemptInquiry, CarrierReport
from app.models import Assistant, Call, CallAttempt
from app.models.base import id_at
from app.services import rollup, spending
from app.services.calls.states import ACTIVE, lock_attempt

ASKED_FOR = timedelta(hours=1)
"""How long after a call's end its cost is queried."""
MAX_CALL_AGE = timedelta(hours=30)
"""The maximum time from the one in an attempt's id to its end."""
NO_CURRENCY = "XXX"
"""ISO 4217's code for a carrier that names no currency."""


def costs_due(
    session: Session, carrier: CarrierKind, now: datetime, limit: int
) -> list[AttemptInquiry]:
    """Return recently ended attempts without a cost: at most ``limit`` of each account, the latest
    answered one of every account first. Carriers may never charge unanswered ones."""
    latest = CallAttempt.id.desc()
    order = CallAttempt.answered_at.is_(None), latest
    rank = func.row_number().over(partition_by=CallAttempt.account_id, order_by=order)
    ranked = (
        select(CallAttempt.id, rank.label("rank"))
        .where(
            CallAttempt.id >= id_at(now - MAX_CALL_AGE),
            CallAttempt.carrier == carrier,
            CallAttempt.carrier_reference.is_not(None),
            CallAttempt.cost.is_(None),
            CallAttempt.ended_at >= now - ASKED_FOR,
        )
        .subquery()
    )
    rows = session.execute(
        select(CallAttempt, Call.phone_number, Assistant.phone_number)
        .join(ranked, ranked.c.id == CallAttempt.id)
        .join(Call, Call.id == CallAttempt.call_id)
        .join(Assistant, Assistant.id == Call.assistant_id)
        .where(ranked.c.rank <= limit)
        .order_by(ranked.c.rank, latest)
    )
    return [
        AttemptInquiry(
            attempt_id=attempt.id,
            to_number=to_number,
            from_number=attempt.from_number or own_number or "",
            asked_at=attempt.started_at,
            reference=attempt.carrier_reference,
            account_id=attempt.account_id,
        )
        for attempt, to_number, own_number in rows
    ]


def write_cost_of(session: Session, attempt_id: UUID, state: CarrierReport) -> None:
    """Store the carrier's cost of the attempt, unless it is known already."""
    call, attempt = lock_attempt(session, attempt_id)
    write_cost(session, call, attempt, state)


def write_cost(session: Session, call: Call, attempt: CallAttempt, state: CarrierReport) -> None:
    """Store the cost of a locked attempt. Only the first cost counts, on the UTC day on which the
    attempt began. It corrects the spending of an attempt that was settled before."""
    if state.cost is None or attempt.cost is not None:
        return
    attempt.cost, attempt.cost_currency = state.cost, state.currency
    call.cost_micros = (call.cost_micros or 0) + round(state.cost * spending.MICROS)
    rollup.add_cost(
        session,
        partner_id=call.partner_id,
        organization_id=call.organization_id,
        campaign_id=call.campaign_id,
        day=attempt.started_at.astimezone(UTC).date(),
        cost=state.cost,
        currency=state.currency or NO_CURRENCY,
    )
    if attempt.status not in ACTIVE | {CallStatus.UNKNOWN}:
        spending.settle(session, call, attempt)
