"""What carriers charge: they work it out some time after a call has ended."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CarrierKind
from app.gateways.carriers.base import Inquiry, LineState
from app.models import Agent, Call, CallAttempt
from app.models.base import id_at
from app.services import rollup
from app.services.calls.states import lock_attempt

ASKED_FOR = timedelta(hours=1)
"""How long after its end a call's cost is asked for."""
LONGEST_LIFE = timedelta(hours=30)
"""From an attempt's id to its end, at most."""
NO_CURRENCY = "XXX"
"""ISO 4217's own, for a carrier that names none."""


def due(session: Session, carrier: CarrierKind, now: datetime, limit: int) -> list[Inquiry]:
    """Attempts that ended lately and whose cost is not known, the latest first."""
    rows = session.execute(
        select(CallAttempt, Call.phone_number, Agent.phone_number)
        .join(Call, Call.id == CallAttempt.call_id)
        .join(Agent, Agent.id == Call.agent_id)
        .where(
            CallAttempt.id >= id_at(now - LONGEST_LIFE),
            CallAttempt.carrier == carrier,
            CallAttempt.carrier_reference.is_not(None),
            CallAttempt.cost.is_(None),
            CallAttempt.ended_at >= now - ASKED_FOR,
        )
        .order_by(CallAttempt.id.desc())
        .limit(limit)
    )
    return [
        Inquiry(
            attempt_id=attempt.id,
            to_number=to_number,
            from_number=attempt.from_number or own_number or "",
            asked_at=attempt.started_at,
            reference=attempt.carrier_reference,
            account_id=attempt.account_id,
        )
        for attempt, to_number, own_number in rows
    ]


def keep(session: Session, attempt_id: UUID, state: LineState) -> None:
    """Writes what the carrier charges for the attempt, where nobody has yet."""
    call, attempt = lock_attempt(session, attempt_id)
    write(session, call, attempt, state)


def write(session: Session, call: Call, attempt: CallAttempt, state: LineState) -> None:
    """The same of an attempt that is held for change. The first word of the carrier counts, once,
    on the UTC day on which the attempt began."""
    if state.cost is None or attempt.cost is not None:
        return
    attempt.cost, attempt.cost_currency = state.cost, state.currency
    rollup.add_cost(
        session,
        partner_id=call.partner_id,
        organization_id=call.organization_id,
        day=attempt.started_at.astimezone(UTC).date(),
        cost=state.cost,
        currency=state.currency or NO_CURRENCY,
    )
