"""A plan whose assistant can't call any more: the campaign says so, calls no one, and resumes once
that is fixed."""

from datetime import timedelta

import pytest
from sqlalchemy.orm import Session

from app.config.calls import CallSettings
from app.enums import CallStatus, CarrierKind, EndedReason
from app.models import Assistant, Outreach, new_id, utcnow
from app.services import campaigns, outreach, pauses, spending
from app.services.calls import claims
from app.services.outreach import dispatcher
from tests.fixtures.databases import runs_on
from tests.fixtures.outreach import OWNER
from tests.services.outreach.conftest import PlannedCampaign

PEOPLE = [{"phone": f"+1202555{number:04}"} for number in range(100, 104)]
CALL_SETTINGS = CallSettings()
LEFT = "The plan's assistant was removed from the campaign."


backend = runs_on(["sqlite"])


def second_assistant(session: Session, planned_campaign: PlannedCampaign) -> Assistant:
    assistant = Assistant(
        partner_id=planned_campaign.calling_organization.partner_id,
        organization_id=planned_campaign.calling_organization.organization_id,
        name="Bea",
        phone_number="+12025550198",
        phone_enabled=True,
        phone_configured=True,
    )
    session.add(assistant)
    session.flush()
    return assistant


def give(session: Session, planned_campaign: PlannedCampaign, *assistants: Assistant) -> None:
    """From now on these are the campaign's assistants, and no other."""
    ids = [assistant.id for assistant in assistants]
    campaigns.assign_assistants(session, OWNER, planned_campaign.campaign.id, ids)


def blocker_message(
    session: Session, planned_campaign: PlannedCampaign, settings: CallSettings = CALL_SETTINGS
) -> tuple[str, str] | None:
    plan = session.get_one(Outreach, planned_campaign.campaign.id)
    found = outreach.blocker(session, planned_campaign.campaign, plan, settings)
    return (found.code, found.message) if found else None


def test_a_removed_assistant_places_no_calls_until_it_is_back(
    session: Session, planned_campaign: PlannedCampaign
) -> None:
    ada = session.get_one(Assistant, planned_campaign.calling_organization.assistant_id)
    planned_campaign.add(*PEOPLE)
    planned_campaign.start()
    assert (planned_campaign.feed(calls_at_once=2), blocker_message(session, planned_campaign)) == (
        2,
        None,
    )
    give(session, planned_campaign, second_assistant(session, planned_campaign))
    later = utcnow() + timedelta(minutes=1)
    assert planned_campaign.feed(later) == 0
    assert blocker_message(session, planned_campaign) == ("agent_left", LEFT)
    caller = planned_campaign.calling_organization.key
    assert [
        (campaign.id, why) for campaign, why in outreach.blocked_campaigns(session, caller, 5)
    ] == [(planned_campaign.campaign.id, LEFT)]
    for call in planned_campaign.calls():
        claims.next_step(session, call.id, new_id(), calls_at_once=5)
    assert [
        (call.status, call.ended_reason, call.status_detail) for call in planned_campaign.calls()
    ] == [(CallStatus.CANCELED, EndedReason.CANCELED, LEFT)] * 2

    give(session, planned_campaign, ada)
    assert blocker_message(session, planned_campaign) is None
    assert planned_campaign.feed(later + timedelta(minutes=1), calls_at_once=9) == 4
    assert outreach.blocked_campaigns(session, caller, 5) == []
    waiting = planned_campaign.calls(CallStatus.QUEUED)
    assert sorted(call.phone_number for call in waiting) == [one["phone"] for one in PEOPLE]


def test_another_assistant_in_the_plan_goes_on_at_once(
    session: Session, planned_campaign: PlannedCampaign
) -> None:
    planned_campaign.add(*PEOPLE)
    planned_campaign.start()
    bea = second_assistant(session, planned_campaign)
    give(session, planned_campaign, bea)
    assert planned_campaign.feed() == 0
    planned_campaign.plan(assistant_id=bea.id)
    assert (planned_campaign.feed(calls_at_once=9), blocker_message(session, planned_campaign)) == (
        4,
        None,
    )
    assert {call.assistant_id for call in planned_campaign.calls()} == {bea.id}


@pytest.mark.parametrize(
    ("field", "code", "sentence"),
    [
        ("active", "agent_inactive", "The assistant is switched off."),
        (
            "phone_configured",
            "agent_phone_not_ready",
            "The assistant's phone is not switched on and configured with a number.",
        ),
    ],
)
def test_a_forecast_counts_the_contacts_that_are_called_once_the_assistant_is_ready(
    session: Session, planned_campaign: PlannedCampaign, field: str, code: str, sentence: str
) -> None:
    planned_campaign.add(*PEOPLE, {"email": "dora@mail.example"})
    setattr(
        session.get_one(Assistant, planned_campaign.calling_organization.assistant_id), field, False
    )
    session.flush()
    assert blocker_message(session, planned_campaign) == (code, sentence)
    found = outreach.forecast(session, planned_campaign.campaign)
    assert (found.called, found.left_out) == (4, {"no_phone": 1})
    planned_campaign.start()
    assert (planned_campaign.feed(), planned_campaign.decided()) == (0, {})


def test_a_pause_of_calling_is_named_as_well(
    session: Session, planned_campaign: PlannedCampaign
) -> None:
    for scope in (pauses.PauseScope(carrier=CarrierKind.TWILIO), pauses.PauseScope()):
        pauses.pause(session, OWNER, scope, "A storm.")
    assert blocker_message(session, planned_campaign) == (
        "dialling_paused",
        "Calling is paused: A storm.",
    )
    pauses.resume(session, OWNER, pauses.PauseScope())
    assert blocker_message(session, planned_campaign) is None


def test_a_campaign_waits_while_a_spending_limit_is_reached(
    session: Session, planned_campaign: PlannedCampaign
) -> None:
    organization = spending.LimitSubject(
        organization_id=planned_campaign.calling_organization.organization_id
    )
    spending.change(session, OWNER, organization, spending.SpendingLimits(day_micros=0))
    planned_campaign.add(*PEOPLE)
    planned_campaign.start()
    why = "The organization's spending limit for today is reached."
    assert (planned_campaign.feed(), blocker_message(session, planned_campaign)) == (
        0,
        ("spend_cap_reached", why),
    )
    assert session.get_one(Outreach, planned_campaign.campaign.id).held_reason == why
    spending.change(session, OWNER, organization, spending.SpendingLimits())
    assert (
        planned_campaign.feed(utcnow() + timedelta(minutes=6)),
        blocker_message(session, planned_campaign),
    ) == (4, None)


def test_the_spending_limit_must_have_room_for_the_longest_call_of_the_installation(
    session: Session, planned_campaign: PlannedCampaign
) -> None:
    organization = spending.LimitSubject(
        organization_id=planned_campaign.calling_organization.organization_id
    )
    spending.change(session, OWNER, organization, spending.SpendingLimits(month_minutes=90))
    planned_campaign.add(*PEOPLE)
    planned_campaign.start()
    settings = CallSettings(max_call_minutes=120)
    assert dispatcher.dispatch(session, planned_campaign.campaign.id, settings, utcnow()) == 0
    held_reason = session.get_one(Outreach, planned_campaign.campaign.id).held_reason
    assert blocker_message(session, planned_campaign) is None
    assert blocker_message(session, planned_campaign, settings) == (
        "spend_cap_reached",
        held_reason,
    )
