"""The list before a test call: all that `schedule` would refuse and where to fix it, and what the
call would wait for."""

from datetime import time

import pytest
from sqlalchemy.orm import Session

from app.config.calls import CallSettings
from app.enums import CarrierKind, Observed, OrganizationStatus
from app.models import (
    Assistant,
    DoNotCallEntry,
    Organization,
    SpendingLimit,
    WorkerHeartbeat,
    new_id,
    utcnow,
)
from app.policy.caller import system_caller
from app.services import calls, pauses, workers
from app.services.calls import claims, limits
from app.services.pauses import carrier_health
from app.services.pauses.carrier_health import BehaviourCount, CarrierBehaviour
from tests.fixtures.worker import CallingOrganization

NUMBER = "+12025550101"
TEXTS = calls.CallTexts(intro="Hello.", voicemail="Bye.")


def states(
    session: Session, calling_organization: CallingOrganization, number: str, texts: calls.CallTexts
) -> dict[str, str]:
    assistant = session.get_one(Assistant, calling_organization.assistant_id)
    checks = calls.preflight(
        session, calling_organization.key, assistant, number, texts, installation=CallSettings()
    )
    return {check.code: check.status.value for check in checks}


def test_everything_passes_where_a_call_would_be_accepted(
    session: Session, calling_organization: CallingOrganization
) -> None:
    workers.announce(session, "worker-1")
    session.flush()
    assert states(session, calling_organization, NUMBER, TEXTS) == dict.fromkeys(
        [
            "organization_active",
            "assistant_active",
            "phone_ready",
            "number_allowed",
            "not_on_do_not_call_list",
            "messages_complete",
            "within_calling_hours",
            "slot_free",
            "worker_running",
        ],
        "passed",
    )


def test_every_obstacle_is_named_at_once_with_the_place_to_fix_it(
    session: Session, calling_organization: CallingOrganization
) -> None:
    organization = session.get_one(Organization, calling_organization.organization_id)
    organization.status = OrganizationStatus.SUSPENDED
    organization.allowed_regions = ["CA"]
    assistant = session.get_one(Assistant, calling_organization.assistant_id)
    assistant.active = assistant.phone_configured = False
    session.add(
        DoNotCallEntry(
            organization_id=calling_organization.organization_id,
            partner_id=calling_organization.partner_id,
            phone=NUMBER,
            added_by="owner",
        )
    )
    session.flush()
    checks = calls.preflight(
        session,
        calling_organization.key,
        assistant,
        NUMBER,
        calls.CallTexts(intro="Hello."),
        installation=CallSettings(),
    )
    assert [(check.code, check.status.value, check.fix_at) for check in checks] == [
        ("organization_active", "failed", "organization"),
        ("assistant_active", "failed", "assistant"),
        ("phone_ready", "failed", "assistant"),
        ("number_allowed", "failed", "regions"),
        ("not_on_do_not_call_list", "failed", "do-not-call"),
        ("messages_complete", "failed", "messages"),
        ("within_calling_hours", "passed", "calling-hours"),
        ("slot_free", "passed", "limits"),
        ("worker_running", "warning", "worker"),
    ]


@pytest.mark.parametrize("number", ["", "+1202"])
def test_an_invalid_number_has_that_problem_only(
    session: Session, calling_organization: CallingOrganization, number: str
) -> None:
    answer_text = states(session, calling_organization, number, TEXTS)
    assert answer_text["number_allowed"] == "failed"
    assert answer_text.keys().isdisjoint({"not_on_do_not_call_list", "within_calling_hours"})


def test_calling_hours_that_never_match_fail_and_others_only_delay(
    session: Session, calling_organization: CallingOrganization
) -> None:
    organization = session.get_one(Organization, calling_organization.organization_id)
    organization.calling_hours_on = True
    organization.calling_hours_start = organization.calling_hours_end = time(9)
    assert states(session, calling_organization, NUMBER, TEXTS)["within_calling_hours"] == "failed"
    organization.calling_hours_end = time(9, 0, 0, 1)
    assert states(session, calling_organization, NUMBER, TEXTS)["within_calling_hours"] == "warning"


def test_a_silent_worker_is_a_warning(
    session: Session, calling_organization: CallingOrganization
) -> None:
    workers.announce(session, "worker-1")
    session.flush()
    heartbeat = session.get_one(WorkerHeartbeat, "worker-1")
    heartbeat.beat_at = heartbeat.beat_at.replace(year=2020)
    session.flush()
    assert states(session, calling_organization, NUMBER, TEXTS)["worker_running"] == "warning"


def warned(
    session: Session, calling_organization: CallingOrganization, installation: CallSettings
) -> list[tuple[str, str]]:
    assistant = session.get_one(Assistant, calling_organization.assistant_id)
    checks = calls.preflight(
        session, calling_organization.key, assistant, NUMBER, TEXTS, installation=installation
    )
    return [
        (check.code, check.message)
        for check in checks
        if check.status.value == "warning" and check.code != "worker_running"
    ]


def test_the_check_shows_what_a_call_would_wait_for(
    session: Session, calling_organization: CallingOrganization
) -> None:
    twilio = CallSettings(CarrierKind.TWILIO, calls_at_once=1, calls_per_second=0.01)
    assert warned(session, calling_organization, twilio) == []
    call_id = calling_organization.accept(session, NUMBER, carrier=CarrierKind.TWILIO).id
    claims.next_step(session, call_id, new_id(), calls_at_once=1, carrier_calls_per_second=0.01)
    pauses.pause(session, system_caller("Mara"), pauses.PauseScope(), "A storm.")
    now = utcnow()
    silent = CarrierBehaviour(
        now.replace(second=0, microsecond=0), CarrierKind.TWILIO, Observed.SILENT
    )
    carrier_health.record(session, {silent: BehaviourCount(2, now, "ReadTimeout")})
    session.flush()
    assert warned(session, calling_organization, twilio) == [
        (
            "calling_goes_on",
            "Calling is paused: A storm. The call will wait until calling resumes.",
        ),
        (
            "slot_free",
            f"{limits.all_slots_taken(1)} The call will wait for its turn.",
        ),
        (
            "carrier_has_a_turn",
            "Other calls go to the carrier first.",
        ),
        (
            "carrier_takes_calls",
            "The carrier does not answer. The call will be retried until it is accepted.",
        ),
    ]
    pauses.resume(session, system_caller("Mara"), pauses.PauseScope())
    simulated = CallSettings(calls_at_once=2)
    assert warned(session, calling_organization, simulated) == []


def test_a_spending_limit_is_checked_unless_the_call_is_simulated(
    session: Session, calling_organization: CallingOrganization
) -> None:
    session.add(
        SpendingLimit(
            scope=f"organization:{calling_organization.organization_id}",
            partner_id=calling_organization.partner_id,
            organization_id=calling_organization.organization_id,
            day_micros=0,
        )
    )
    session.flush()
    assistant = session.get_one(Assistant, calling_organization.assistant_id)
    found = {
        carrier: [
            check.status.value
            for check in calls.preflight(
                session,
                calling_organization.key,
                assistant,
                NUMBER,
                TEXTS,
                installation=CallSettings(carrier),
            )
            if check.code == "spending_allowed"
        ]
        for carrier in (CarrierKind.SIMULATOR, CarrierKind.TWILIO)
    }
    assert found == {CarrierKind.SIMULATOR: [], CarrierKind.TWILIO: ["failed"]}
