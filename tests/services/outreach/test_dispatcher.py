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
from app.gateways.carriers.base import (
    CarrierEvent,
    CarrierEventKind,
    CarrierReport,
    PlacementVerdict,
)
from app.models import (
    Assistant,
    AuditEntry,
    Call,
    CallAttempt,
    Organization,
    Outreach,
    new_id,
    utcnow,
)
from app.services import calls, campaigns, do_not_call, outreach
from app.services.calls import attempts, carrier_reports, claims, rules
from app.services.calls.lifecycle import end_attempt, end_call
from app.services.calls.states import lock_attempt
from app.services.outreach import dispatcher
from tests.fixtures.clock import SetClock, ids_wrong_by
from tests.fixtures.outreach import OWNER
from tests.fixtures.statements import counted
from tests.fixtures.trial import add_verified, start_trial
from tests.services.outreach.conftest import PlannedCampaign

ADA, BOB, CLEO = "+12025550101", "+12025550102", "+12025550103"


def people(count: int, first: int = 100) -> list[dict[str, str]]:
    return [{"phone": f"+1202555{number:04}"} for number in range(first, first + count)]


def history(planned_campaign: PlannedCampaign) -> list[AuditEntry]:
    entries = select(AuditEntry).where(
        AuditEntry.target_id == str(planned_campaign.campaign.id),
        AuditEntry.action == "campaign.finished",
    )
    return list(planned_campaign.session.scalars(entries))


def test_no_contact_is_called_before_a_user_starts_the_campaign(
    planned_campaign: PlannedCampaign,
) -> None:
    planned_campaign.add({"phone": ADA})
    assert (planned_campaign.feed(), dispatcher.due(planned_campaign.session, utcnow())) == (0, [])
    planned_campaign.start()
    assert dispatcher.due(planned_campaign.session, utcnow()) == [planned_campaign.campaign.id]
    assert (planned_campaign.feed(), planned_campaign.feed()) == (1, 0)
    [call] = planned_campaign.calls()
    assert (call.phone_number, call.source, call.status, call.live, call.requested_by) == (
        ADA,
        CallSource.CAMPAIGN,
        CallStatus.QUEUED,
        True,
        "Campaign Spring",
    )


def test_a_campaign_without_a_plan_is_not_started(planned_campaign: PlannedCampaign) -> None:
    other = campaigns.create(
        planned_campaign.session,
        OWNER,
        planned_campaign.calling_organization.organization_id,
        name="Autumn",
    )
    with pytest.raises(Conflict) as refused:
        outreach.start(planned_campaign.session, OWNER, other.id)
    assert refused.value.code == "no_plan"


def test_the_words_are_filled_in_for_each_contact(planned_campaign: PlannedCampaign) -> None:
    planned_campaign.plan(
        intro_message="Hello {firstName|there}, it is about your {car} {nothing}.",
        voicemail_message="{lastName}, call us back.",
    )
    ada = {"firstName": "Ada", "lastName": "King", "contactMetadata": {"car": "Volvo"}}
    planned_campaign.add({"phone": ADA, **ada}, {"phone": BOB})
    planned_campaign.start()
    planned_campaign.feed()
    spoken = {
        call.phone_number: (call.intro_message, call.voicemail_message)
        for call in planned_campaign.calls()
    }
    assert spoken == {
        ADA: ("Hello Ada, it is about your Volvo.", "King, call us back."),
        BOB: ("Hello there, it is about your.", ", call us back."),
    }


def test_only_a_few_calls_are_queued_ahead(planned_campaign: PlannedCampaign) -> None:
    planned_campaign.add(*people(12))
    planned_campaign.start()
    assert [planned_campaign.feed(calls_at_once=5) for _turn in range(2)] == [5, 0]
    for call in planned_campaign.calls()[:2]:
        call.status = CallStatus.IN_PROGRESS
        end_call(planned_campaign.session, call, CallStatus.BUSY, EndedReason.BUSY, at=utcnow())
    assert planned_campaign.feed(calls_at_once=5) == 2
    planned_campaign.plan(calls_at_once=6)
    assert planned_campaign.feed(calls_at_once=10) == 1


def test_a_contact_that_cannot_be_called_is_left_out_once_with_the_reason(
    session: Session, planned_campaign: PlannedCampaign
) -> None:
    do_not_call.add(session, OWNER, planned_campaign.calling_organization.organization_id, BOB)
    planned_campaign.add(
        {"phone": ADA},
        {"phone": BOB},
        {"phone": CLEO},
        {"phone": "+442079460000"},
        {"email": "dora@mail.example"},
    )
    planned_campaign.add({"phone": CLEO, "status": "Completed "}, action=ContactAction.UPDATE_ONLY)
    planned_campaign.start()
    assert (planned_campaign.feed(), planned_campaign.feed(utcnow() + timedelta(minutes=1))) == (
        1,
        0,
    )
    assert planned_campaign.decided() == {
        ADA: ("called", None),
        BOB: ("left-out", "do_not_contact"),
        CLEO: ("left-out", "contact_ended"),
        "+442079460000": ("left-out", "number_not_allowed"),
        None: ("left-out", "no_phone"),
    }
    progress = planned_campaign.progress()
    assert (progress.called, progress.open, progress.left_out) == (
        1,
        0,
        {"do_not_contact": 1, "contact_ended": 1, "number_not_allowed": 1, "no_phone": 1},
    )
    listed = outreach.left_out(session, planned_campaign.campaign, reason="no_phone")
    assert [(one.contact.email, one.reason) for one in listed.items] == [
        ("dora@mail.example", "no_phone")
    ]


def test_a_forecast_counts_as_the_start_then_does(
    session: Session, planned_campaign: PlannedCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    do_not_call.add(session, OWNER, planned_campaign.calling_organization.organization_id, BOB)
    planned_campaign.add({"phone": ADA}, {"phone": BOB}, {"email": "dora@mail.example"})
    expected = {"do_not_contact": 1, "no_phone": 1}
    found = outreach.forecast(session, planned_campaign.campaign)
    with monkeypatch.context() as patched:
        patched.setattr("app.services.outreach.forecasting.LOOKED_AT", 1)
        assert outreach.forecast(session, planned_campaign.campaign) == replace(
            found, is_exact=False
        )
    assert found == outreach.RoundForecast(1, expected, 0, is_exact=True, on_do_not_call_list=1)
    planned_campaign.start()
    planned_campaign.feed()
    assert (planned_campaign.progress().called, planned_campaign.progress().left_out) == (
        1,
        expected,
    )
    assert outreach.forecast(session, planned_campaign.campaign) == outreach.RoundForecast(
        0, expected, 1, is_exact=True, on_do_not_call_list=1
    )


def test_a_contact_without_consent_is_left_out_where_it_is_required(
    session: Session, planned_campaign: PlannedCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.get_one(
        Organization, planned_campaign.calling_organization.organization_id
    ).consent_required = True
    planned_campaign.add(
        {"phone": ADA, "contactMetadata": {"consent": "yes"}},
        {"phone": BOB, "contactMetadata": {"consent": "no"}},
        {"phone": CLEO},
    )
    exact = outreach.forecast(session, planned_campaign.campaign)
    monkeypatch.setattr("app.services.outreach.forecasting.LOOKED_AT", 1)
    counted = outreach.forecast(session, planned_campaign.campaign)
    assert (exact.called, exact.left_out) == (1, {"do_not_contact": 1, "consent_missing": 1})
    assert counted == replace(exact, is_exact=False)
    session.get_one(
        Organization, planned_campaign.calling_organization.organization_id
    ).consent_required = False
    assert outreach.forecast(session, planned_campaign.campaign).left_out == {"do_not_contact": 1}
    session.get_one(
        Organization, planned_campaign.calling_organization.organization_id
    ).consent_required = True
    planned_campaign.start()
    assert planned_campaign.feed() == 1
    assert planned_campaign.decided() == {
        ADA: ("called", None),
        BOB: ("left-out", "do_not_contact"),
        CLEO: ("left-out", "consent_missing"),
    }


def test_large_campaigns_are_counted_by_the_database_alike(
    session: Session, planned_campaign: PlannedCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    do_not_call.add(session, OWNER, planned_campaign.calling_organization.organization_id, BOB)
    planned_campaign.add(
        *({"phone": phone} for phone in (ADA, BOB, CLEO)), {"email": "dora@mail.example"}
    )
    planned_campaign.start()
    assert planned_campaign.feed(calls_at_once=1) == 1
    exact = outreach.forecast(session, planned_campaign.campaign)
    monkeypatch.setattr("app.services.outreach.forecasting.LOOKED_AT", 3)
    counted = outreach.forecast(session, planned_campaign.campaign)
    assert counted == replace(exact, is_exact=False)
    assert (counted.called, counted.before) == (1, 1)


def test_contacts_that_come_later_are_called_too(planned_campaign: PlannedCampaign) -> None:
    planned_campaign.start()
    assert planned_campaign.feed() == 0
    planned_campaign.add({"phone": ADA})
    assert (planned_campaign.feed(), planned_campaign.feed()) == (1, 0)


def test_a_finished_campaign_is_checked_rarely_and_calls_new_contacts_at_once(
    planned_campaign: PlannedCampaign,
) -> None:
    planned_campaign.add(*people(3))
    planned_campaign.start()
    assert planned_campaign.feed() == 3
    for call in planned_campaign.calls():
        end_call(planned_campaign.session, call, CallStatus.BUSY, EndedReason.BUSY, at=utcnow())
    now = utcnow() + dispatcher.IDLE
    assert planned_campaign.feed(now) == 0
    assert len(history(planned_campaign)) == 1
    assert dispatcher.due(planned_campaign.session, now + timedelta(minutes=4)) == []
    assert dispatcher.due(planned_campaign.session, now + timedelta(minutes=5)) == [
        planned_campaign.campaign.id
    ]
    planned_campaign.add(*people(1, first=200))
    assert dispatcher.due(planned_campaign.session, now) == [planned_campaign.campaign.id]
    assert planned_campaign.feed(now) == 1


def test_while_calls_wait_for_a_retry_the_contacts_are_not_counted(
    planned_campaign: PlannedCampaign,
) -> None:
    planned_campaign.add(*people(3))
    planned_campaign.start()
    assert planned_campaign.feed() == 3
    for call in planned_campaign.calls():
        call.status = CallStatus.SCHEDULED
    planned_campaign.session.flush()
    now = utcnow() + dispatcher.IDLE
    assert planned_campaign.feed(now) == 0
    now += dispatcher.IDLE
    with counted(planned_campaign.session.get_bind().engine) as statements:
        assert planned_campaign.feed(now) == 0
    assert [each for each in statements if "count(" in each and "outreach_contacts" in each] == []
    assert dispatcher.due(planned_campaign.session, now + dispatcher.IDLE) == [
        planned_campaign.campaign.id
    ]


def test_a_contact_that_comes_later_with_an_earlier_id_is_called_too(
    planned_campaign: PlannedCampaign,
) -> None:
    planned_campaign.add({"phone": ADA})
    planned_campaign.start()
    assert planned_campaign.feed() == 1
    with ids_wrong_by(hours=-1):
        planned_campaign.add({"phone": BOB})
    assert planned_campaign.feed(utcnow() + dispatcher.IDLE) == 1


def test_a_pause_withdraws_waiting_calls_and_a_resume_queues_them_again(
    planned_campaign: PlannedCampaign,
) -> None:
    planned_campaign.add(*people(8))
    planned_campaign.start()
    planned_campaign.feed(calls_at_once=5)
    begun = planned_campaign.calls()[0]
    begun.status = CallStatus.DIALING
    planned_campaign.session.flush()
    planned_campaign.pause()
    assert [call.status for call in planned_campaign.calls()] == [CallStatus.DIALING] + [
        CallStatus.CANCELED
    ] * 4
    assert planned_campaign.feed(calls_at_once=20) == 0
    planned_campaign.start()
    assert planned_campaign.feed(calls_at_once=20) == 7
    waiting = {call.phone_number for call in planned_campaign.calls(CallStatus.QUEUED)}
    assert waiting == {person["phone"] for person in people(8)} - {begun.phone_number}


def test_a_call_that_waits_for_another_attempt_ends_with_a_pause_as_it_was(
    planned_campaign: PlannedCampaign,
) -> None:
    planned_campaign.add({"phone": ADA})
    planned_campaign.start()
    planned_campaign.feed()
    [call] = planned_campaign.calls()
    planned_campaign.session.add(
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
    planned_campaign.session.flush()
    planned_campaign.pause()
    assert (call.status, call.ended_reason) == (CallStatus.BUSY, EndedReason.BUSY)
    planned_campaign.start()
    assert planned_campaign.feed() == 0


def test_a_call_ends_with_a_pause_as_its_last_attempt_that_was_placed(
    planned_campaign: PlannedCampaign, clock: SetClock
) -> None:
    session, placed, unplaced = planned_campaign.session, new_id(), new_id()
    session.execute(update(Organization).values(retry_times=1))
    planned_campaign.add({"phone": ADA})
    planned_campaign.start()
    planned_campaign.feed()
    [call] = planned_campaign.calls()
    claims.next_step(session, call.id, placed, calls_at_once=5)
    busy = CarrierEvent(CarrierEventKind.ENDED, clock.now, reason=EndedReason.BUSY)
    carrier_reports.apply(session, placed, CarrierReport(PlacementVerdict.PLACED, "1", [busy]))
    clock.pass_by(hours=1)
    claims.next_step(session, call.id, unplaced, calls_at_once=5)
    attempts.record_never_placed(session, unplaced)
    assert call.status is CallStatus.QUEUED
    planned_campaign.pause()
    assert (call.status, call.ended_reason) == (CallStatus.BUSY, EndedReason.BUSY)


@pytest.mark.parametrize("stopped_by", ["delay", "requeue"])
def test_a_contact_whose_attempt_was_never_placed_is_called_after_a_pause(
    planned_campaign: PlannedCampaign, stopped_by: str
) -> None:
    session, attempt_id = planned_campaign.session, new_id()
    planned_campaign.add({"phone": ADA})
    planned_campaign.start()
    planned_campaign.feed()
    [call] = planned_campaign.calls()
    claims.next_step(session, call.id, attempt_id, calls_at_once=5)
    if stopped_by == "requeue":
        attempts.record_never_placed(session, attempt_id)
        planned_campaign.pause()
    else:
        attempts.record_carrier_retry(session, attempt_id, 0, "The carrier asked to wait.")
        planned_campaign.pause()
        claims.claim_retry(session, attempt_id)
    assert call.status is CallStatus.CANCELED
    planned_campaign.start()
    assert planned_campaign.feed() == 1


@pytest.mark.parametrize("status", ["completed", " Disqualified"])
def test_a_status_that_ends_outreach_cancels_the_call_at_once(
    planned_campaign: PlannedCampaign, status: str
) -> None:
    planned_campaign.add({"phone": ADA})
    planned_campaign.start()
    planned_campaign.feed()
    planned_campaign.add({"phone": ADA, "status": status}, action=ContactAction.UPDATE_ONLY)
    [call] = planned_campaign.calls()
    assert (call.status, call.ended_reason) == (CallStatus.CANCELED, EndedReason.CONTACT_ENDED)


@pytest.mark.parametrize("stop", ["pause", "archive"])
def test_a_call_of_a_stopped_campaign_is_not_placed(
    planned_campaign: PlannedCampaign, stop: str
) -> None:
    planned_campaign.add({"phone": ADA})
    planned_campaign.start()
    planned_campaign.feed()
    [call] = planned_campaign.calls()
    assert rules.outreach_blocker(planned_campaign.session, call) is None
    getattr(campaigns, stop)(planned_campaign.session, OWNER, planned_campaign.campaign.id)
    blocker = rules.outreach_blocker(planned_campaign.session, call)
    assert blocker is not None
    assert (call.status, blocker.reason) == (CallStatus.CANCELED, EndedReason.CANCELED)


def test_the_pace_is_kept_and_missed_calls_are_not_caught_up(
    planned_campaign: PlannedCampaign,
) -> None:
    planned_campaign.plan(calls_per_hour=360)
    planned_campaign.add(*people(30))
    planned_campaign.start()
    now = utcnow()
    ten = timedelta(seconds=10)
    turns = [now, now + ten / 2, now + ten, now + ten + ten, now + timedelta(hours=1)]
    assert [planned_campaign.feed(at, calls_at_once=20) for at in turns] == [1, 0, 1, 1, 2]


def test_calls_begin_on_the_first_day_of_the_plan_and_end_with_the_last(
    planned_campaign: PlannedCampaign,
) -> None:
    planned_campaign.session.get_one(
        Assistant, planned_campaign.calling_organization.assistant_id
    ).timezone = "America/New_York"
    planned_campaign.plan(starts_on=date(2026, 12, 1), ends_on=date(2026, 12, 2), calls_per_hour=60)
    planned_campaign.add(*people(4))
    planned_campaign.start()
    begins = datetime(2026, 12, 1, 5, 0, tzinfo=UTC)
    ends = datetime(2026, 12, 3, 5, 0, tzinfo=UTC)
    minute = timedelta(minutes=1)
    plan = planned_campaign.session.get_one(Outreach, planned_campaign.campaign.id)
    held = []
    for at in (begins - minute, begins, ends - minute, ends):
        plan.next_at = None
        held.append((planned_campaign.feed(at), plan.held_reason))
    assert held == [
        (0, "The first day of the plan hasn’t come yet."),
        (1, None),
        (1, None),
        (0, "The last day of the plan is over."),
    ]
    assert outreach.blocked_campaigns(planned_campaign.session, OWNER, 5) == []
    planned_campaign.plan(
        starts_on=date(2026, 12, 1), ends_on=date(2026, 12, 10), calls_per_hour=60
    )
    assert planned_campaign.feed(ends) == 1


def test_contacts_are_called_in_the_calling_hours_of_their_region(
    planned_campaign: PlannedCampaign,
) -> None:
    planned_campaign.plan(
        weekdays=frozenset({1, 2, 3, 4, 5}), hours_start=time(9), hours_end=time(17)
    )
    planned_campaign.add(
        {"phone": "+12025550101"}, {"phone": "+12135550101"}, {"phone": "+18085550101"}
    )
    planned_campaign.start()
    saturday = datetime(2026, 11, 21, 18, 0, tzinfo=UTC)
    planned_campaign.session.execute(
        update(Outreach).values(started_at=saturday, resumed_at=saturday)
    )
    assert planned_campaign.feed(saturday) == 0
    progress = planned_campaign.progress(saturday)
    monday_nine = datetime(2026, 11, 23, 14, 0, tzinfo=UTC)
    assert (progress.waiting, progress.next_due) == ({"hours": 3}, monday_nine)
    fed = [planned_campaign.feed(monday_nine + timedelta(hours=hours)) for hours in (0, 1, 3, 5)]
    assert fed == [1, 0, 1, 1]


def busy_call(planned_campaign: PlannedCampaign, **plan: date) -> Call:
    """A call to New York that was busy half an hour before the end of the plan's hours, and whose
    organization retries after an hour."""
    session = planned_campaign.session
    organization = session.get_one(
        Organization, planned_campaign.calling_organization.organization_id
    )
    organization.retry_times, organization.retry_minutes = 1, 60
    planned_campaign.plan(hours_start=time(9), hours_end=time(17), **plan)
    planned_campaign.add({"phone": "+12125550101"})
    planned_campaign.start()
    planned_campaign.feed()
    [call] = planned_campaign.calls()
    attempt_id = new_id()
    claims.next_step(session, call.id, attempt_id, calls_at_once=5)
    busy = CallStatus.BUSY, EndedReason.BUSY
    end_attempt(session, *lock_attempt(session, attempt_id), *busy, at=utcnow())
    return call


def test_a_retry_waits_for_the_hours_of_the_plan(
    clock: SetClock, planned_campaign: PlannedCampaign
) -> None:
    clock.set("2026-11-20T16:30-05:00")
    call = busy_call(planned_campaign)
    clock.pass_by(hours=1)
    claims.next_step(planned_campaign.session, call.id, new_id(), calls_at_once=5)
    opens = datetime(2026, 11, 21, 14, 0, tzinfo=UTC)
    assert (call.status, call.scheduled_for) == (CallStatus.SCHEDULED, opens)


def test_a_call_is_not_retried_after_the_last_day_of_the_plan(
    clock: SetClock, planned_campaign: PlannedCampaign
) -> None:
    clock.set("2026-11-20T16:30-05:00")
    call = busy_call(planned_campaign, ends_on=date(2026, 11, 20))
    assert (call.status, call.next_attempt_at) == (CallStatus.BUSY, None)


def test_a_call_that_still_waits_when_the_last_day_of_the_plan_is_over_is_stopped(
    clock: SetClock, planned_campaign: PlannedCampaign
) -> None:
    clock.set("2026-11-20T16:30-05:00")
    planned_campaign.plan(hours_start=time(9), hours_end=time(17), ends_on=date(2026, 11, 20))
    planned_campaign.add({"phone": "+12125550101"})
    planned_campaign.start()
    planned_campaign.feed()
    [call] = planned_campaign.calls()
    clock.set("2026-11-21T09:00-05:00")
    claims.next_step(planned_campaign.session, call.id, new_id(), calls_at_once=5)
    assert (call.status, call.status_detail) == (
        CallStatus.CANCELED,
        "The last day of the plan is over.",
    )


def test_the_organizations_hours_narrow_those_of_the_plan(
    session: Session, planned_campaign: PlannedCampaign
) -> None:
    organization = session.get_one(
        Organization, planned_campaign.calling_organization.organization_id
    )
    organization.calling_hours_on = True
    organization.calling_hours_start, organization.calling_hours_end = time(12), time(13)
    planned_campaign.plan(hours_start=time(9), hours_end=time(11))
    planned_campaign.add({"phone": ADA})
    planned_campaign.start()
    planned_campaign.feed()
    assert planned_campaign.decided() == {ADA: ("left-out", "no_hour")}


def test_a_suspended_organization_or_assistant_holds_the_campaign(
    session: Session, planned_campaign: PlannedCampaign
) -> None:
    planned_campaign.add({"phone": ADA})
    planned_campaign.start()
    organization = session.get_one(
        Organization, planned_campaign.calling_organization.organization_id
    )
    assistant = session.get_one(Assistant, planned_campaign.calling_organization.assistant_id)
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
            one_call_made(planned_campaign)
        session.flush()
        at += timedelta(minutes=6)
        fed = planned_campaign.feed(at)
        stored = outreach.stored_plan(session, planned_campaign.campaign)
        assert stored is not None
        held.append((fed, stored.held_reason))
        setattr(thing, name, before)
    assert held == [
        (0, "The organization is suspended: it places no calls."),
        (0, "The assistant is switched off."),
        (0, "The organization's daily call limit is reached."),
    ]
    session.flush()
    assert planned_campaign.feed(at + timedelta(minutes=6)) == 1


def one_call_made(planned_campaign: PlannedCampaign) -> None:
    call_id = planned_campaign.calling_organization.accept(planned_campaign.session, CLEO).id
    planned_campaign.session.add(
        CallAttempt(
            organization_id=planned_campaign.calling_organization.organization_id,
            call_id=call_id,
            number=1,
            carrier=CarrierKind.SIMULATOR,
            status=CallStatus.BUSY,
            ended_reason=EndedReason.BUSY,
            started_at=utcnow() + timedelta(minutes=18),
        )
    )


def test_a_contact_is_called_again_after_a_suspension_ended_the_call(
    session: Session, planned_campaign: PlannedCampaign
) -> None:
    planned_campaign.add({"phone": ADA}, {"phone": BOB})
    planned_campaign.start()
    planned_campaign.feed()
    ada, bob = planned_campaign.calls()
    organization = session.get_one(
        Organization, planned_campaign.calling_organization.organization_id
    )
    organization.status = OrganizationStatus.SUSPENDED
    session.flush()
    reason = EndedReason.ORGANIZATION_SUSPENDED
    end_call(session, ada, CallStatus.CANCELED, reason, at=utcnow())
    calls.cancel(session, OWNER, bob.id, ())
    at = utcnow() + timedelta(minutes=1)
    assert planned_campaign.feed(at) == 0
    organization.status = OrganizationStatus.ACTIVE
    session.flush()
    assert planned_campaign.feed(at + timedelta(minutes=1)) == 1
    assert [call.phone_number for call in planned_campaign.calls(CallStatus.QUEUED)] == [ADA]


def test_a_round_ends_when_everyone_was_called_and_can_be_repeated(
    planned_campaign: PlannedCampaign,
) -> None:
    planned_campaign.add({"phone": ADA}, {"email": "dora@mail.example"})
    planned_campaign.start()
    planned_campaign.feed()
    with pytest.raises(Conflict) as refused:
        planned_campaign.start(recall=outreach.RecallChoice.ALL)
    assert refused.value.code == "round_under_way"
    [call] = planned_campaign.calls()
    end_call(planned_campaign.session, call, CallStatus.BUSY, EndedReason.BUSY, at=utcnow())
    assert planned_campaign.progress().is_over
    planned_campaign.start(recall=outreach.RecallChoice.ALL)
    assert planned_campaign.feed() == 1
    assert [call.phone_number for call in planned_campaign.calls()] == [ADA, ADA]


def test_the_end_is_estimated_from_the_pace_and_the_plans_hours(
    planned_campaign: PlannedCampaign,
) -> None:
    planned_campaign.plan(
        weekdays=frozenset({1, 2, 3, 4, 5}),
        hours_start=time(9),
        hours_end=time(17),
        calls_per_hour=4,
    )
    planned_campaign.add(*people(40))
    planned_campaign.start()
    friday_afternoon = datetime(2026, 11, 20, 17, 0, tzinfo=UTC)
    progress = planned_campaign.progress(friday_afternoon)
    # It is noon in Washington: 5 hours are left of Friday, 5 more are needed on Monday.
    assert (progress.pace, progress.ends_at) == (4.0, datetime(2026, 11, 23, 19, 0, tzinfo=UTC))


def test_an_impossible_plan_is_refused_at_its_fields(planned_campaign: PlannedCampaign) -> None:
    with pytest.raises(ValidationFailed) as refused:
        planned_campaign.plan(
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
        planned_campaign.plan(voicemail_message=None)
    assert incomplete.value.code == "messaging_incomplete"


@pytest.mark.parametrize("looked_at", [1, 1000])
def test_in_trial_mode_only_verified_numbers_are_called(
    planned_campaign: PlannedCampaign, monkeypatch: pytest.MonkeyPatch, looked_at: int
) -> None:
    monkeypatch.setattr("app.services.outreach.forecasting.LOOKED_AT", looked_at)
    start_trial(planned_campaign.session, planned_campaign.calling_organization.organization_id)
    add_verified(planned_campaign.session, planned_campaign.calling_organization, "+12125550001")
    planned_campaign.add({"phone": "+12125550001"}, {"phone": "+12125550002"})
    planned = outreach.forecast(planned_campaign.session, planned_campaign.campaign)
    assert (planned.called, planned.left_out) == (1, {"trial_mode": 1})
    planned_campaign.start()
    assert planned_campaign.feed() == 1
    assert planned_campaign.decided() == {
        "+12125550001": ("called", None),
        "+12125550002": ("left-out", "trial_mode"),
    }
