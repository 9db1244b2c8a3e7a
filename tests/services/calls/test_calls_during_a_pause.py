"""Calls that a pause holds: also retries, and while rules change."""

from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy.orm import Session

from app.enums import CallStatus, CarrierKind, EndedReason, OrganizationStatus
from app.models import Call, CallAttempt, HeldCall, Organization, new_id, utcnow
from app.policy.caller import system_caller
from app.services import calls, pauses
from app.services.calls import attempts, claims, waiting
from app.services.calls.claims import ClaimKind
from tests.fixtures.worker import CallingOrganization, make_calling_organization

COLLEAGUE = system_caller("colleague")


def dial(session: Session, calling_organization: CallingOrganization) -> UUID:
    return calling_organization.accept(session, "+12125551000").id


def pause(session: Session) -> None:
    pauses.pause(session, COLLEAGUE, pauses.PauseScope(), "A storm.")


def test_an_attempt_that_was_delayed_is_not_asked_for_again_during_a_pause(
    session: Session, calling_organization: CallingOrganization
) -> None:
    call_id, attempt_id = dial(session, calling_organization), new_id()
    assert claims.next_step(session, call_id, attempt_id, calls_at_once=5).kind is ClaimKind.DIAL
    attempts.record_carrier_retry(session, attempt_id, 0, "The carrier asked to wait.")
    pause(session)
    session.flush()
    claim = claims.claim_retry(session, attempt_id)
    assert (claim.kind, claim.placement) == (ClaimKind.RETRY, None)
    assert claim.until is not None
    assert timedelta() < claim.until - utcnow() <= pauses.RECHECK
    call = session.get_one(Call, call_id)
    assert (call.status, call.status_detail) == (
        CallStatus.DIALING,
        "Calling is paused: A storm.",
    )
    pauses.resume(session, COLLEAGUE, pauses.PauseScope())
    session.get_one(CallAttempt, attempt_id).carrier_retry_at = utcnow()
    session.flush()
    assert claims.claim_retry(session, attempt_id).kind is ClaimKind.DIAL
    assert call.status_detail is None


@pytest.mark.parametrize(
    ("scope", "are_held"),
    [
        ("all", [True, True]),
        ("simulator", [True, True]),
        ("twilio", [False, False]),
        ("partner", [True, False]),
    ],
)
def test_a_pause_holds_its_calls_until_it_ends(
    session: Session, calling_organization: CallingOrganization, scope: str, are_held: list[bool]
) -> None:
    scopes = {
        "all": pauses.PauseScope(),
        "simulator": pauses.PauseScope(carrier=CarrierKind.SIMULATOR),
        "twilio": pauses.PauseScope(carrier=CarrierKind.TWILIO),
        "partner": pauses.PauseScope(partner_id=calling_organization.partner_id),
    }
    pauses.pause(session, COLLEAGUE, scopes[scope], "A storm.")
    ids = [
        dial(session, each) for each in (calling_organization, make_calling_organization(session))
    ]
    kinds = [claims.next_step(session, each, new_id(), calls_at_once=5).kind for each in ids]
    session.flush()
    assert [kind is ClaimKind.DONE for kind in kinds] == are_held
    assert waiting.any_to_release(session) is False
    pauses.resume(session, COLLEAGUE, scopes[scope])
    assert waiting.any_to_release(session) is any(are_held)
    assert (waiting.release(session), waiting.release(session)) == (sum(are_held), 0)
    again = [claims.next_step(session, each, new_id(), calls_at_once=5).kind for each in ids]
    called = [ClaimKind.DIAL if was_held else ClaimKind.DONE for was_held in are_held]
    assert again == called


def test_a_held_call_that_no_rule_allows_any_more_ends_during_the_pause(
    session: Session, calling_organization: CallingOrganization
) -> None:
    pause(session)
    call_id, attempt_id = dial(session, calling_organization), new_id()
    for _ in range(2):  # a step may run again
        assert (
            claims.next_step(session, call_id, attempt_id, calls_at_once=5).kind is ClaimKind.DONE
        )
    session.flush()
    assert (waiting.list_due_held(session), waiting.check_held(session, call_id)) == ([], False)
    session.get_one(HeldCall, call_id).held_at -= timedelta(minutes=2)
    session.flush()
    assert waiting.list_due_held(session) == [call_id]
    session.get_one(
        Organization, calling_organization.organization_id
    ).status = OrganizationStatus.SUSPENDED
    session.flush()
    assert waiting.check_held(session, call_id) is True
    session.flush()
    call = session.get_one(Call, call_id)
    assert (call.status, call.ended_reason) == (
        CallStatus.CANCELED,
        EndedReason.ORGANIZATION_SUSPENDED,
    )
    assert (session.get(HeldCall, call_id), waiting.check_held(session, call_id)) == (None, False)


def test_the_timeline_of_a_held_call_says_why_it_waits(
    session: Session, calling_organization: CallingOrganization
) -> None:
    pause(session)
    call_id = dial(session, calling_organization)
    claims.next_step(session, call_id, new_id(), calls_at_once=5)
    session.flush()
    moments = calls.timeline(session, calls.get(session, calling_organization.key, call_id))
    assert [(moment.kind, moment.detail) for moment in moments] == [
        ("accepted", None),
        ("held", "Calling is paused: A storm."),
    ]
