"""Trial mode: only verified numbers are called, and only a few times a day."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config.calls import CallSettings
from app.config.trial import TrialLimits
from app.enums import CallStatus, CarrierKind, EndedReason, VerificationPurpose
from app.errors import Forbidden
from app.models import Assistant, Call, DailyCount, Organization, new_id
from app.services import calls, daily_counts, organizations, partners
from app.services.calls import CheckStatus, attempts, claims, lifecycle, waiting
from app.services.calls.claims import ClaimKind
from tests.fixtures.clock import SetClock
from tests.fixtures.tenants import OPERATOR
from tests.fixtures.trial import add_verified, start_trial, start_trial_of_partner
from tests.fixtures.worker import GREETINGS, CallingOrganization, make_calling_organization

NUMBER = "+12125551000"
OTHER_NUMBER = "+12125552000"
REFUSAL = "In trial mode only verified numbers can be called. Verify this number first."
STOPPED = (CallStatus.CANCELED, "trial_mode", REFUSAL)


@pytest.fixture
def calling_organization(session: Session) -> CallingOrganization:
    made = make_calling_organization(session)
    start_trial(session, made.organization_id)
    return made


def refused(
    session: Session, calling_organization: CallingOrganization, number: str = NUMBER, **how: Any
) -> str:
    with pytest.raises(Forbidden) as error:
        calling_organization.accept(session, number, **how)
    assert error.value.code == "trial_mode"
    return error.value.message


def asked_by(calling_organization: CallingOrganization) -> calls.CallRequest:
    answer_text: dict[str, Any] = dict(GREETINGS)
    return calls.CallRequest(calling_organization.assistant_id, NUMBER, **answer_text)


def ended(call: Call) -> tuple[CallStatus, str | None, str | None]:
    return call.status, call.ended_reason, call.status_detail


def test_only_numbers_that_the_organization_verified_are_called(
    session: Session, calling_organization: CallingOrganization
) -> None:
    other = make_calling_organization(session)
    add_verified(session, other, OTHER_NUMBER)
    add_verified(session, calling_organization, NUMBER)
    assert calling_organization.accept(session, NUMBER).status is CallStatus.QUEUED
    assert refused(session, calling_organization, OTHER_NUMBER) == REFUSAL


def test_an_unverified_number_or_one_verified_for_something_else_does_not_count(
    session: Session, calling_organization: CallingOrganization
) -> None:
    add_verified(session, calling_organization, NUMBER).verified_at = None
    add_verified(session, calling_organization, OTHER_NUMBER, VerificationPurpose.CALLER_ID)
    session.flush()
    assert (
        refused(session, calling_organization, NUMBER)
        == refused(session, calling_organization, OTHER_NUMBER)
        == REFUSAL
    )


def test_calls_are_free_once_both_trials_have_ended(
    session: Session, calling_organization: CallingOrganization
) -> None:
    start_trial_of_partner(session, calling_organization.partner_id)
    refused(session, calling_organization)
    partners.end_trial(session, OPERATOR, calling_organization.partner_id)
    refused(session, calling_organization)
    organizations.end_trial(session, OPERATOR, calling_organization.organization_id)
    assert calling_organization.accept(session, NUMBER).status is CallStatus.QUEUED
    start_trial_of_partner(session, calling_organization.partner_id)
    refused(session, calling_organization)


@pytest.mark.parametrize("carrier", CarrierKind)
def test_live_calls_are_refused_on_every_carrier_and_calls_of_test_keys_on_none(
    session: Session, calling_organization: CallingOrganization, carrier: CarrierKind
) -> None:
    refused(session, calling_organization, carrier=carrier)
    accepted = calling_organization.accept(session, NUMBER, carrier=carrier, live=False)
    assert (accepted.status, accepted.carrier) == (CallStatus.QUEUED, CarrierKind.SIMULATOR)
    claim = claims.next_step(session, accepted.id, new_id(), calls_at_once=5)
    assert claim.kind is ClaimKind.DIAL


def test_a_dry_run_gets_the_answer_of_the_request(
    session: Session, calling_organization: CallingOrganization
) -> None:
    request = asked_by(calling_organization)
    with pytest.raises(Forbidden, match=REFUSAL):
        calls.dry_run(session, calling_organization.key, request, live=True)
    assert (
        calls.dry_run(session, calling_organization.key, request, live=False)[0]
        is CallStatus.QUEUED
    )
    add_verified(session, calling_organization, NUMBER)
    assert (
        calls.dry_run(session, calling_organization.key, request, live=True)[0] is CallStatus.QUEUED
    )


def test_verifying_a_number_opens_no_forbidden_kind_of_number(
    session: Session, calling_organization: CallingOrganization
) -> None:
    add_verified(session, calling_organization, "+19005550101")
    with pytest.raises(Exception, match="premium"):
        calling_organization.accept(session, "+19005550101")


def test_a_trial_that_starts_meanwhile_stops_accepted_calls(session: Session) -> None:
    calling_organization = make_calling_organization(session)
    stopped, kept = (
        calling_organization.accept(session, number) for number in (NUMBER, OTHER_NUMBER)
    )
    test_key = calling_organization.accept(session, NUMBER, live=False)
    add_verified(session, calling_organization, OTHER_NUMBER)
    partners.start_trial(session, OPERATOR, calling_organization.partner_id)
    kinds = [
        claims.next_step(session, call.id, new_id(), calls_at_once=5).kind
        for call in (stopped, kept, test_key)
    ]
    assert kinds == [ClaimKind.DONE, ClaimKind.DIAL, ClaimKind.DIAL]
    assert ended(stopped) == STOPPED


def test_a_queued_call_is_stopped_before_its_turn_comes(session: Session) -> None:
    calling_organization = make_calling_organization(session)
    call = calling_organization.accept(session, NUMBER)
    call.created_at -= timedelta(seconds=10)
    start_trial(session, calling_organization.organization_id)
    assert waiting.stopped_by_rules(session, [call.id]) == [call.id]
    assert waiting.end_if_stopped(session, call.id)
    assert ended(call) == STOPPED


def test_a_removed_number_stops_a_call_that_the_carrier_asked_to_send_again(
    session: Session, calling_organization: CallingOrganization
) -> None:
    number = add_verified(session, calling_organization, NUMBER)
    call, attempt_id = calling_organization.accept(session, NUMBER), new_id()
    claims.next_step(session, call.id, attempt_id, calls_at_once=5)
    attempts.record_carrier_retry(session, attempt_id, 0, "The carrier is busy.")
    session.delete(number)
    session.flush()
    assert claims.claim_retry(session, attempt_id).kind is ClaimKind.DONE
    assert ended(call) == STOPPED


def test_a_removed_number_stops_a_retry(
    session: Session, calling_organization: CallingOrganization, clock: SetClock
) -> None:
    organization = session.get_one(Organization, calling_organization.organization_id)
    organization.retry_times, organization.retry_minutes = 1, 30
    number = add_verified(session, calling_organization, NUMBER)
    call, attempt_id = calling_organization.accept(session, NUMBER), new_id()
    claims.next_step(session, call.id, attempt_id, calls_at_once=5)
    [attempt] = calls.attempts_of(session, [call.id])[call.id]
    busy = CallStatus.BUSY, EndedReason.BUSY
    lifecycle.end_attempt(session, call, attempt, *busy, at=clock.now)
    assert call.status is CallStatus.SCHEDULED
    session.delete(number)
    clock.pass_by(minutes=30)
    assert claims.next_step(session, call.id, new_id(), calls_at_once=5).kind is ClaimKind.DONE
    assert ended(call) == STOPPED


def test_calls_in_trial_mode_are_limited_per_organization_and_partner(
    session: Session, clock: SetClock
) -> None:
    limits = TrialLimits(calls_per_organization=2, calls_per_partner=3)
    calling_organization = make_calling_organization(session)
    start_trial_of_partner(session, calling_organization.partner_id)
    add_verified(session, calling_organization, NUMBER)
    for _ in range(2):
        calling_organization.accept(session, NUMBER, trial_limits=limits)
    message = "In trial mode an organization can place 2 calls a day (UTC)."
    assert refused(session, calling_organization, trial_limits=limits) == message
    request, settings = asked_by(calling_organization), CallSettings(trial_limits=limits)
    with pytest.raises(Forbidden, match="2 calls a day"):
        calls.dry_run(session, calling_organization.key, request, settings, live=True)
    calling_organization.accept(session, NUMBER, trial_limits=limits, live=False)

    of_partner = limits._replace(calls_per_organization=9)
    calling_organization.accept(session, NUMBER, trial_limits=of_partner)
    message = "In trial mode the organizations of a portal can place 3 calls a day (UTC)."
    assert refused(session, calling_organization, trial_limits=of_partner) == message
    clock.pass_by(days=1)
    calling_organization.accept(session, NUMBER, trial_limits=limits)


def test_counts_of_past_days_are_removed(session: Session, clock: SetClock) -> None:
    for _ in range(3):
        assert daily_counts.count_one(session, "trial:a", 1)
        clock.pass_by(days=1)
    daily_counts.purge(session)
    today = clock.now.date()
    assert session.scalars(select(DailyCount.day)).all() == [today - timedelta(days=1)]


def test_calls_out_of_trial_are_not_counted(session: Session) -> None:
    limits = TrialLimits(calls_per_organization=1, calls_per_partner=1)
    calling_organization = make_calling_organization(session)
    accepted = [calling_organization.accept(session, NUMBER, trial_limits=limits) for _ in range(3)]
    assert [call.status for call in accepted] == [CallStatus.QUEUED] * 3


def check(
    session: Session, calling_organization: CallingOrganization, number: str = NUMBER, **limits: int
) -> list[object]:
    assistant = session.get_one(Assistant, calling_organization.assistant_id)
    installation = CallSettings(trial_limits=TrialLimits(**limits))
    checks = calls.preflight(
        session,
        calling_organization.key,
        assistant,
        number,
        calls.CallTexts(),
        installation=installation,
    )
    return [(one.status, one.message, one.fix_at) for one in checks if one.code == "trial_mode"]


def test_the_pre_call_checks_name_trial_mode_and_link_to_the_verified_numbers(
    session: Session, calling_organization: CallingOrganization
) -> None:
    assert check(session, calling_organization) == [(CheckStatus.FAILED, REFUSAL, "trial")]
    add_verified(session, calling_organization, NUMBER)
    passed = "The number is verified, so it can be called in trial mode."
    assert check(session, calling_organization) == [(CheckStatus.PASSED, passed, "trial")]
    calling_organization.accept(session, NUMBER)
    used_up = "In trial mode an organization can place 1 call a day (UTC)."
    assert check(session, calling_organization, calls_per_organization=1) == [
        (CheckStatus.FAILED, used_up, "trial")
    ]
    organizations.end_trial(session, OPERATOR, calling_organization.organization_id)
    assert check(session, calling_organization) == []
    assert session.scalars(select(Call.status)).all() == [CallStatus.QUEUED]
