"""Files of SIP calls on the disk of a worker's host, and when they are deleted."""

import os
import time
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from app.gateways.carriers.base import AttemptInquiry, NoCarrierAnswer, PlacementVerdict
from app.gateways.carriers.sip.account import SipAccount
from app.gateways.carriers.sip.carrier import SipCarrier
from app.gateways.carriers.sip.ledger import RETENTION, AttemptFact, AttemptLedger
from app.models import utcnow

TO, FROM = "+12025550143", "+12025550100"


def grow_old(path: Path) -> None:
    before = time.time() - RETENTION.total_seconds() - 60
    os.utime(path, (before, before))


ACCOUNT = "55281084-9a21-488e-85cf-f642e61c882c"


def finished_call(ledger: AttemptLedger) -> UUID:
    """A call whose process died before it removed the sounds."""
    attempt_id = uuid4()
    with ledger.open_file(attempt_id) as attempt_file:
        attempt_file.write(AttemptFact.ASKED)
        attempt_file.write(AttemptFact.DIALING)
    work_folder = ledger.work_folder(attempt_id)
    work_folder.mkdir()
    (work_folder / "intro.wav").write_bytes(b"Hello Ann")
    return attempt_id


@pytest.mark.parametrize("account", ["", ACCOUNT])
def test_sounds_of_a_call_are_deleted_when_no_process_holds_its_ledger(
    tmp_path: Path, account: str
) -> None:
    ledger = AttemptLedger(tmp_path, account)
    over, going_on = finished_call(ledger), finished_call(ledger)
    with ledger.open_file(going_on) as attempt_file:
        assert attempt_file.lock()
        AttemptLedger(tmp_path).purge()
        assert not ledger.work_folder(over).exists()
        assert ledger.work_folder(going_on).exists()
    assert ledger.path(over).exists()
    AttemptLedger(tmp_path).purge()
    assert not ledger.work_folder(going_on).exists()


@pytest.mark.parametrize("account", ["", ACCOUNT])
def test_ledgers_are_deleted_after_seven_days_even_without_another_call(
    tmp_path: Path, account: str
) -> None:
    ledger = AttemptLedger(tmp_path, account)
    old, new = finished_call(ledger), finished_call(ledger)
    ledger.stop_file(old).touch()
    began = ledger.began_at()
    for path in (ledger.path(old), ledger.stop_file(old), tmp_path / "began"):
        grow_old(path)
    AttemptLedger(tmp_path).purge()
    left = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {"began", f"{new}.ledger"}
    assert ledger.began_at() == began


def test_a_host_without_sip_calls_has_nothing_to_tidy(tmp_path: Path) -> None:
    AttemptLedger(tmp_path / "sip").purge()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "written"),
    [
        ("No route to +12025550143", "No route to [number]"),
        ("No route to sip:12025550143@trunk", "No route to sip:[number]@trunk"),
        ("(202) 555-0143 is barred", "([number] is barred"),
        ("The trunk answered 486 Busy Here", "The trunk answered 486 Busy Here"),
    ],
)
def test_a_ledger_holds_no_number_that_a_trunk_names(
    tmp_path: Path, words: str, written: str
) -> None:
    ledger, attempt_id = AttemptLedger(tmp_path), uuid4()
    with ledger.open_file(attempt_id) as attempt_file:
        attempt_file.write(AttemptFact.ASKED)
        attempt_file.write(AttemptFact.ENDED, reason="carrier_error", words=words)
    record = ledger.read(attempt_id)
    assert record is not None
    assert record.last is not None
    assert record.last.more == {"reason": "carrier_error", "words": written}


def test_a_ledger_that_is_no_longer_kept_proves_nothing(tmp_path: Path) -> None:
    carrier = SipCarrier(SipAccount("sip.example.com", tmp_path))
    (tmp_path / "began").write_text((utcnow() - RETENTION - timedelta(days=9)).isoformat())
    asked_before = AttemptInquiry(uuid4(), TO, FROM, utcnow() - RETENTION - timedelta(minutes=1))
    with pytest.raises(NoCarrierAnswer, match="no longer kept"):
        carrier.look_up(asked_before)
    asked_since = AttemptInquiry(uuid4(), TO, FROM, utcnow() - timedelta(days=6))
    assert carrier.look_up(asked_since).verdict is PlacementVerdict.NOT_PLACED
