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
from app.services.calls.attempts import CUT_SHORT
from tests import matrix
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
from tests.fixtures.sip_worker import SipWorker, open_sip_worker
from tests.fixtures.tenants import OPERATOR, open_destinations
from tests.fixtures.waiting import is_gone, wait_for
from tests.fixtures.worker import create_calling_organization, outcome, read_call, wait_until
from tests.matrix import rotating

pytestmark = [pytest.mark.debian, pytest.mark.worker, pytest.mark.xdist_group("sip")]

INTRO = "Good morning, this is Ada."
VOICEMAIL = "Please call the dentist."
GREETING = "Nobody is at home today. Leave a message after the tone."
KILLS = matrix.kills(0)
CALLS_A_KILL = 4
SPOKEN: dict[str, Any] = {"intro_message": INTRO, "voicemail_message": VOICEMAIL}


FULL, BUSY = Answer(503, "Full", ("Retry-After: 1",)), Answer(486, "Busy Here")
FULL_FOR_LONGER = Answer(503, "Full", ("Retry-After: 4",))


@pytest.fixture(scope="module", params=rotating("database of a trunk", BACKENDS))
def sip_worker(
    request: pytest.FixtureRequest, databases: Databases, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SipWorker]:
    with open_sip_worker(databases, request.param, tmp_path_factory.mktemp("sip")) as ready:
        yield ready


@dataclass
class SipCalls:
    """Calls under way, all begun at once: each takes its time, and their times pass together."""

    person: Telephone
    machine: Telephone
    passed_on: Telephone
    brought: Telephone
    calls: dict[str, UUID]
    numbers: dict[str, str]


@pytest.fixture(scope="module")
def sip_calls(sip_worker: SipWorker, hello: "array[int]") -> SipCalls:
    person, passed_on = sip_worker.telephone(hello), sip_worker.telephone(hello)
    machine = sip_worker.telephone(spoken(GREETING) + silence(0.3) + tone(1000, 0.3))
    numbers = {
        "person": person.number,
        "machine": machine.number,
        "busy": sip_worker.number(BUSY),
        "nobody": sip_worker.number(Answer(180, "Ringing")),
        "wrong": sip_worker.number(Answer(404, "Not Found")),
    }
    heard = {"person": SPOKEN, "machine": SPOKEN}
    under_way = {
        name: sip_worker.dial(number, **heard.get(name, {})) for name, number in numbers.items()
    }
    under_way["passed on"] = sip_worker.dial(passed_on.number, sip_worker.handing_over, **SPOKEN)
    brought = sip_worker.telephone(hello, sip_worker.brought)
    sip_worker.bring()
    under_way["brought"] = sip_worker.dial(brought.number, sip_worker.bringing, **SPOKEN)
    return SipCalls(person, machine, passed_on, brought, under_way, numbers)


@pytest.fixture(scope="module")
def hello() -> "array[int]":
    return silence(0.2) + spoken("Hello?")


def find_speech(words: str, heard: "array[int]") -> tuple[float, float]:
    """How alike the words and what was heard there are, and the second in which they begin."""
    wanted = spoken(words)
    alike, place = likeness(wanted, heard, place_of(wanted, heard))
    return alike, place / RATE


def delayed(sip_worker: SipWorker, call_id: UUID) -> bool:
    return any(attempt.carrier_retry_at for attempt in sip_worker.attempts(call_id))


def story(sip_worker: SipWorker, call_id: UUID) -> list[str]:
    query = select(CallEvent.key).where(CallEvent.call_id == call_id).order_by(CallEvent.at)
    with sip_worker.database.transaction(read_only=True) as session:
        return [key.rpartition(":")[2] for key in session.scalars(query)]


def test_a_person_hears_the_intro(sip_worker: SipWorker, sip_calls: SipCalls) -> None:
    call_id = sip_calls.calls["person"]
    assert outcome(sip_worker.database, call_id) == ("completed", "completed", "human")
    [heard] = sip_calls.person.recordings()
    assert find_speech(INTRO, heard)[0] > 0.95
    assert find_speech(VOICEMAIL, heard)[0] < 0.5
    [attempt] = sip_worker.attempts(call_id)
    [invite] = sip_worker.trunk.calls_to(sip_calls.person.number)
    assert (attempt.carrier_reference, attempt.spoken) == (invite["call-id"], INTRO)
    assert invite["from"].startswith(f"<sip:{attempt.from_number}@")


def test_a_machine_hears_the_voicemail_message_after_its_beep(
    sip_worker: SipWorker, sip_calls: SipCalls
) -> None:
    call_id = sip_calls.calls["machine"]
    assert outcome(sip_worker.database, call_id) == ("completed", "voicemail", "voicemail")
    [heard] = sip_calls.machine.recordings()
    alike, second = find_speech(VOICEMAIL, heard)
    greeting = len(spoken(GREETING)) / RATE
    assert alike > 0.95
    assert second > greeting + 0.3 + 0.3
    assert find_speech(INTRO, heard)[0] < 0.5
    assert [attempt.spoken for attempt in sip_worker.attempts(call_id)] == [VOICEMAIL]


def test_the_assistant_takes_over_after_the_intro(
    sip_worker: SipWorker, sip_calls: SipCalls
) -> None:
    call_id = sip_calls.calls["passed on"]
    assert outcome(sip_worker.database, call_id) == ("completed", "completed", "human")
    assert find_speech(INTRO, sip_calls.passed_on.recordings()[0])[0] > 0.95
    wait_for(lambda: "Call established" in sip_worker.assistant.log())


def test_a_call_keeps_its_trunk_after_another_one_replaced_it(
    sip_worker: SipWorker, sip_calls: SipCalls
) -> None:
    """We look up the name; the trunk gets it in the request, and is reached at its IP address."""
    call_id, number = sip_calls.calls["brought"], sip_calls.brought.number
    wait_until(lambda: sip_worker.brought.calls_to(number))
    sip_worker.bring(user="another")
    assert outcome(sip_worker.database, call_id) == ("completed", "completed", "human")
    assert find_speech(INTRO, sip_calls.brought.recordings()[0])[0] > 0.95
    [invite] = sip_worker.brought.calls_to(number)
    *cut_short, attempt = sip_worker.attempts(call_id)  # on a busy machine
    assert {each.detail for each in cut_short} <= {CUT_SHORT}
    host = f"localhost:{sip_worker.brought.port}"
    assert invite.start == f"INVITE sip:{number}@{host};transport=udp SIP/2.0"
    assert invite["from"].startswith(f"<sip:portal@{host}")
    assert invite["route"] == f"<sip:{sip_worker.brought.address};transport=udp;lr>"
    assert (attempt.carrier_reference, attempt.spoken) == (invite["call-id"], INTRO)
    with sip_worker.database.transaction(read_only=True) as session:
        account = session.get_one(CarrierAccount, attempt.account_id)
    assert account.removed_at is not None
    assert (sip_worker.folder / "sip" / str(account.id) / f"{attempt.id}.ledger").exists()
    assert sip_worker.trunk.calls_to(number) == []


@pytest.mark.parametrize(
    ("name", "ended"),
    [
        ("busy", ("busy", "busy", None)),
        ("nobody", ("no-answer", "no_answer", None)),
        ("wrong", ("failed", "number_invalid", None)),
    ],
)
def test_an_unanswered_call_ends_as_the_trunk_reports(
    sip_worker: SipWorker, sip_calls: SipCalls, name: str, ended: tuple[str, str, None]
) -> None:
    assert outcome(sip_worker.database, sip_calls.calls[name]) == ended
    assert len(sip_worker.trunk.calls_to(sip_calls.numbers[name])) == 1


def test_no_call_leaves_for_a_country_that_was_closed_meanwhile(sip_worker: SipWorker) -> None:
    calling_organization = create_calling_organization(
        sip_worker.database, allowed_regions=["US", "GB"]
    )
    abroad, at_home = "+442079460101", sip_worker.number(BUSY)
    with sip_worker.database.transaction() as session:
        begun = [
            calling_organization.accept(session, number, carrier=CarrierKind.SIP).id
            for number in (abroad, at_home)
        ]
        open_destinations(session, calling_organization.partner_id)
    ended = [outcome(sip_worker.database, call_id)[:2] for call_id in begun]
    assert ended == [("canceled", "region_not_allowed"), ("busy", "busy")]
    assert [len(sip_worker.trunk.calls_to(number)) for number in (abroad, at_home)] == [0, 1]


def test_the_timeline_shows_the_events_of_the_call(
    sip_worker: SipWorker, sip_calls: SipCalls
) -> None:
    outcome(sip_worker.database, sip_calls.calls["machine"])
    outcome(sip_worker.database, sip_calls.calls["nobody"])
    called_and_rung = ["accepted", "dialing", "ringing"]
    expected = [*called_and_rung, "answered", "said-voicemail", "ended"]
    assert story(sip_worker, sip_calls.calls["machine"]) == expected
    assert story(sip_worker, sip_calls.calls["nobody"]) == [*called_and_rung, "ended"]


def test_calls_outlive_the_worker_and_end_with_their_own_process(
    sip_worker: SipWorker, sip_calls: SipCalls, hello: "array[int]"
) -> None:
    """Each call is placed once: of a killed worker, of a killed call session, of a canceller."""
    talks_on = spoken(GREETING) * 10
    orphaned, cancelled = sip_worker.telephone(talks_on), sip_worker.telephone(talks_on)
    followed = sip_worker.telephone(hello)
    begun = {
        phone.number: sip_worker.dial(phone.number, **SPOKEN) for phone in (orphaned, cancelled)
    }
    begun[followed.number] = sip_worker.dial(followed.number, **SPOKEN)
    busy = [sip_worker.number(BUSY), sip_worker.number(BUSY), sip_worker.number(FULL, BUSY)]
    for call_id in begun.values():
        wait_until(lambda: read_call(sip_worker.database, call_id).answered_at)  # noqa: B023 - used at once
    begun |= {number: sip_worker.dial(number) for number in busy}
    sip_worker.worker.kill()
    call_session = sip_worker.call_session_of(begun[orphaned.number])
    os.kill(call_session, signal.SIGKILL)
    sip_worker.worker.start()
    with sip_worker.database.transaction() as session:
        calls.cancel(session, sip_worker.calling_organization.key, begun[cancelled.number], ())
    ends = {number: outcome(sip_worker.database, call_id)[:2] for number, call_id in begun.items()}
    assert ends == {
        followed.number: ("completed", "completed"),
        orphaned.number: ("failed", "carrier_error"),
        cancelled.number: ("canceled", "canceled"),
        **dict.fromkeys(busy, ("busy", "busy")),
    }
    invited = {number: len(sip_worker.trunk.calls_to(number)) for number in begun}
    assert invited == dict.fromkeys(begun, 1) | {busy[-1]: 2}
    wait_for(lambda: is_gone(call_session) and "session closed" in orphaned.log())


@pytest.mark.crash
@pytest.mark.skipif(KILLS == 0, reason="random kills belong to `make check-all`")
def test_a_killed_worker_neither_loses_nor_repeats_a_call(sip_worker: SipWorker) -> None:
    """The trunk is full at times, which isn't a call; else each number is called once."""
    seed = random.randrange(1_000_000)
    chance = random.Random(seed)
    times_full, called = {}, {}
    for _ in range(KILLS):
        for _ in range(CALLS_A_KILL):
            answers = chance.choice(([BUSY], [BUSY], [FULL, BUSY]))
            number = sip_worker.number(*answers)
            times_full[number] = len(answers) - 1
            called[number] = sip_worker.dial(number)
            time.sleep(chance.uniform(0, 0.1))
        time.sleep(chance.uniform(0, 0.8))
        sip_worker.worker.kill()
        sip_worker.worker.start(wait=chance.random() < 0.7)
    ended = Counter(outcome(sip_worker.database, call_id, 180.0) for call_id in called.values())
    assert ended == {("busy", "busy", None): len(called)}, f"seed {seed}"
    rung = {
        number: len(sip_worker.trunk.calls_to(number)) - times_full[number] for number in called
    }
    assert rung == dict.fromkeys(called, 1), f"seed {seed}"


@pytest.mark.crash
@pytest.mark.parametrize(
    ("answers", "point", "replaced_first", "attempts"),
    [
        ([BUSY], "the attempt is written, not committed", False, 1),
        ([BUSY], "the attempt is committed, the line not asked", False, 2),
        ([BUSY], "the answer is heard, not committed", False, 1),
        ([BUSY], "the answer is committed, the step is not over", False, 1),
        ([FULL_FOR_LONGER, BUSY], "the attempt is committed, the line not asked", True, 2),
        ([FULL_FOR_LONGER, BUSY], "the answer is heard, not committed", True, 1),
    ],
)
def test_a_call_is_placed_once_if_its_trunk_is_replaced_while_no_worker_runs(
    sip_worker: SipWorker,
    answers: list[Answer],
    point: str,
    replaced_first: bool,
    attempts: int,
) -> None:
    """The worker dies around its request to the old trunk, or to the new one if the old one was
    full."""
    worker, old, new = sip_worker.worker, sip_worker.brought, sip_worker.trunk
    sip_worker.bring()
    number = sip_worker.number(BUSY)
    old.routes[number] = [*answers]
    if replaced_first:
        call_id = sip_worker.dial(number, sip_worker.bringing)
        wait_until(lambda: delayed(sip_worker, call_id))
        sip_worker.bring(new)
    worker.kill()
    worker.program = ["tests.fixtures.crashing_worker", point]
    worker.start(wait=False)
    if not replaced_first:
        call_id = sip_worker.dial(number, sip_worker.bringing)
    assert worker.wait() == -signal.SIGKILL
    sip_worker.bring(new)
    worker.program = ["app.jobs.worker"]
    worker.start()
    assert outcome(sip_worker.database, call_id)[:2] == ("busy", "busy")
    invited = len(old.calls_to(number)) + len(new.calls_to(number))
    assert (invited, len(sip_worker.attempts(call_id))) == (len(answers), attempts)


def test_no_call_leaves_for_the_trunk_with_a_number_that_was_moved_meanwhile(
    sip_worker: SipWorker,
) -> None:
    keeping, losing = (
        create_calling_organization(sip_worker.database),
        create_calling_organization(sip_worker.database),
    )
    before = len(sip_worker.trunk.invites)
    numbers = [sip_worker.number(BUSY), sip_worker.number(BUSY)]
    with sip_worker.database.transaction() as session:
        begun = [
            organization.accept(session, number, carrier=CarrierKind.SIP).id
            for organization, number in zip((keeping, losing), numbers, strict=True)
        ]
        own = session.get_one(Assistant, losing.assistant_id).phone_number or ""
        phone_numbers.move(session, OPERATOR, own, keeping.organization_id)
        kept = session.get_one(Assistant, keeping.assistant_id).phone_number
    ended = [outcome(sip_worker.database, call_id)[:2] for call_id in begun]
    assert ended == [("busy", "busy"), ("canceled", "agent_inactive")]
    sent = sip_worker.trunk.invites[before:]
    assert {(invite.number, invite.caller) for invite in sent} == {(numbers[0], kept)}
