"""What a pause holds: put-off attempts as well, and rules that change meanwhile."""

from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy.orm import Session

from app.caller import system_caller
from app.enums import CallSource, CallStatus, EndedReason, OrganizationStatus
from app.models import Call, CallAttempt, HeldCall, Organization, new_id, utcnow
from app.services import calls
from app.services.calls import dispatch, putting_off
from app.services.calls.dispatch import ClaimKind
from app.services.dialler import held, pauses
from tests.fixtures.worker import Line, make_line

SOMEBODY = system_caller("somebody")


@pytest.fixture
def line(session: Session) -> Line:
    return make_line(session)


def dial(session: Session, line: Line) -> UUID:
    request = calls.CallRequest(
        agent_id=line.agent_id,
        phone_number="+12125551000",
        intro_message="Hello.",
        voicemail_message="Bye.",
    )
    return calls.schedule(session, line.key, request, source=CallSource.API, live=True).call_id


def pause(session: Session) -> None:
    pauses.pause(session, SOMEBODY, pauses.Scope(), "A storm.")


def test_an_attempt_that_was_put_off_is_not_asked_for_again_during_a_pause(
    session: Session, line: Line
) -> None:
    call_id, attempt_id = dial(session, line), new_id()
    assert dispatch.claim(session, call_id, attempt_id, calls_at_once=5).kind is ClaimKind.DIAL
    putting_off.put_off(session, attempt_id, 0, "The carrier asked to wait.")
    pause(session)
    session.flush()
    claim = putting_off.claim_again(session, attempt_id)
    assert (claim.kind, claim.placement) == (ClaimKind.ASK_AGAIN, None)
    assert claim.until is not None
    assert timedelta() < claim.until - utcnow() <= pauses.LOOK_AGAIN
    call = session.get_one(Call, call_id)
    assert (call.status, call.status_detail) == (
        CallStatus.DIALING,
        "Dialling is paused: A storm.",
    )
    pauses.resume(session, SOMEBODY, pauses.Scope())
    session.get_one(CallAttempt, attempt_id).put_off_until = utcnow()
    session.flush()
    assert putting_off.claim_again(session, attempt_id).kind is ClaimKind.DIAL
    assert call.status_detail is None


def test_a_held_call_that_no_rule_allows_any_more_ends_during_the_pause(
    session: Session, line: Line
) -> None:
    pause(session)
    call_id, attempt_id = dial(session, line), new_id()
    for _ in range(2):  # a step may run again
        assert dispatch.claim(session, call_id, attempt_id, calls_at_once=5).kind is ClaimKind.DONE
    session.flush()
    assert (held.due(session), held.look_at(session, call_id)) == ([], False)
    session.get_one(HeldCall, call_id).held_at -= timedelta(minutes=2)
    session.flush()
    assert held.due(session) == [call_id]
    session.get_one(Organization, line.organization_id).status = OrganizationStatus.SUSPENDED
    session.flush()
    assert held.look_at(session, call_id) is True
    session.flush()
    call = session.get_one(Call, call_id)
    assert (call.status, call.ended_reason) == (
        CallStatus.CANCELED,
        EndedReason.ORGANIZATION_SUSPENDED,
    )
    assert (session.get(HeldCall, call_id), held.look_at(session, call_id)) == (None, False)


def test_the_timeline_of_a_held_call_says_why_it_waits(session: Session, line: Line) -> None:
    pause(session)
    call_id = dial(session, line)
    dispatch.claim(session, call_id, new_id(), calls_at_once=5)
    session.flush()
    moments = calls.timeline(session, line.key, call_id)
    assert [(moment.kind, moment.detail) for moment in moments] == [
        ("accepted", None),
        ("held", "Dialling is paused: A storm."),
    ]
