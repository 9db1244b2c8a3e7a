"""A SIP trunk as the carrier. It starts a process for each call and reads the ledgers."""

import os
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from app.enums import AnsweredBy, CarrierKind, EndedReason
from app.gateways.carriers.base import (
    AttemptInquiry,
    CallPlacement,
    CarrierEvent,
    CarrierEventKind,
    CarrierReport,
    NoCarrierAnswer,
    PlacementDelayed,
    PlacementRejected,
    PlacementVerdict,
)
from app.gateways.carriers.sip.account import SipAccount
from app.gateways.carriers.sip.ledger import (
    RETENTION,
    AttemptFact,
    AttemptFile,
    AttemptLedger,
    AttemptRecord,
)
from app.gateways.carriers.sip.task import SILENT_TRUNK_SECONDS, SipCallTask
from app.models import utcnow

ROOT = Path(__file__).resolve().parents[4]
LOOK_SECONDS = 0.03
SECOND_THOUGHTS = timedelta(seconds=2)
"""Seconds within which a trunk may accept a call and then refuse it because it is full."""
LAST_MOMENTS_SECONDS = 2.0
"""Seconds that a call's process may take to exit after its last entry."""
MAX_POLL_SECONDS = 2.0
_KINDS = {
    AttemptFact.RINGING: CarrierEventKind.RINGING,
    AttemptFact.ANSWERED: CarrierEventKind.ANSWERED,
    AttemptFact.INTRO_SPOKEN: CarrierEventKind.INTRO_SPOKEN,
    AttemptFact.VOICEMAIL_SPOKEN: CarrierEventKind.VOICEMAIL_SPOKEN,
}


class SipCarrier:
    kind = CarrierKind.SIP
    charges = False

    def __init__(self, account: SipAccount):
        self._account = account
        self._ledger = AttemptLedger(account.folder, account.name)
        self._ledger.began_at()

    @property
    def settle_seconds(self) -> float:
        """Zero: the ledger is final at once, and "not placed" never changes."""
        return 0.0

    @property
    def silence_seconds(self) -> float:
        """After this time the call's process learns nothing more."""
        return self._account.request_seconds + SILENT_TRUNK_SECONDS

    def place(self, placement: CallPlacement) -> CarrierReport:
        attempt_id = placement.attempt_id
        with self._ledger.open_file(attempt_id) as attempt_file:
            self._take_over(attempt_id, attempt_file)
            self._ledger.stop_file(attempt_id).unlink(missing_ok=True)
            attempt_file.write(AttemptFact.ASKED)
            self._start(placement, attempt_file)
        return self._first_news(attempt_id)

    def look_up(self, inquiry: AttemptInquiry) -> CarrierReport:
        record = self._ledger.read(inquiry.attempt_id)
        if record is None and inquiry.reference is not None:
            message = "the call's ledger is missing"
            raise NoCarrierAnswer(message)
        if record is None and inquiry.asked_at < utcnow() - RETENTION:
            message = "the call's ledger is no longer kept"
            raise NoCarrierAnswer(message)
        if record is None and inquiry.asked_at < self._ledger.began_at():
            return CarrierReport(PlacementVerdict.UNSURE)
        if record is None or not record.is_over:
            record = self._concluded(inquiry.attempt_id)
        if inquiry.reference is None and record.last_fact is AttemptFact.DELAYED:
            record = self._abandoned(inquiry.attempt_id)
        state = self._state(record, inquiry.reference)
        if state.verdict is PlacementVerdict.UNSURE and record.last_fact is not AttemptFact.SILENT:
            message = "the trunk has not answered yet"
            raise NoCarrierAnswer(message)
        return state

    def hang_up(self, inquiry: AttemptInquiry) -> bool:
        attempt_id = inquiry.attempt_id
        if self._concluded(attempt_id).is_over:
            return False
        self._ledger.stop_file(attempt_id).touch()
        deadline = time.monotonic() + self._account.request_seconds
        while not (record := self._concluded(attempt_id)).is_over:
            if time.monotonic() > deadline:
                message = "the call's process did not hang up"
                raise NoCarrierAnswer(message)
            time.sleep(LOOK_SECONDS)
        if record.last_fact is AttemptFact.SILENT:
            message = "the trunk answered neither the call nor its end"
            raise NoCarrierAnswer(message)
        return _end_reason(record) is EndedReason.CANCELED

    def _take_over(self, attempt_id: UUID, attempt_file: AttemptFile) -> None:
        """Lock the file of an attempt that was not requested yet, or was delayed."""
        deadline = time.monotonic() + LAST_MOMENTS_SECONDS
        while True:
            is_free = attempt_file.lock()
            record = self._ledger.read(attempt_id) or AttemptRecord()
            if record.last_fact not in {None, AttemptFact.DELAYED}:
                message = "the attempt was asked for before"
                raise NoCarrierAnswer(message)
            if is_free:
                return
            if time.monotonic() > deadline:
                message = "the call's process is there already"
                raise NoCarrierAnswer(message)
            time.sleep(LOOK_SECONDS)

    def _start(self, placement: CallPlacement, attempt_file: AttemptFile) -> None:
        """Start the call's process, which inherits only the file with its lock."""
        task = SipCallTask(
            attempt_id=placement.attempt_id,
            to_number=placement.to_number,
            from_number=placement.from_number,
            intro=placement.intro,
            voicemail=placement.voicemail,
            hand_over_to=placement.hand_over_to or "",
            account=self._account,
        )
        process = subprocess.Popen(  # noqa: S603 - our own module
            [
                sys.executable,
                "-m",
                "app.gateways.carriers.sip.process",
                str(attempt_file.descriptor),
            ],
            cwd=ROOT,
            env={name: value for name, value in os.environ.items() if not _is_ours(name)},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=[attempt_file.descriptor],
            start_new_session=True,
        )
        threading.Thread(target=process.communicate, args=(task.written(),), daemon=True).start()

    def _first_news(self, attempt_id: UUID) -> CarrierReport:
        """Wait for the trunk's first lasting answer, as long as a request may take."""
        deadline = time.monotonic() + self._account.request_seconds
        while time.monotonic() < deadline:
            record = self._ledger.read(attempt_id) or AttemptRecord()
            if (
                record.find(AttemptFact.RINGING)
                or record.find(AttemptFact.ANSWERED)
                or record.is_over
            ):
                break
            taken = record.find(AttemptFact.TAKEN)
            if taken and utcnow() - taken.at > SECOND_THOUGHTS:
                break
            time.sleep(LOOK_SECONDS)
        record = self._ledger.read(attempt_id) or AttemptRecord()
        _raise_refusal(record)
        state = self._state(record, None)
        if state.verdict is not PlacementVerdict.PLACED:
            message = "the trunk has not answered yet"
            raise NoCarrierAnswer(message)
        return state

    def _concluded(self, attempt_id: UUID) -> AttemptRecord:
        """Return the attempt's record, concluded if no process is left to continue it."""
        with self._ledger.open_file(attempt_id) as attempt_file:
            is_left = attempt_file.lock()
            record = self._ledger.read(attempt_id) or AttemptRecord()
            if is_left and not record.is_over:
                if not record.find(AttemptFact.DIALING):
                    attempt_file.write(AttemptFact.ABANDONED)
                elif not record.find(AttemptFact.TAKEN):
                    attempt_file.write(AttemptFact.SILENT)
                else:
                    reason = EndedReason.CARRIER_ERROR
                    attempt_file.write(
                        AttemptFact.ENDED, reason=reason.value, words="The call's process died."
                    )
                record = self._ledger.read(attempt_id) or AttemptRecord()
        return record

    def _abandoned(self, attempt_id: UUID) -> AttemptRecord:
        """Return the record of a delayed attempt, abandoned unless a process is about to send it
        again."""
        with self._ledger.open_file(attempt_id) as attempt_file:
            is_left = attempt_file.lock()
            record = self._ledger.read(attempt_id) or AttemptRecord()
            if is_left and record.last_fact is AttemptFact.DELAYED:
                attempt_file.write(AttemptFact.ABANDONED)
                record = self._ledger.read(attempt_id) or AttemptRecord()
        return record

    def _state(self, record: AttemptRecord, reference: str | None) -> CarrierReport:
        last = record.last_fact
        if last is AttemptFact.ABANDONED:
            return CarrierReport(PlacementVerdict.NOT_PLACED)
        may_be_sent = last is AttemptFact.DELAYED and reference is None
        is_known = record.is_over or record.find(AttemptFact.TAKEN)
        if last is AttemptFact.SILENT or may_be_sent or not is_known:
            return CarrierReport(PlacementVerdict.UNSURE)
        poll = min(self._account.poll_seconds, MAX_POLL_SECONDS)
        next_look = None if record.is_over else utcnow() + timedelta(seconds=poll)
        return CarrierReport(
            PlacementVerdict.PLACED, record.reference, _to_events(record), next_look
        )


def _is_ours(variable: str) -> bool:
    """Return whether a variable is a setting, perhaps a secret, that a call's process doesn't
    need."""
    return variable.startswith(("PORTAL_", "TWILIO_")) or variable == "DATABASE_URL"


def _raise_refusal(record: AttemptRecord) -> None:
    last = record.last
    if last is None:
        return
    if last.fact is AttemptFact.DELAYED:
        unreached = bool(last.more.get("unreached"))
        message, seconds = str(last.more["words"]), float(last.more["seconds"])
        raise PlacementDelayed(message, seconds, unreached=unreached)
    if last.fact is AttemptFact.ENDED and last.more.get("definite"):
        reason, code = EndedReason(last.more["reason"]), last.more.get("code")
        raise PlacementRejected(str(last.more["words"]), reason, code)


def _to_events(record: AttemptRecord) -> list[CarrierEvent]:
    heard = record.find(AttemptFact.HEARD)
    answered_by = AnsweredBy(heard.more["answered_by"]) if heard else None
    events = [
        CarrierEvent(
            _KINDS[entry.fact], entry.at, None if entry.fact is AttemptFact.RINGING else answered_by
        )
        for entry in record.entries
        if entry.fact in _KINDS
    ]
    if record.is_over and record.last is not None:
        events.append(
            CarrierEvent(CarrierEventKind.ENDED, record.last.at, answered_by, _end_reason(record))
        )
    return events


def _end_reason(record: AttemptRecord) -> EndedReason | None:
    last = record.last
    if last is None or last.fact not in {AttemptFact.ENDED, AttemptFact.DELAYED}:
        return None
    return EndedReason(last.more.get("reason", EndedReason.CARRIER_ERROR))
