"""Campaigns that run: who is called, in which numbers, and who is left out for which reason."""

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.enums import (
    CallSource,
    CallStatus,
    CarrierKind,
    ContactAction,
    EndedReason,
    OrganizationStatus,
)
from app.errors import Conflict, ValidationFailed
from app.models import Assistant, AuditEntry, CallAttempt, Organization, Outreach, utcnow
from app.services import calls, campaigns, do_not_call, outreach
from app.services.calls import rules
from app.services.calls.lifecycle import end_call
from app.services.outreach import dispatcher
from tests.fixtures.clock import ids_wrong_by
from tests.fixtures.outreach import OWNER
from tests.fixtures.statements import counted
from tests.fixtures.trial import add_verified, start_trial
from tests.services.outreach.conftest import Desk

ADA, BOB, CLEO = "+12025550101", "+12025550102", "+12025550103"


def people(count: int, first: int = 100) -> list[dict[str, str]]:
    return [{"phone": f"+1202555{number:04}"} for number in range(first, first + count)]


def history(desk: Desk) -> list[AuditEntry]:
    entries = select(AuditEntry).where(
        AuditEntry.target_id == str(desk.campaign.id), AuditEntry.action == "campaign.finished"
    )
    return list(desk.session.scalars(entries))


def test_no_contact_is_called_before_a_user_starts_the_campaign(desk: Desk) -> None:
    desk.add({"phone": ADA})
    assert (desk.feed(), dispatcher.due(desk.session, utcnow())) == (0, [])
    desk.start()
    assert dispatcher.due(desk.session, utcnow()) == [desk.campaign.id]
    assert (desk.feed(), desk.feed()) == (1, 0)
    [call] = desk.calls()
    assert (call.phone_number, call.source, call.status, call.live, call.requested_by) == (
        ADA,
        CallSource.CAMPAIGN,
        CallStatus.QUEUED,
        True,
        "Campaign Spring",
    )


def test_a_campaign_without_a_plan_is_not_started(desk: Desk) -> None:
    other = campaigns.create(desk.session, OWNER, desk.line.organization_id, name="Autumn")
    with pytest.raises(Conflict) as refused:
        outreach.start(desk.session, OWNER, other.id)
    assert refused.value.code == "no_plan"


def test_the_words_are_filled_in_for_each_contact(desk: Desk) -> None:
    desk.plan(
        intro_message="Hello {firstName|there}, it is about your {car} {nothing}.",
        voicemail_message="{lastName}, call us back.",
    )
    ada = {"firstName": "Ada", "lastName": "King", "contactMetadata": {"car": "Volvo"}}
    desk.add({"phone": ADA, **ada}, {"phone": BOB})
    desk.start()
    desk.feed()
    spoken = {
        call.phone_number: (call.intro_message, call.voicemail_message) for call in desk.calls()
    }
    assert spoken == {
        ADA: ("Hello Ada, it is about your Volvo.", "King, call us back."),
        BOB: ("Hello there, it is about your.", ", call us back."),
    }


def test_only_a_few_calls_are_queued_ahead(desk: Desk) -> None:
    desk.add(*people(12))
    desk.start()
    assert [desk.feed(calls_at_once=5) for _turn in range(2)] == [5, 0]
    for call in desk.calls()[:2]:
        call.status = CallStatus.IN_PROGRESS
        end_call(desk.session, call, CallStatus.BUSY, EndedReason.BUSY, at=utcnow())
    assert desk.feed(calls_at_once=5) == 2
    desk.plan(calls_at_once=6)
    assert desk.feed(calls_at_once=10) == 1


def test_a_contact_that_cannot_be_called_is_left_out_once_with_the_reason(
    session: Session, desk: Desk
) -> None:
    do_not_call.add(session, OWNER, desk.line.organization_id, BOB)
    desk.add(
        {"phone": ADA},
        {"phone": BOB},
        {"phone": CLEO},
        {"phone": "+442079460000"},
        {"email": "dora@mail.example"},
    )
    desk.add({"phone": CLEO, "status": "Completed "}, action=ContactAction.UPDATE_ONLY)
    desk.start()
    assert (desk.feed(), desk.feed(utcnow() + timedelta(minutes=1))) == (1, 0)
    assert desk.decided() == {
        ADA: ("called", None),
        BOB: ("left-out", "do_not_contact"),
        CLEO: ("left-out", "contact_ended"),
        "+442079460000": ("left-out", "number_not_allowed"),
        None: ("left-out", "no_phone"),
    }
    progress = desk.progress()
    assert (progress.called, progress.open, progress.left_out) == (
        1,
        0,
        {"do_not_contact": 1, "contact_ended": 1, "number_not_allowed": 1, "no_phone": 1},
    )
    listed = outreach.left_out(session, desk.campaign, reason="no_phone")
    assert [(one.contact.email, one.reason) for one in listed.items] == [
        ("dora@mail.example", "no_phone")
    ]


def test_a_forecast_counts_as_the_start_then_does(
    session: Session, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    do_not_call.add(session, OWNER, desk.line.organization_id, BOB)
    desk.add({"phone": ADA}, {"phone": BOB}, {"email": "dora@mail.example"})
    expected = {"do_not_contact": 1, "no_phone": 1}
    found = outreach.forecast(session, desk.campaign)
    with monkeypatch.context() as patched:
        patched.setattr("app.services.outreach.forecasting.LOOKED_AT", 1)
        assert outreach.forecast(session, desk.campaign) == replace(found, is_exact=False)
    assert found == outreach.RoundForecast(1, expected, 0, is_exact=True, listed=1)
    desk.start()
    desk.feed()
    assert (desk.progress().called, desk.progress().left_out) == (1, expected)
    assert outreach.forecast(session, desk.campaign) == outreach.RoundForecast(
        0, expected, 1, is_exact=True, listed=1
    )


def test_a_contact_without_consent_is_left_out_where_it_is_required(
    session: Session, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.get_one(Organization, desk.line.organization_id).consent_required = True
    desk.add(
        {"phone": ADA, "contactMetadata": {"consent": "yes"}},
        {"phone": BOB, "contactMetadata": {"consent": "no"}},
        {"phone": CLEO},
    )
    exact = outreach.forecast(session, desk.campaign)
    monkeypatch.setattr("app.services.outreach.forecasting.LOOKED_AT", 1)
    counted = outreach.forecast(session, desk.campaign)
    assert (exact.called, exact.left_out) == (1, {"do_not_contact": 1, "consent_missing": 1})
    assert counted == replace(exact, is_exact=False)
    session.get_one(Organization, desk.line.organization_id).consent_required = False
    assert outreach.forecast(session, desk.campaign).left_out == {"do_not_contact": 1}
    session.get_one(Organization, desk.line.organization_id).consent_required = True
    desk.start()
    assert desk.feed() == 1
    assert desk.decided() == {
        ADA: ("called", None),
        BOB: ("left-out", "do_not_contact"),
        CLEO: ("left-out", "consent_missing"),
    }


def test_large_campaigns_are_counted_by_the_database_alike(
    session: Session, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    do_not_call.add(session, OWNER, desk.line.organization_id, BOB)
    desk.add(*({"phone": phone} for phone in (ADA, BOB, CLEO)), {"email": "dora@mail.example"})
    desk.start()
    assert desk.feed(calls_at_once=1) == 1
    exact = outreach.forecast(session, desk.campaign)
    monkeypatch.setattr("app.services.outreach.forecasting.LOOKED_AT", 3)
    counted = outreach.forecast(session, desk.campaign)
    assert counted == replace(exact, is_exact=False)
    assert (counted.called, counted.before) == (1, 1)


def test_contacts_that_come_later_are_called_too(desk: Desk) -> None:
    desk.start()
    assert desk.feed() == 0
    desk.add({"phone": ADA})
    assert (desk.feed(), desk.feed()) == (1, 0)


def test_a_finished_campaign_is_checked_rarely_and_calls_new_contacts_at_once(desk: Desk) -> None:
    desk.add(*people(3))
    desk.start()
    assert desk.feed() == 3
    for call in desk.calls():
        end_call(desk.session, call, CallStatus.BUSY, EndedReason.BUSY, at=utcnow())
    now = utcnow() + dispatcher.IDLE
    assert desk.feed(now) == 0
    assert len(history(desk)) == 1
    assert dispatcher.due(desk.session, now + timedelta(minutes=4)) == []
    assert dispatcher.due(desk.session, now + timedelta(minutes=5)) == [desk.campaign.id]
    desk.add(*people(1, first=200))
    assert dispatcher.due(desk.session, now) == [desk.campaign.id]
    assert desk.feed(now) == 1


def test_while_calls_wait_for_a_retry_the_contacts_are_not_counted(desk: Desk) -> None:
    desk.add(*people(3))
    desk.start()
    assert desk.feed() == 3
    for call in desk.calls():
        call.status = CallStatus.SCHEDULED
    desk.session.flush()
    now = utcnow() + dispatcher.IDLE
    assert desk.feed(now) == 0
    now += dispatcher.IDLE
    with counted(desk.session.get_bind().engine) as statements:
        assert desk.feed(now) == 0
    assert [each for each in statements if "count(" in each and "outreach_contacts" in each] == []
    assert dispatcher.due(desk.session, now + dispatcher.IDLE) == [desk.campaign.id]


def test_a_contact_that_comes_later_with_an_earlier_id_is_called_too(desk: Desk) -> None:
    desk.add({"phone": ADA})
    desk.start()
    assert desk.feed() == 1
    with ids_wrong_by(hours=-1):
        desk.add({"phone": BOB})
    assert desk.feed(utcnow() + dispatcher.IDLE) == 1


def test_a_pause_withdraws_waiting_calls_and_a_resume_queues_them_again(desk: Desk) -> None:
    desk.add(*people(8))
    desk.start()
    desk.feed(calls_at_once=5)
    begun = desk.calls()[0]
    begun.status = CallStatus.DIALING
    desk.session.flush()
    desk.pause()
    assert [call.status for call in desk.calls()] == [CallStatus.DIALING] + [
        CallStatus.CANCELED
    ] * 4
    assert desk.feed(calls_at_once=20) == 0
    desk.start()
    assert desk.feed(calls_at_once=20) == 7
    waiting = {call.phone_number for call in desk.calls(CallStatus.QUEUED)}
    assert waiting == {person["phone"] for person in people(8)} - {begun.phone_number}


def test_a_call_that_waits_for_another_attempt_ends_with_a_pause_as_it_was(desk: Desk) -> None:
    desk.add({"phone": ADA})
    desk.start()
    desk.feed()
    [call] = desk.calls()
    desk.session.add(
        CallAttempt(
            organization_id=call.organization_id,
            call_id=call.id,
            number=1,
            carrier=call.carrier,
            status=CallStatus.BUSY,
            ended_reason=EndedReason.BUSY,
        )
    )
    call.status, call.next_attempt_at = CallStatus.SCHEDULED, utcnow() + timedelta(hours=1)
    call.started_at = utcnow()
    desk.session.flush()
    desk.pause()
    assert (call.status, call.ended_reason) == (CallStatus.BUSY, EndedReason.BUSY)
    desk.start()
    assert desk.feed() == 0


@pytest.mark.parametrize("status", ["completed", " Disqualified"])
def test_a_status_that_ends_outreach_cancels_the_call_at_once(desk: Desk, status: str) -> None:
    desk.add({"phone": ADA})
    desk.start()
    desk.feed()
    desk.add({"phone": ADA, "status": status}, action=ContactAction.UPDATE_ONLY)
    [call] = desk.calls()
    assert (call.status, call.ended_reason) == (CallStatus.CANCELED, EndedReason.CONTACT_ENDED)


@pytest.mark.parametrize("stop", ["pause", "archive"])
def test_a_call_of_a_stopped_campaign_is_not_dialled(desk: Desk, stop: str) -> None:
    desk.add({"phone": ADA})
    desk.start()
    desk.feed()
    [call] = desk.calls()
    assert rules.outreach_is_active(desk.session, call) is None
    getattr(campaigns, stop)(desk.session, OWNER, desk.campaign.id)
    blocker = rules.outreach_is_active(desk.session, call)
    assert blocker is not None
    assert (call.status, blocker.reason) == (CallStatus.CANCELED, EndedReason.CANCELED)


def test_the_pace_is_kept_and_missed_calls_are_not_caught_up(desk: Desk) -> None:
    desk.plan(calls_per_hour=360)
    desk.add(*people(30))
    desk.start()
    now = utcnow()
    ten = timedelta(seconds=10)
    turns = [now, now + ten / 2, now + ten, now + ten + ten, now + timedelta(hours=1)]
    assert [desk.feed(at, calls_at_once=20) for at in turns] == [1, 0, 1, 1, 2]


def test_calls_begin_on_the_first_day_of_the_plan_and_end_with_the_last(desk: Desk) -> None:
    desk.session.get_one(Assistant, desk.line.assistant_id).timezone = "America/New_York"
    desk.plan(starts_on=date(2026, 12, 1), ends_on=date(2026, 12, 2), calls_per_hour=60)
    desk.add(*people(4))
    desk.start()
    begins = datetime(2026, 12, 1, 5, 0, tzinfo=UTC)
    ends = datetime(2026, 12, 3, 5, 0, tzinfo=UTC)
    minute = timedelta(minutes=1)
    plan = desk.session.get_one(Outreach, desk.campaign.id)
    held = []
    for at in (begins - minute, begins, ends - minute, ends):
        plan.next_at = None
        held.append((desk.feed(at), plan.held_reason))
    assert held == [
        (0, "The first day of the plan hasn’t come yet."),
        (1, None),
        (1, None),
        (0, "The last day of the plan is over."),
    ]
    assert outreach.blocked_campaigns(desk.session, OWNER, 5) == []
    desk.plan(starts_on=date(2026, 12, 1), ends_on=date(2026, 12, 10), calls_per_hour=60)
    assert desk.feed(ends) == 1


def test_contacts_are_called_in_the_calling_hours_of_their_region(desk: Desk) -> None:
    desk.plan(weekdays=frozenset({1, 2, 3, 4, 5}), hours_start=time(9), hours_end=time(17))
    desk.add({"phone": "+12025550101"}, {"phone": "+12135550101"}, {"phone": "+18085550101"})
    desk.start()
    saturday = datetime(2026, 11, 21, 18, 0, tzinfo=UTC)
    desk.session.execute(update(Outreach).values(started_at=saturday, resumed_at=saturday))
    assert desk.feed(saturday) == 0
    progress = desk.progress(saturday)
    monday_nine = datetime(2026, 11, 23, 14, 0, tzinfo=UTC)
    assert (progress.waiting, progress.next_due) == ({"hours": 3}, monday_nine)
    fed = [desk.feed(monday_nine + timedelta(hours=hours)) for hours in (0, 1, 3, 5)]
    assert fed == [1, 0, 1, 1]


def test_the_organizations_hours_narrow_those_of_the_plan(session: Session, desk: Desk) -> None:
    organization = session.get_one(Organization, desk.line.organization_id)
    organization.calling_hours_on = True
    organization.calling_hours_start, organization.calling_hours_end = time(12), time(13)
    desk.plan(hours_start=time(9), hours_end=time(11))
    desk.add({"phone": ADA})
    desk.start()
    desk.feed()
    assert desk.decided() == {ADA: ("left-out", "no_hour")}


def test_a_suspended_organization_or_assistant_holds_the_campaign(
    session: Session, desk: Desk
) -> None:
    desk.add({"phone": ADA})
    desk.start()
    organization = session.get_one(Organization, desk.line.organization_id)
    assistant = session.get_one(Assistant, desk.line.assistant_id)
    held = []
    at = utcnow()
    for thing, name, value in (
        (organization, "status", OrganizationStatus.SUSPENDED),
        (assistant, "active", False),
        (organization, "max_calls_a_day", 1),
    ):
        before = getattr(thing, name)
        setattr(thing, name, value)
        if name == "max_calls_a_day":
            one_call_made(desk)
        session.flush()
        at += timedelta(minutes=6)
        fed = desk.feed(at)
        stored = outreach.stored_plan(session, desk.campaign)
        assert stored is not None
        held.append((fed, stored.held_reason))
        setattr(thing, name, before)
    assert held == [
        (0, "The organization is suspended: it places no calls."),
        (0, "The assistant is switched off."),
        (0, "The organization's daily call limit is reached."),
    ]
    session.flush()
    assert desk.feed(at + timedelta(minutes=6)) == 1


def one_call_made(desk: Desk) -> None:
    call_id = desk.line.accept(desk.session, CLEO).id
    desk.session.add(
        CallAttempt(
            organization_id=desk.line.organization_id,
            call_id=call_id,
            number=1,
            carrier=CarrierKind.SIMULATOR,
            status=CallStatus.BUSY,
            ended_reason=EndedReason.BUSY,
            started_at=utcnow() + timedelta(minutes=18),
        )
    )


def test_a_contact_is_called_again_after_a_suspension_ended_the_call(
    session: Session, desk: Desk
) -> None:
    desk.add({"phone": ADA}, {"phone": BOB})
    desk.start()
    desk.feed()
    ada, bob = desk.calls()
    organization = session.get_one(Organization, desk.line.organization_id)
    organization.status = OrganizationStatus.SUSPENDED
    session.flush()
    reason = EndedReason.ORGANIZATION_SUSPENDED
    end_call(session, ada, CallStatus.CANCELED, reason, at=utcnow())
    calls.cancel(session, OWNER, bob.id, ())
    at = utcnow() + timedelta(minutes=1)
    assert desk.feed(at) == 0
    organization.status = OrganizationStatus.ACTIVE
    session.flush()
    assert desk.feed(at + timedelta(minutes=1)) == 1
    assert [call.phone_number for call in desk.calls(CallStatus.QUEUED)] == [ADA]


def test_a_round_ends_when_everyone_was_called_and_can_be_repeated(desk: Desk) -> None:
    desk.add({"phone": ADA}, {"email": "dora@mail.example"})
    desk.start()
    desk.feed()
    with pytest.raises(Conflict) as refused:
        desk.start(again=outreach.RecallChoice.ALL)
    assert refused.value.code == "round_under_way"
    [call] = desk.calls()
    end_call(desk.session, call, CallStatus.BUSY, EndedReason.BUSY, at=utcnow())
    assert desk.progress().is_over
    desk.start(again=outreach.RecallChoice.ALL)
    assert desk.feed() == 1
    assert [call.phone_number for call in desk.calls()] == [ADA, ADA]


def test_the_end_is_estimated_from_the_pace_and_the_plans_hours(desk: Desk) -> None:
    desk.plan(
        weekdays=frozenset({1, 2, 3, 4, 5}),
        hours_start=time(9),
        hours_end=time(17),
        calls_per_hour=4,
    )
    desk.add(*people(40))
    desk.start()
    friday_afternoon = datetime(2026, 11, 20, 17, 0, tzinfo=UTC)
    progress = desk.progress(friday_afternoon)
    # It is noon in Washington: 5 hours are left of Friday, 5 more are needed on Monday.
    assert (progress.pace, progress.ends_at) == (4.0, datetime(2026, 11, 23, 19, 0, tzinfo=UTC))


def test_an_impossible_plan_is_refused_at_its_fields(desk: Desk) -> None:
    with pytest.raises(ValidationFailed) as refused:
        desk.plan(
            assistant_id=None,
            weekdays=frozenset(),
            hours_start=time(9),
            hours_end=time(9),
            starts_on=date(2026, 12, 2),
            ends_on=date(2026, 12, 1),
            calls_per_hour=0,
            calls_at_once=21,
            intro_message="x" * 1001,
        )
    assert [(problem.field, problem.code) for problem in refused.value.problems] == [
        ("agentId", "agent_not_found"),
        ("weekdays", "required"),
        ("hoursEnd", "end_before_start"),
        ("endsOn", "end_before_start"),
        ("callsPerHour", "out_of_range"),
        ("callsAtOnce", "out_of_range"),
        ("introMessage", "too_long"),
    ]
    with pytest.raises(ValidationFailed) as incomplete:
        desk.plan(voicemail_message=None)
    assert incomplete.value.code == "messaging_incomplete"


@pytest.mark.parametrize("looked_at", [1, 1000])
def test_in_trial_mode_only_verified_numbers_are_called(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, looked_at: int
) -> None:
    monkeypatch.setattr("app.services.outreach.forecasting.LOOKED_AT", looked_at)
    start_trial(desk.session, desk.line.organization_id)
    add_verified(desk.session, desk.line, "+12125550001")
    desk.add({"phone": "+12125550001"}, {"phone": "+12125550002"})
    planned = outreach.forecast(desk.session, desk.campaign)
    assert (planned.called, planned.left_out) == (1, {"trial_mode": 1})
    desk.start()
    assert desk.feed() == 1
    assert desk.decided() == {
        "+12125550001": ("called", None),
        "+12125550002": ("left-out", "trial_mode"),
    }
