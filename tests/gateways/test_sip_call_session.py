"""The process of one call, run here: what its ledger says when the other side does as it likes."""

from array import array
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.gateways.carriers.sip.account import SipAccount
from app.gateways.carriers.sip.call_session import CallSession
from app.gateways.carriers.sip.ledger import AttemptFact, AttemptLedger
from app.gateways.carriers.sip.task import SipCallTask
from app.models import new_id
from tests.fixtures.sip_phone import Telephone, silence, spoken, telephone
from tests.fixtures.sip_trunk import Answer, Trunk

pytestmark = [pytest.mark.debian, pytest.mark.xdist_group("sip-call-session")]

INTRO = "Good morning."
TALKED = [
    AttemptFact.ASKED,
    AttemptFact.DIALING,
    AttemptFact.TAKEN,
    AttemptFact.RINGING,
    AttemptFact.ANSWERED,
    AttemptFact.HEARD,
]


@pytest.fixture(scope="module")
def patient_telephone(
    trunk: Trunk, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Telephone]:
    """One that hears a call to its end."""
    yield from _telephone(trunk, "+12125553001", tmp_path_factory.mktemp("patient"), 60.0)


@pytest.fixture(scope="module")
def hasty_telephone(trunk: Trunk, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Telephone]:
    """One that hangs up while it is spoken to."""
    yield from _telephone(trunk, "+12125553002", tmp_path_factory.mktemp("hasty"), 4.0)


def _telephone(trunk: Trunk, number: str, folder: Path, listens: float) -> Iterator[Telephone]:
    hello: array[int] = silence(0.1) + spoken("Hello?")
    with telephone(number, hello, folder / "telephone", listens=listens) as known:
        trunk.routes[number] = known.port
        yield known


def task(
    trunk: Trunk, folder: Path, number: str, *, espeak: str = "espeak-ng", **message: str
) -> SipCallTask:
    own = {"intro": INTRO, "voicemail": "", "hand_over_to": ""} | message
    account = SipAccount(trunk=trunk.address, folder=folder, ring_seconds=1.0, espeak=espeak)
    return SipCallTask(new_id(), number, "+12025550199", account=account, **own)


def stored_facts(task: SipCallTask) -> list[tuple[AttemptFact, dict[str, Any]]]:
    """Every fact of the call, once it is over."""
    ledger = AttemptLedger(task.account.folder)
    with ledger.open_file(task.attempt_id) as attempt_file:
        assert attempt_file.lock()
        attempt_file.write(AttemptFact.ASKED)
        CallSession(SipCallTask.read(task.written()), attempt_file).run()
    record = ledger.read(task.attempt_id)
    assert record is not None
    assert record.is_over
    return [(entry.fact, entry.more) for entry in record.entries]


def fact_kinds(reported: list[tuple[AttemptFact, dict[str, Any]]]) -> list[AttemptFact]:
    return [fact for fact, _ in reported]


def test_a_call_ends_after_its_longest_time(
    trunk: Trunk, patient_telephone: Telephone, tmp_path: Path
) -> None:
    asked = task(trunk, tmp_path, patient_telephone.number, intro=INTRO * 9)
    asked = replace(asked, account=replace(asked.account, longest_call_seconds=1.5))
    reported = stored_facts(asked)
    assert fact_kinds(reported) == [*TALKED[: len(reported) - 1], AttemptFact.ENDED]
    assert reported[-1][1] == {"reason": "completed", "words": "", "definite": False}


def test_a_call_ends_as_it_went(
    trunk: Trunk, patient_telephone: Telephone, hasty_telephone: Telephone, tmp_path: Path
) -> None:
    """Three at once: no one takes over, the called one hangs up early, the trunk is full."""
    full = "+12125553003"
    trunk.routes[full] = Answer(503, "Full", ("Retry-After: 9",))
    absent = "sip:assistant@127.0.0.1:9;transport=tcp"
    tasks = [
        task(trunk, tmp_path, patient_telephone.number, hand_over_to=absent),
        task(trunk, tmp_path, hasty_telephone.number, intro=INTRO * 9),
        task(trunk, tmp_path, full),
    ]
    with ThreadPoolExecutor(len(tasks)) as pool:
        heard_out, cut_short, postponed = pool.map(stored_facts, tasks)
    assert fact_kinds(heard_out) == [*TALKED, AttemptFact.INTRO_SPOKEN, AttemptFact.ENDED]
    assert fact_kinds(cut_short) == [*TALKED, AttemptFact.ENDED]
    assert heard_out[-1] == cut_short[-1]
    assert heard_out[-1][1] == {"reason": "completed", "words": "", "definite": False}
    assert fact_kinds(postponed) == [
        AttemptFact.ASKED,
        AttemptFact.DIALING,
        AttemptFact.TAKEN,
        AttemptFact.DELAYED,
    ]
    assert postponed[-1][1] == {
        "seconds": 9.0,
        "words": "The trunk answered 503 Full.",
        "code": "503",
    }
    assert [path.suffix for path in tmp_path.iterdir()] == [".ledger"] * 3


def test_a_call_whose_message_can_not_be_spoken_is_not_placed(trunk: Trunk, tmp_path: Path) -> None:
    number = "+12125553004"
    reported = stored_facts(task(trunk, tmp_path, number, espeak="/absent/espeak-ng"))
    words = "espeak-ng could not speak the message (FileNotFoundError)."
    refused = {"reason": "carrier_error", "words": words, "definite": True}
    assert reported == [(AttemptFact.ASKED, {}), (AttemptFact.ENDED, refused)]
    assert trunk.calls_to(number) == []
