"""The answered calls that count as conversations, and so as usage."""

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import AnsweredBy, CallSource, CallStatus, CarrierKind, EndedReason
from app.models import Conversation, new_id, utcnow
from app.services import calls
from app.services.calls import claims, lifecycle
from tests.fixtures.worker import make_calling_organization


@pytest.mark.parametrize(
    ("source", "carrier", "live", "conversations"),
    [
        (CallSource.TEST, CarrierKind.SIMULATOR, True, 0),
        (CallSource.TEST, CarrierKind.TWILIO, True, 1),
        (CallSource.API, CarrierKind.SIMULATOR, True, 1),
        (CallSource.LEGACY, CarrierKind.SIMULATOR, True, 1),
        (CallSource.API, CarrierKind.SIMULATOR, False, 0),
    ],
)
def test_test_calls_on_the_simulated_carrier_and_calls_of_test_keys_are_no_usage(
    session: Session, source: CallSource, carrier: CarrierKind, live: bool, conversations: int
) -> None:
    call = make_calling_organization(session).accept(
        session, source=source, carrier=carrier, live=live
    )
    claims.next_step(session, call.id, new_id(), calls_at_once=5)
    [attempt] = calls.attempts_of(session, [call.id])[call.id]
    attempt.answered_at, attempt.answered_by = utcnow(), AnsweredBy.HUMAN
    completed = CallStatus.COMPLETED, EndedReason.COMPLETED
    lifecycle.end_attempt(session, call, attempt, *completed, at=utcnow())
    assert call.status is CallStatus.COMPLETED
    assert len(session.scalars(select(Conversation)).all()) == conversations
