"""Twilio without a portal around it: the wire, and what its words mean."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from app.enums import AnsweredBy, EndedReason
from app.gateways.carriers.base import (
    AttemptInquiry,
    CallPlacement,
    CarrierEventKind,
    NoCarrierAnswer,
    PlacementDelayed,
    PlacementRejected,
    PlacementVerdict,
)
from app.gateways.carriers.twilio.account import TwilioAccount
from app.gateways.carriers.twilio.call_reports import read_answered_by, state_of_call
from app.gateways.carriers.twilio.carrier import TwilioCarrier
from app.gateways.carriers.twilio.twiml import hang_up, say
from app.gateways.carriers.twilio.wire import UNREACHED_SECONDS, pause_asked_for
from app.models import new_id
from tests.fixtures.faulty_carrier import (
    ACCOUNT,
    TOKEN,
    CarrierBehaviour,
    FaultyCarrier,
    faulty_carrier,
)
from tests.fixtures.ports import free_port

NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
NUMBER, OWN = "+12125550100", "+12025550199"


def account_at(url: str) -> TwilioCarrier:
    account = TwilioAccount(
        ACCOUNT, TOKEN, "http://127.0.0.1:9", api_url=url, request_seconds=1.0, settle_seconds=0.5
    )
    return TwilioCarrier(account)


def placement() -> CallPlacement:
    return CallPlacement(new_id(), NUMBER, OWN, "Hello.", "Bye.")


def test_a_refused_connection_means_that_no_call_was_placed() -> None:
    twilio = account_at(f"http://127.0.0.1:{free_port()}")
    with pytest.raises(PlacementDelayed) as refusal:
        twilio.place(placement())
    assert refusal.value.seconds == UNREACHED_SECONDS
    with pytest.raises(NoCarrierAnswer):
        twilio.look_up(AttemptInquiry(new_id(), NUMBER, OWN, NOW))


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ("reset", NoCarrierAnswer),
        ("hang", NoCarrierAnswer),
        ("cut", NoCarrierAnswer),
        ("503", NoCarrierAnswer),
        ("429", PlacementDelayed),
        ("400", PlacementRejected),
        ("401", PlacementRejected),
    ],
)
def test_each_answer_has_its_meaning_and_is_asked_for_once(
    answer: str, error: type[Exception]
) -> None:
    with faulty_carrier(hang=1.2) as carrier:
        carrier.behaviours[NUMBER] = CarrierBehaviour(asked=[answer])
        with pytest.raises(error):
            account_at(carrier.url).place(placement())
        assert len(carrier.asked_for(NUMBER)) == 1


def place_and_forget(carrier: FaultyCarrier, *attempts: CallPlacement) -> list[str]:
    carrier.behaviours[NUMBER] = CarrierBehaviour(callbacks="lost", fetches=False)
    twilio = account_at(carrier.url)
    return [str(twilio.place(attempt).reference) for attempt in attempts]


def about(attempt: CallPlacement, **known: Any) -> AttemptInquiry:
    began = datetime.now(UTC) - timedelta(seconds=1)
    return AttemptInquiry(attempt.attempt_id, NUMBER, OWN, began, **known)


def test_calls_of_other_attempts_are_not_mistaken_for_the_own_one() -> None:
    first, second = placement(), placement()
    with faulty_carrier() as carrier:
        twilio = account_at(carrier.url)
        one, two = place_and_forget(carrier, first, second)
        known = twilio.look_up(about(second, taken=frozenset([one])))
        assert (known.verdict, known.reference) == (PlacementVerdict.PLACED, two)
        assert twilio.look_up(about(second, taken=frozenset([one, two]))).verdict is (
            PlacementVerdict.NOT_PLACED
        )
        both = [
            twilio.look_up(about(first, rivals=1, position=position)).reference
            for position in (0, 1)
        ]
        assert sorted(map(str, both)) == sorted([one, two])
        one_for_two = about(first, rivals=1, taken=frozenset([one]))
        assert twilio.look_up(one_for_two).verdict is PlacementVerdict.UNSURE


@pytest.mark.parametrize(
    ("word", "who"),
    [
        ("human", AnsweredBy.HUMAN),
        ("machine_start", AnsweredBy.VOICEMAIL),
        ("machine_end_beep", AnsweredBy.VOICEMAIL),
        ("machine_end_silence", AnsweredBy.VOICEMAIL),
        ("machine_end_other", AnsweredBy.VOICEMAIL),
        ("fax", AnsweredBy.UNKNOWN),
        ("unknown", AnsweredBy.UNKNOWN),
        ("", None),
        (None, None),
    ],
)
def test_twilio_says_who_answered(word: str | None, who: AnsweredBy | None) -> None:
    assert read_answered_by(word) is who


def test_a_finished_call_reports_its_answer_its_end_and_its_cost() -> None:
    began, ended = NOW, NOW + timedelta(seconds=42)
    reported = {
        "sid": "CA1",
        "status": "completed",
        "answered_by": "machine_end_beep",
        "start_time": format_datetime(began),
        "end_time": format_datetime(ended),
        "duration": "42",
        "price": "-0.0350",
        "price_unit": "usd",
    }
    state = state_of_call(reported, ended, None)
    assert [(event.kind, event.at, event.reason) for event in state.events] == [
        (CarrierEventKind.ANSWERED, began, None),
        (CarrierEventKind.ENDED, ended, EndedReason.COMPLETED),
    ]
    assert (state.cost, state.currency, state.next_change) == (Decimal("0.0350"), "USD", None)


@pytest.mark.parametrize(
    ("reported", "seconds"),
    [("7", 7.0), ("0", 1.0), ("999999", 3600.0), ("soon", 1.0), ("-5", 1.0), (None, 1.0)],
)
def test_the_pause_is_what_retry_after_says_within_reason(
    reported: str | None, seconds: float
) -> None:
    assert pause_asked_for({"Retry-After": reported} if reported else {}) == seconds


def test_the_pause_may_be_a_date() -> None:
    later = datetime.now(UTC) + timedelta(seconds=60)
    assert 55 < pause_asked_for({"Retry-After": format_datetime(later, usegmt=True)}) <= 60
    earlier = datetime.now(UTC) - timedelta(seconds=60)
    assert pause_asked_for({"Retry-After": format_datetime(earlier, usegmt=True)}) == 1


@pytest.mark.parametrize(
    ("address", "verbs"),
    [
        (None, ["Say", "Hangup"]),
        ("sip:ada@voice.example.com", ["Say", "Dial", "Hangup"]),
        ("wss://voice.example.com/ada", ["Say", "Connect", "Hangup"]),
    ],
)
def test_after_the_message_the_call_is_handed_over_or_ends(
    address: str | None, verbs: list[str]
) -> None:
    spoken = fromstring(say("Hello.", address))
    assert [verb.tag for verb in spoken] == verbs
    if address:
        inner = spoken[1][0]
        assert address in (inner.text, inner.get("url"))


def test_characters_that_xml_can_not_hold_are_left_out() -> None:
    assert fromstring(say("a\x00\x0b\ud800b"))[0].text == "ab"
    assert [verb.tag for verb in fromstring(hang_up())] == ["Hangup"]
