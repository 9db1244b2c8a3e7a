"""Calls through the real worker process, from acceptance to the end of the line."""

from collections.abc import Callable
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import select, update

from app.database import Database
from app.enums import CallSource, CampaignStatus, OrganizationStatus
from app.gateways.carriers.simulator import SIMULATED_NUMBERS
from app.models import (
    Assistant,
    Call,
    CallAttempt,
    CallTranscript,
    Campaign,
    Contact,
    DoNotCallEntry,
    Organization,
    Partner,
    utcnow,
)
from app.policy.caller import system_caller
from app.services import calls
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.simulated_carrier import Simulator
from tests.fixtures.worker import (
    CallingOrganization,
    Worker,
    counted_conversations,
    create_calling_organization,
    outcome,
    read_call,
    unfinished_calls,
    wait_until,
)
from tests.matrix import rotating

HUMAN, VOICEMAIL = SIMULATED_NUMBERS["human"], SIMULATED_NUMBERS["voicemail"]


backend = runs_on(rotating("database of outcomes", BACKENDS))


def test_every_outcome_of_a_call_has_its_own_status(
    fresh_database: Database, worker: Worker, simulator: Simulator
) -> None:
    calling_organization = create_calling_organization(fresh_database)
    called = {
        name: calling_organization.dial(fresh_database, number)
        for name, number in SIMULATED_NUMBERS.items()
    }
    called["anyOther"] = calling_organization.dial(fresh_database, "+12125550000")
    ended = {name: outcome(fresh_database, call_id) for name, call_id in called.items()}
    rung = {name: simulator.times_rung(number) for name, number in SIMULATED_NUMBERS.items()}
    assert ended == {
        "human": ("completed", "completed", "human"),
        "voicemail": ("completed", "voicemail", "voicemail"),
        "busy": ("busy", "busy", None),
        "noAnswer": ("no-answer", "no_answer", None),
        "failed": ("failed", "carrier_error", None),
        "slow": ("completed", "completed", "human"),
        "rejected": ("failed", "rejected", None),
        "lostAnswer": ("completed", "completed", "human"),
        "unreachable": ("failed", "carrier_error", None),
        "unsure": ("unknown", "unknown", None),
        "anyOther": ("completed", "completed", "human"),
    }
    assert rung == dict.fromkeys(SIMULATED_NUMBERS, 1) | {"rejected": 0, "unreachable": 0}
    assert counted_conversations(fresh_database, calling_organization.organization_id) == [
        (5, 4, 1)
    ]
    with fresh_database.transaction(read_only=True) as session:
        sampled = session.scalars(
            select(CallTranscript.call_id).where(CallTranscript.report_id == "sample")
        ).all()
    by_human = {called[name] for name, (*_, by) in ended.items() if by == "human"}
    assert set(sampled) == by_human


def test_a_timeline_shows_what_happened_and_which_message_was_played(
    fresh_database: Database, worker: Worker
) -> None:
    calling_organization = create_calling_organization(fresh_database)
    call_id = calling_organization.dial(
        fresh_database, VOICEMAIL, intro_message="Good day.", voicemail_message="Call us back."
    )
    outcome(fresh_database, call_id)
    with fresh_database.transaction(read_only=True) as session:
        moments = calls.timeline(session, calls.get(session, calling_organization.key, call_id))
        spoken = session.scalars(select(CallAttempt.spoken)).one()
    assert [(moment.kind, moment.status.value, moment.detail) for moment in moments] == [
        ("accepted", "queued", None),
        ("dialing", "dialing", None),
        ("ringing", "ringing", None),
        ("answered", "in-progress", "voicemail"),
        ("said-voicemail", "in-progress", "Call us back."),
        ("ended", "completed", None),
    ]
    assert spoken == "Call us back."
    assert [moment.at for moment in moments] == sorted(moment.at for moment in moments)


def test_calls_of_test_keys_are_no_conversations(fresh_database: Database, worker: Worker) -> None:
    calling_organization = create_calling_organization(fresh_database)
    for number in (HUMAN, VOICEMAIL):
        outcome(fresh_database, calling_organization.dial(fresh_database, number, live=False))
    assert counted_conversations(fresh_database, calling_organization.organization_id) == []


def test_instructions_become_messages_that_do_not_quote_them(
    fresh_database: Database, worker: Worker
) -> None:
    calling_organization = create_calling_organization(fresh_database)
    notes = "Remind her rudely of the appointment she missed twice."
    outcome(
        fresh_database, calling_organization.dial(fresh_database, HUMAN, call_instructions=notes)
    )
    with fresh_database.transaction(read_only=True) as session:
        call = session.scalars(select(Call)).one()
    assert call.intro_message == (
        "Hello, this is Ada, the AI Receptionist of Harbour Dental. I am calling about your "
        "appointment. You can reach us at 1, 2 0 2, 5 5 5, 0 1 9 9. Goodbye."
    )
    assert call.call_instructions == notes


def _suspend_organization(calling_organization: CallingOrganization) -> object:
    return (
        update(Organization)
        .where(Organization.id == calling_organization.organization_id)
        .values(status=OrganizationStatus.SUSPENDED)
    )


def _suspend_partner(calling_organization: CallingOrganization) -> object:
    return (
        update(Partner)
        .where(Partner.id == calling_organization.partner_id)
        .values(suspended_at=utcnow())
    )


def _assistant(calling_organization: CallingOrganization, **values: object) -> object:
    return (
        update(Assistant).where(Assistant.id == calling_organization.assistant_id).values(**values)
    )


def _allow_canada_only(calling_organization: CallingOrganization) -> object:
    return (
        update(Organization)
        .where(Organization.id == calling_organization.organization_id)
        .values(allowed_regions=["CA"])
    )


CHANGES: dict[str, tuple[Callable[[CallingOrganization], object], str]] = {
    "organization suspended": (_suspend_organization, "organization_suspended"),
    "partner suspended": (_suspend_partner, "organization_suspended"),
    "assistant off": (
        lambda organization: _assistant(organization, active=False),
        "agent_inactive",
    ),
    "phone off": (
        lambda organization: _assistant(organization, phone_enabled=False),
        "agent_inactive",
    ),
    "region taken away": (_allow_canada_only, "region_not_allowed"),
}


def test_what_changes_after_acceptance_stops_the_call_with_its_reason(
    fresh_database: Database, worker: Worker, simulator: Simulator
) -> None:
    worker.stop()
    accepted = {}
    for name, (change, _reason) in CHANGES.items():
        calling_organization = create_calling_organization(fresh_database)
        accepted[name] = calling_organization.dial(fresh_database, HUMAN)
        with fresh_database.transaction() as session:
            session.execute(change(calling_organization))  # type: ignore[call-overload]  # one statement of several kinds
    calling_organization = create_calling_organization(fresh_database)
    accepted["do not call"] = calling_organization.dial(fresh_database, HUMAN)
    accepted["too old"] = create_calling_organization(fresh_database).dial(fresh_database, HUMAN)
    with fresh_database.transaction() as session:
        session.add(
            DoNotCallEntry(
                organization_id=calling_organization.organization_id,
                partner_id=calling_organization.partner_id,
                phone=HUMAN,
                added_by="the owner",
            )
        )
        old = update(Call).where(Call.id == accepted["too old"])
        session.execute(old.values(expires_at=utcnow() - timedelta(seconds=1)))
    worker.start()
    ended = {name: outcome(fresh_database, call_id)[:2] for name, call_id in accepted.items()}
    assert ended == {
        **{name: ("canceled", reason) for name, (_, reason) in CHANGES.items()},
        "do not call": ("canceled", "do_not_contact"),
        "too old": ("expired", "expired"),
    }
    assert simulator.times_rung(HUMAN) == 0


def test_a_campaign_call_needs_a_contact_that_may_still_be_called(
    fresh_database: Database, worker: Worker, simulator: Simulator
) -> None:
    worker.stop()
    calling_organization = create_calling_organization(fresh_database)
    statuses = {"new": "interested", "ended": " Completed ", "removed": None}
    accepted = {}
    with fresh_database.transaction() as session:
        campaign = Campaign(
            partner_id=calling_organization.partner_id,
            organization_id=calling_organization.organization_id,
            name="Spring",
            all_assistants=True,
            status=CampaignStatus.ACTIVE,
        )
        session.add(campaign)
        session.flush()
        for index, (name, status) in enumerate(statuses.items()):
            contact = Contact(
                organization_id=calling_organization.organization_id,
                campaign_id=campaign.id,
                phone=f"+1212555010{index}",
            )
            session.add(contact)
            session.flush()
            request = calls.CallRequest(
                calling_organization.assistant_id,
                str(contact.phone),
                intro_message="Hi.",
                voicemail_message="Bye.",
            )
            accepted[name] = calls.schedule(
                session,
                system_caller(partner_id=calling_organization.partner_id),
                request,
                source=CallSource.CAMPAIGN,
                live=True,
                campaign_id=campaign.id,
                contact_id=contact.id,
            ).call_id
            contact.status = status
            if name == "removed":
                session.flush()
                session.delete(contact)
    worker.start()
    ended = {name: outcome(fresh_database, call_id)[:2] for name, call_id in accepted.items()}
    assert ended == {
        "new": ("completed", "completed"),
        "ended": ("canceled", "contact_ended"),
        "removed": ("canceled", "contact_ended"),
    }
    assert [simulator.times_rung(f"+1212555010{index}") for index in range(3)] == [1, 0, 0]


def _number_at_day() -> tuple[str, ZoneInfo]:
    """A number where it is neither just before nor just after midnight: New York is five or six
    hours before Honolulu, so that one of the two always is there."""
    new_york = ZoneInfo("America/New_York")
    if 2 <= datetime.now(new_york).hour <= 20:
        return "+12125550123", new_york
    return "+18085550123", ZoneInfo("Pacific/Honolulu")


def test_a_call_outside_calling_hours_waits_for_them(
    fresh_database: Database, worker: Worker
) -> None:
    number, zone = _number_at_day()
    opening = (datetime.now(zone) + timedelta(seconds=3)).replace(microsecond=0)
    calling_organization = create_calling_organization(
        fresh_database,
        calling_hours_on=True,
        calling_hours_start=opening.time(),
        calling_hours_end=time(23, 59),
    )
    call_id = calling_organization.dial(fresh_database, number)
    waiting = read_call(fresh_database, call_id)
    assert (waiting.status.value, waiting.scheduled_for) == ("scheduled", opening)
    assert outcome(fresh_database, call_id) == ("completed", "completed", "human")
    started_at = read_call(fresh_database, call_id).started_at
    assert started_at is not None
    assert started_at >= opening


def test_calling_hours_set_after_acceptance_delay_the_call(
    fresh_database: Database, worker: Worker, simulator: Simulator
) -> None:
    worker.stop()
    number, zone = _number_at_day()
    calling_organization = create_calling_organization(fresh_database)
    call_id = calling_organization.dial(fresh_database, number)
    opening = (datetime.now(zone) + timedelta(hours=2)).replace(minute=0, second=0, microsecond=0)
    with fresh_database.transaction() as session:
        organization = session.get_one(Organization, calling_organization.organization_id)
        organization.calling_hours_on = True
        organization.calling_hours_start = opening.time()
        organization.calling_hours_end = time(23, 59)
    worker.start()
    wait_until(lambda: read_call(fresh_database, call_id).status.value == "scheduled")
    call = read_call(fresh_database, call_id)
    assert (call.scheduled_for, call.expires_at - opening) == (opening, timedelta(hours=24))
    assert simulator.times_rung(number) == 0


def test_never_more_calls_at_once_than_the_organization_allows(
    fresh_database: Database, make_worker: Callable[..., Worker]
) -> None:
    make_worker(PORTAL_SIMULATOR_PACE="0.05").start()
    calling_organization = create_calling_organization(fresh_database, max_calls_at_once=2)
    for index in range(6):
        calling_organization.dial(fresh_database, f"+1212555020{index}")
    wait_until(lambda: unfinished_calls(fresh_database) == 0)
    with fresh_database.transaction(read_only=True) as session:
        times = session.execute(select(CallAttempt.started_at, CallAttempt.ended_at)).all()
    at_once = [
        sum(other.started_at <= one.started_at < other.ended_at for other in times) for one in times
    ]
    assert max(at_once) == 2
    assert len(times) == 6


def test_busy_numbers_are_retried_if_the_organization_chose_it(
    fresh_database: Database, worker: Worker, simulator: Simulator
) -> None:
    calling_organization = create_calling_organization(
        fresh_database, retry_times=2, retry_minutes=0
    )
    busy = SIMULATED_NUMBERS["busy"]
    call_id = calling_organization.dial(fresh_database, busy)
    assert outcome(fresh_database, call_id) == ("busy", "busy", None)
    with fresh_database.transaction(read_only=True) as session:
        attempts = calls.attempts_of(session, [call_id])[call_id]
    assert [(attempt.number, attempt.status.value) for attempt in attempts] == [
        (1, "busy"),
        (2, "busy"),
        (3, "busy"),
    ]
    assert simulator.times_rung(busy) == 3
