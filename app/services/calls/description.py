"""A call in the words of the contract."""

from collections.abc import Sequence

from app import models
from app.schemas.calls import Call, CallAttempt, CalledContact


def describe(call: models.Call, attempts: Sequence[models.CallAttempt]) -> Call:
    """What a script reads of a call; the same whether read alone or in a list."""
    person = call.contact
    return Call(
        call_id=call.id,
        agent_id=call.agent_id,
        phone_number=call.phone_number,
        contact=CalledContact(
            phone_number=call.phone_number,
            first_name=person.get("firstName"),
            last_name=person.get("lastName"),
            email=person.get("email"),
        ),
        metadata=call.call_metadata,
        status=call.status,
        answered_by=call.answered_by,
        ended_reason=call.ended_reason,
        status_detail=call.status_detail,
        created_at=call.created_at,
        scheduled_for=call.scheduled_for,
        next_attempt_at=call.next_attempt_at,
        started_at=call.started_at,
        answered_at=call.answered_at,
        ended_at=call.ended_at,
        attempts=[
            CallAttempt(
                id=attempt.id,
                number=attempt.number,
                status=attempt.status,
                answered_by=attempt.answered_by,
                ended_reason=attempt.ended_reason,
                started_at=attempt.started_at,
                answered_at=attempt.answered_at,
                ended_at=attempt.ended_at,
                cost=float(attempt.cost) if attempt.cost is not None else None,
                cost_currency=attempt.cost_currency,
            )
            for attempt in attempts
        ],
    )
