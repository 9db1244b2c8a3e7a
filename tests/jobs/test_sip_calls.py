"""Real calls over SIP with sound: our baresip dials another, which answers and records."""

import os
import random
import signal
import time
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select

from app.enums import CarrierKind
from app.gateways.carriers.sip.speech import RATE
from app.models import Assistant, CallEvent, CarrierAccount
from app.services import calls, phone_numbers
from tests import matrix
from tests.fixtures.cast import OPERATOR, open_destinations
from tests.fixtures.databases import BACKENDS, Databases
from tests.fixtures.sip_phone import (
    Telephone,
    likeness,
    place_of,
    silence,
    spoken,
    tone,
)
from tests.fixtures.sip_trunk import Answer
from tests.fixtures.sip_worker import SipWorker, sip_worker
from tests.fixtures.waiting import is_gone, wait_for
from tests.fixtures.worker import call_now, create_calling_organization, outcome, until
from tests.matrix import rotating

pytestmark = [pytest.mark.debian, pytest.mark.worker, pytest.mark.xdist_group("sip")]

INTRO = "Good morning, this is Ada."
VOICEMAIL = "Please call the dentist."
GREETING = "Nobody is at home today. Leave a message after the tone."
KILLS = matrix.kills(0)
CALLS_A_KILL = 4
SAID: dict[str, Any] = {"intro_message": INTRO, "voicemail_message": VOICEMAIL}


FULL, BUSY = Answer(503, "Full", ("Retry-After: 1",)), Answer(486, "Busy Here")


@pytest.fixture(scope="module", params=rotating("database of a trunk", BACKENDS))
def house(
    request: pytest.FixtureRequest, databases: Databases, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SipWorker]:
    with sip_worker(databases, request.param, tmp_path_factory.mktemp("sip")) as ready:
        yield ready


@dataclass
class Dialled:
    """Calls under way, all begun at once: each takes its time, and their times pass together."""

    person: Telephone
    machine: Telephone
    passed_on: Telephone
    brought: Telephone
    calls: dict[str, UUID]
    numbers: dict[str, str]


@pytest.fixture(scope="module")
def dialled(house: SipWorker, hello: "array[int]") -> Dialled:
    person, passed_on = house.telephone(hello), house.telephone(hello)
    machine = house.telephone(spoken(GREETING) + silence(0.3) + tone(1000, 0.3))
    numbers = {
        "person": person.number,
        "machine": machine.number,
        "busy": house.number(BUSY),
        "nobody": house.number(Answer(180, "Ringing")),
        "wrong": house.number(Answer(404, "Not Found")),
    }
    heard = {"person": SAID, "machine": SAID}
    under_way = {
        name: house.dial(number, **heard.get(name, {})) for name, number in numbers.items()
    }
    under_way["passed on"] = house.dial(passed_on.number, house.handing_over, **SAID)
    brought = house.telephone(hello, house.brought)
    house.bring()
    under_way["brought"] = house.dial(brought.number, house.bringing, **SAID)
    return Dialled(person, machine, passed_on, brought, under_way, numbers)


@pytest.fixture(scope="module")
def hello() -> "array[int]":
    return silence(0.2) + spoken("Hello?")


def find_speech(words: str, heard: "array[int]") -> tuple[float, float]:
    """How alike the words and what was heard there are, and the second in which they begin."""
    wanted = spoken(words)
    alike, place = likeness(wanted, heard, place_of(wanted, heard))
    return alike, place / RATE


def story(house: SipWorker, call_id: UUID) -> list[str]:
    query = select(CallEvent.key).where(CallEvent.call_id == call_id).order_by(CallEvent.at)
    with house.database.transaction(read_only=True) as session:
        return [key.rpartition(":")[2] for key in session.scalars(query)]


def test_a_person_hears_the_intro(house: SipWorker, dialled: Dialled) -> None:
    call_id = dialled.calls["person"]
    assert outcome(house.database, call_id) == ("completed", "completed", "human")
    [heard] = dialled.person.recordings()
    assert find_speech(INTRO, heard)[0] > 0.95
    assert find_speech(VOICEMAIL, heard)[0] < 0.5
    [attempt] = house.attempts(call_id)
    [invite] = house.trunk.calls_to(dialled.person.number)
    assert (attempt.carrier_reference, attempt.spoken) == (invite["call-id"], INTRO)
    assert invite["from"].startswith(f"<sip:{attempt.from_number}@")


def test_a_machine_hears_the_voicemail_message_after_its_beep(
    house: SipWorker, dialled: Dialled
) -> None:
    call_id = dialled.calls["machine"]
    assert outcome(house.database, call_id) == ("completed", "voicemail", "voicemail")
    [heard] = dialled.machine.recordings()
    alike, second = find_speech(VOICEMAIL, heard)
    greeting = len(spoken(GREETING)) / RATE
    assert alike > 0.95
    assert second > greeting + 0.3 + 0.3
    assert find_speech(INTRO, heard)[0] < 0.5
    assert [attempt.spoken for attempt in house.attempts(call_id)] == [VOICEMAIL]


def test_the_assistant_takes_over_after_the_intro(house: SipWorker, dialled: Dialled) -> None:
    call_id = dialled.calls["passed on"]
    assert outcome(house.database, call_id) == ("completed", "completed", "human")
    assert find_speech(INTRO, dialled.passed_on.recordings()[0])[0] > 0.95
    wait_for(lambda: "Call established" in house.assistant.log())


def test_a_call_keeps_its_trunk_after_another_one_replaced_it(
    house: SipWorker, dialled: Dialled
) -> None:
    """We look up the name; the trunk gets it in the request, and is reached at its IP address."""
    call_id, number = dialled.calls["brought"], dialled.brought.number
    until(lambda: house.brought.calls_to(number))
    house.bring(user="another")
    assert outcome(house.database, call_id) == ("completed", "completed", "human")
    assert find_speech(INTRO, dialled.brought.recordings()[0])[0] > 0.95
    [attempt] = house.attempts(call_id)
    [invite] = house.brought.calls_to(number)
    host = f"localhost:{house.brought.port}"
    assert invite.start == f"INVITE sip:{number}@{host};transport=udp SIP/2.0"
    assert invite["from"].startswith(f"<sip:portal@{host}")
    assert invite["route"] == f"<sip:{house.brought.address};transport=udp;lr>"
    assert (attempt.carrier_reference, attempt.spoken) == (invite["call-id"], INTRO)
    with house.database.transaction(read_only=True) as session:
        account = session.get_one(CarrierAccount, attempt.account_id)
    assert account.removed_at is not None
    assert (house.folder / "sip" / str(account.id) / f"{attempt.id}.ledger").exists()
    assert house.trunk.calls_to(number) == []


@pytest.mark.parametrize(
    ("name", "ended"),
    [
        ("busy", ("busy", "busy", None)),
        ("nobody", ("no-answer", "no_answer", None)),
        ("wrong", ("failed", "number_invalid", None)),
    ],
)
def test_an_unanswered_call_ends_as_the_trunk_reports(
    house: SipWorker, dialled: Dialled, name: str, ended: tuple[str, str, None]
) -> None:
    assert outcome(house.database, dialled.calls[name]) == ended
    assert len(house.trunk.calls_to(dialled.numbers[name])) == 1


def test_no_call_leaves_for_a_country_that_was_closed_meanwhile(house: SipWorker) -> None:
    calling_organization = create_calling_organization(house.database, allowed_regions=["US", "GB"])
    abroad, at_home = "+442079460101", house.number(BUSY)
    with house.database.transaction() as session:
        begun = [
            calling_organization.accept(session, number, carrier=CarrierKind.SIP).id
            for number in (abroad, at_home)
        ]
        open_destinations(session, calling_organization.partner_id)
    ended = [outcome(house.database, call_id)[:2] for call_id in begun]
    assert ended == [("canceled", "region_not_allowed"), ("busy", "busy")]
    assert [len(house.trunk.calls_to(number)) for number in (abroad, at_home)] == [0, 1]


def test_the_timeline_shows_the_events_of_the_call(house: SipWorker, dialled: Dialled) -> None:
    outcome(house.database, dialled.calls["machine"])
    outcome(house.database, dialled.calls["nobody"])
    dialled_and_rung = ["accepted", "dialing", "ringing"]
    expected = [*dialled_and_rung, "answered", "said-voicemail", "ended"]
    assert story(house, dialled.calls["machine"]) == expected
    assert story(house, dialled.calls["nobody"]) == [*dialled_and_rung, "ended"]


def test_calls_outlive_the_worker_and_end_with_their_own_process(
    house: SipWorker, dialled: Dialled, hello: "array[int]"
) -> None:
    """Each call is placed once: of a killed worker, of a killed call session, of a canceller."""
    talks_on = spoken(GREETING) * 10
    orphaned, cancelled = house.telephone(talks_on), house.telephone(talks_on)
    followed = house.telephone(hello)
    begun = {phone.number: house.dial(phone.number, **SAID) for phone in (orphaned, cancelled)}
    begun[followed.number] = house.dial(followed.number, **SAID)
    busy = [house.number(BUSY), house.number(BUSY), house.number(FULL, BUSY)]
    for call_id in begun.values():
        until(lambda: call_now(house.database, call_id).answered_at)  # noqa: B023 - used at once
    begun |= {number: house.dial(number) for number in busy}
    house.worker.kill()
    call_session = house.call_session_of(begun[orphaned.number])
    os.kill(call_session, signal.SIGKILL)
    house.worker.start()
    with house.database.transaction() as session:
        calls.cancel(session, house.calling_organization.key, begun[cancelled.number], ())
    ends = {number: outcome(house.database, call_id)[:2] for number, call_id in begun.items()}
    assert ends == {
        followed.number: ("completed", "completed"),
        orphaned.number: ("failed", "carrier_error"),
        cancelled.number: ("canceled", "canceled"),
        **dict.fromkeys(busy, ("busy", "busy")),
    }
    invited = {number: len(house.trunk.calls_to(number)) for number in begun}
    assert invited == dict.fromkeys(begun, 1) | {busy[-1]: 2}
    wait_for(lambda: is_gone(call_session) and "session closed" in orphaned.log())


@pytest.mark.crash
@pytest.mark.skipif(KILLS == 0, reason="random kills belong to `make check-all`")
def test_a_killed_worker_neither_loses_nor_repeats_a_call(house: SipWorker) -> None:
    """The trunk is full at times, which is no call; else each number is called once."""
    seed = random.randrange(1_000_000)
    chance = random.Random(seed)
    times_full, dialled = {}, {}
    for _ in range(KILLS):
        for _ in range(CALLS_A_KILL):
            answers = chance.choice(([BUSY], [BUSY], [FULL, BUSY]))
            number = house.number(*answers)
            times_full[number] = len(answers) - 1
            dialled[number] = house.dial(number)
            time.sleep(chance.uniform(0, 0.1))
        time.sleep(chance.uniform(0, 0.8))
        house.worker.kill()
        house.worker.start(wait=chance.random() < 0.7)
    ended = Counter(outcome(house.database, call_id, 180.0) for call_id in dialled.values())
    assert ended == {("busy", "busy", None): len(dialled)}, f"seed {seed}"
    rung = {number: len(house.trunk.calls_to(number)) - times_full[number] for number in dialled}
    assert rung == dict.fromkeys(dialled, 1), f"seed {seed}"


def test_no_call_leaves_for_the_trunk_with_a_number_that_was_moved_meanwhile(
    house: SipWorker,
) -> None:
    keeping, losing = (
        create_calling_organization(house.database),
        create_calling_organization(house.database),
    )
    before = len(house.trunk.invites)
    numbers = [house.number(BUSY), house.number(BUSY)]
    with house.database.transaction() as session:
        begun = [
            organization.accept(session, number, carrier=CarrierKind.SIP).id
            for organization, number in zip((keeping, losing), numbers, strict=True)
        ]
        own = session.get_one(Assistant, losing.assistant_id).phone_number or ""
        phone_numbers.move(session, OPERATOR, own, keeping.organization_id)
        kept = session.get_one(Assistant, keeping.assistant_id).phone_number
    ended = [outcome(house.database, call_id)[:2] for call_id in begun]
    assert ended == [("busy", "busy"), ("canceled", "agent_inactive")]
    sent = house.trunk.invites[before:]
    assert {(invite.number, invite.caller) for invite in sent} == {(numbers[0], kept)}
