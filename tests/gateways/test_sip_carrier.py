"""The SIP carrier without a worker: what the trunk answers, and what the ledger proves."""

import os
import signal
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from app.enums import EndedReason
from app.gateways.carriers.base import (
    AttemptInquiry,
    CallPlacement,
    CarrierReport,
    NoCarrierAnswer,
    PlacementDelayed,
    PlacementRejected,
    PlacementVerdict,
)
from app.gateways.carriers.sip.account import SipAccount
from app.gateways.carriers.sip.answers import WRONG_CREDENTIALS, refusal
from app.gateways.carriers.sip.carrier import SipCarrier
from app.gateways.carriers.sip.ledger import AttemptFact, AttemptLedger
from app.gateways.carriers.sip.program import UNCHECKED, checks_certificates
from app.models import new_id, utcnow
from tests.fixtures.certificate import write_certificate
from tests.fixtures.sip_phone import silence, telephone
from tests.fixtures.sip_trunk import Answer, Trunk
from tests.fixtures.waiting import is_gone, wait_for

pytestmark = [pytest.mark.debian, pytest.mark.xdist_group("sip-carrier")]

NUMBER = "+12125551234"
EVERY_LETTER = "".join(letter for letter in map(chr, range(33, 127)) if letter not in "\"';<>\\")
"""All that the password of a partner's trunk may hold."""


@pytest.fixture
def make_carrier(trunk: Trunk, tmp_path: Path) -> Callable[..., SipCarrier]:
    def make(**changes: Any) -> SipCarrier:
        own: dict[str, Any] = {"trunk": trunk.address, "folder": tmp_path, "ring_seconds": 20.0}
        return SipCarrier(
            SipAccount(**own | {"request_seconds": 8.0, "poll_seconds": 0.1} | changes)
        )

    return make


def placement_of(attempt_id: UUID, number: str = NUMBER) -> CallPlacement:
    return CallPlacement(attempt_id, number, "+12025550199", intro="", voicemail="")


def about(attempt_id: UUID) -> AttemptInquiry:
    return AttemptInquiry(attempt_id, NUMBER, "+12025550199", utcnow())


def placed(carrier: SipCarrier, number: str) -> tuple[object, ...]:
    """How the carrier answers, in comparable form."""
    attempt_id = new_id()
    try:
        state = carrier.place(placement_of(attempt_id, number))
    except PlacementRejected as reported:
        return "rejected", str(reported), reported.reason, reported.code
    except PlacementDelayed as reported:
        return "delayed", str(reported), reported.seconds, reported.unreached
    except NoCarrierAnswer as reported:
        return "no answer", str(reported)
    return state.verdict.value, state.end_reason


def all_at_once(asked_for: dict[str, SipCarrier]) -> dict[str, tuple[object, ...]]:
    with ThreadPoolExecutor(len(asked_for)) as pool:
        answers = pool.map(lambda number: placed(asked_for[number], number), asked_for)
        return dict(zip(asked_for, answers, strict=True))


def test_the_trunks_answers_have_their_meanings(
    trunk: Trunk, make_carrier: Callable[..., SipCarrier]
) -> None:
    busy, refused, full = "+12125551001", "+12125551002", "+12125551003"
    trunk.routes |= {
        busy: Answer(486, "Busy Here"),
        refused: Answer(603, "Decline"),
        full: Answer(503, "Service Unavailable", ("Retry-After: 7",)),
    }
    carrier = make_carrier()
    assert all_at_once(dict.fromkeys((busy, refused, full), carrier)) == {
        busy: ("placed", EndedReason.BUSY),
        refused: ("rejected", "The trunk answered 603 Decline.", EndedReason.REJECTED, "603"),
        full: ("delayed", "The trunk answered 503 Service Unavailable.", 7.0, False),
    }


def test_an_account_registers_and_proves_its_password(
    trunk: Trunk, make_carrier: Callable[..., SipCarrier]
) -> None:
    digest, registered, wrong, no_one = [f"+1212555110{place}" for place in range(4)]
    trunk.routes |= dict.fromkeys((digest, registered, wrong, no_one), Answer(486, "Busy Here"))
    trunk.password = EVERY_LETTER
    own = {"user": "portal", "password": EVERY_LETTER}
    try:
        answers = all_at_once(
            {
                digest: make_carrier(**own),
                registered: make_carrier(**own, registers=True),
                wrong: make_carrier(user="portal", password="wrong"),
                no_one: make_carrier(user="portal", password="wrong", registers=True),
            }
        )
    finally:
        trunk.password = ""
    no_password = "rejected", WRONG_CREDENTIALS, EndedReason.CARRIER_ERROR
    is_busy = ("placed", EndedReason.BUSY)
    assert answers == {
        digest: is_busy,
        registered: is_busy,
        wrong: (*no_password, "401"),
        no_one: (*no_password, "401"),
    }
    assert [len(trunk.calls_to(number)) for number in answers] == [1, 1, 0, 0]
    assert [contact.partition(";")[2] for contact in trunk.registered] == [
        "expires=120",
        "expires=0",
    ]


def test_a_trunk_that_is_not_there_is_asked_again_later(
    make_carrier: Callable[..., SipCarrier],
) -> None:
    away = {"trunk": "127.0.0.1:9"}
    over_udp, over_tcp = make_carrier(**away), make_carrier(**away, transport="tcp")
    postponed = ("delayed", "The trunk could not be reached.", 10.0, True)
    assert placed(over_udp, NUMBER) == postponed
    assert placed(over_tcp, NUMBER) == postponed


def test_no_call_goes_over_tls_to_a_trunk_with_a_certificate_of_its_own_making(
    make_carrier: Callable[..., SipCarrier], tmp_path: Path
) -> None:
    number, certificate = "+12125551206", write_certificate(tmp_path)
    with telephone(number, silence(0.2), tmp_path / "their", certificate=certificate) as their:
        carrier = make_carrier(trunk=f"localhost:{their.port + 1}", transport="tls")
        answer = placed(carrier, number)
        assert their.recordings() == []
    if not checks_certificates("baresip"):
        assert answer == ("rejected", UNCHECKED, EndedReason.CARRIER_ERROR, "carrier_error")
    assert answer[0] != "placed"


def test_no_call_is_placed_at_a_host_name_with_a_private_address(
    trunk: Trunk, make_carrier: Callable[..., SipCarrier], tmp_path: Path
) -> None:
    carrier = make_carrier(is_pinned=True, name="an-account")
    words = "No call was placed: the address of 127.0.0.1 is not public."
    assert placed(carrier, NUMBER) == (
        "rejected",
        words,
        EndedReason.CARRIER_ERROR,
        "carrier_error",
    )
    assert trunk.calls_to(NUMBER) == []
    assert {path.name for path in tmp_path.iterdir()} == {"an-account", "began"}


def test_a_redirect_does_not_move_a_pinned_call(
    trunk: Trunk, make_carrier: Callable[..., SipCarrier]
) -> None:
    number = "+12125551205"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as inside:
        inside.bind(("127.0.0.1", 0))
        inside.setblocking(False)
        contact = "Contact: <sip:{2}@{0}:{1}>".format(*inside.getsockname(), NUMBER)
        trunk.routes |= {
            number: Answer(302, "Moved", (contact,)),
            NUMBER: Answer(486, "Busy Here"),
        }
        carrier = make_carrier(trunk=f"localhost:{trunk.port}", is_pinned=True, may_be_private=True)
        assert placed(carrier, number) == ("placed", EndedReason.BUSY)
        with pytest.raises(BlockingIOError):
            inside.recv(1)
    assert len(trunk.calls_to(NUMBER)) == 1


def test_an_attempt_that_was_delayed_may_be_asked_for_again(
    trunk: Trunk, make_carrier: Callable[..., SipCarrier]
) -> None:
    number, attempt_id = "+12125551201", new_id()
    trunk.routes[number] = Answer(486, "Busy Here")
    with pytest.raises(PlacementDelayed):
        make_carrier(trunk="127.0.0.1:9").place(placement_of(attempt_id, number))
    carrier = make_carrier()
    assert carrier.place(placement_of(attempt_id, number)).end_reason is EndedReason.BUSY
    with pytest.raises(NoCarrierAnswer, match="asked for before"):
        carrier.place(placement_of(attempt_id, number))
    assert len(trunk.calls_to(number)) == 1


def test_an_attempt_reported_as_not_placed_is_never_placed_later(
    trunk: Trunk, make_carrier: Callable[..., SipCarrier]
) -> None:
    number, attempt_id, carrier = "+12125551202", new_id(), make_carrier()
    assert carrier.look_up(about(attempt_id)) == CarrierReport(PlacementVerdict.NOT_PLACED)
    assert carrier.hang_up(about(attempt_id)) is False
    with pytest.raises(NoCarrierAnswer, match="asked for before"):
        carrier.place(placement_of(attempt_id, number))
    assert trunk.calls_to(number) == []


def test_a_delayed_attempt_reported_as_not_placed_is_never_placed_later(
    make_carrier: Callable[..., SipCarrier], tmp_path: Path
) -> None:
    attempt_id, carrier = new_id(), make_carrier()
    with AttemptLedger(tmp_path).open_file(attempt_id) as attempt_file:
        attempt_file.write(AttemptFact.ASKED)
        attempt_file.write(AttemptFact.DELAYED)
    assert carrier.look_up(about(attempt_id)) == CarrierReport(PlacementVerdict.NOT_PLACED)
    with pytest.raises(NoCarrierAnswer, match="asked for before"):
        carrier.place(placement_of(attempt_id))


@pytest.mark.parametrize("facts", [[], [AttemptFact.ASKED, AttemptFact.DELAYED]], ids=str)
def test_an_attempt_that_is_just_being_requested_is_not_reported_as_not_placed(
    make_carrier: Callable[..., SipCarrier], tmp_path: Path, facts: list[AttemptFact]
) -> None:
    attempt_id, carrier = new_id(), make_carrier()
    with AttemptLedger(tmp_path).open_file(attempt_id) as attempt_file:
        assert attempt_file.lock()
        for fact in facts:
            attempt_file.write(fact)
        with pytest.raises(NoCarrierAnswer, match="not answered yet"):
            carrier.look_up(about(attempt_id))


def test_a_request_that_died_before_its_process_began_was_not_placed(
    make_carrier: Callable[..., SipCarrier], tmp_path: Path
) -> None:
    attempt_id, carrier = new_id(), make_carrier()
    ledger = AttemptLedger(tmp_path)
    with ledger.open_file(attempt_id) as attempt_file:
        assert attempt_file.lock()
        attempt_file.write(AttemptFact.ASKED)
        with pytest.raises(NoCarrierAnswer, match="not answered yet"):
            carrier.look_up(about(attempt_id))
    assert carrier.look_up(about(attempt_id)) == CarrierReport(PlacementVerdict.NOT_PLACED)


def test_a_ledger_that_was_begun_later_proves_nothing(
    make_carrier: Callable[..., SipCarrier],
) -> None:
    before = replace(about(new_id()), asked_at=utcnow() - timedelta(seconds=5))
    assert make_carrier().look_up(before) == CarrierReport(PlacementVerdict.UNSURE)


def test_the_result_of_an_unanswered_invite_is_unknown(
    trunk: Trunk, make_carrier: Callable[..., SipCarrier], tmp_path: Path
) -> None:
    number, attempt_id = "+12125551203", new_id()
    trunk.routes[number] = Answer(0)
    carrier = make_carrier(request_seconds=1.5)
    with pytest.raises(NoCarrierAnswer, match="not answered yet"):
        carrier.place(placement_of(attempt_id, number))
    wait_for(lambda: bool(trunk.calls_to(number)))
    record = AttemptLedger(tmp_path).read(attempt_id)
    calling = record and record.find(AttemptFact.DIALING)
    assert calling
    os.kill(calling.more["process"], signal.SIGKILL)
    wait_for(lambda: is_gone(calling.more["process"]))
    assert carrier.look_up(about(attempt_id)) == CarrierReport(PlacementVerdict.UNSURE)
    assert len(trunk.calls_to(number)) == 1


def test_a_call_that_rings_is_hung_up_once(
    trunk: Trunk, make_carrier: Callable[..., SipCarrier]
) -> None:
    number, attempt_id, carrier = "+12125551204", new_id(), make_carrier()
    trunk.routes[number] = Answer(180, "Ringing")
    state = carrier.place(placement_of(attempt_id, number))
    assert state.reference == trunk.calls_to(number)[0]["call-id"]
    assert carrier.hang_up(about(attempt_id)) is True
    assert carrier.look_up(about(attempt_id)).end_reason is EndedReason.CANCELED
    assert carrier.hang_up(about(attempt_id)) is False
    assert list(carrier._account.folder.glob("*.line")) == []


@pytest.mark.parametrize(
    ("code", "has_rung", "reason", "is_definite", "pause"),
    [
        (600, False, EndedReason.BUSY, False, None),
        (408, True, EndedReason.NO_ANSWER, False, None),
        (480, False, EndedReason.NO_ANSWER, False, None),
        (404, False, EndedReason.NUMBER_INVALID, True, None),
        (484, False, EndedReason.NUMBER_INVALID, True, None),
        (403, False, EndedReason.REJECTED, True, None),
        (603, True, EndedReason.REJECTED, False, None),
        (407, False, EndedReason.CARRIER_ERROR, True, None),
        (500, False, EndedReason.CARRIER_ERROR, False, None),
        (503, False, EndedReason.CARRIER_ERROR, False, 10.0),
        (503, True, EndedReason.CARRIER_ERROR, False, None),
    ],
)
def test_each_code_has_its_reason(
    code: int, has_rung: bool, reason: EndedReason, is_definite: bool, pause: float | None
) -> None:
    reported = refusal(code, "Words", has_rung=has_rung)
    assert (reported.reason, reported.is_definite, reported.pause) == (reason, is_definite, pause)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("120", 120.0),
        ("18000;duration=3600", 3600.0),
        ("60 (in a meeting)", 60.0),
        ("soon", 10.0),
        ("0", 1.0),
    ],
)
def test_retry_after_is_read_as_sip_writes_it(written: str, seconds: float) -> None:
    assert refusal(503, "Busy", written).pause == seconds
