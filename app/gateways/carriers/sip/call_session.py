"""One call from beginning to end: dials, listens, plays messages, hands over or hangs up, and
writes the ledger.

It ends with the call: every wait has a limit.
"""

import os
import re
import time
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from app.enums import AnsweredBy, EndedReason
from app.gateways.carriers.sip.answers import (
    TrunkRefusal,
    is_answer,
    refusal,
    retry_after_seconds,
)
from app.gateways.carriers.sip.ledger import AttemptFact, AttemptFile, AttemptLedger
from app.gateways.carriers.sip.next_hop import Hop, first_hop, pinned_hop
from app.gateways.carriers.sip.phone import NotStarted, SipPhone
from app.gateways.carriers.sip.probe import trunk_answers
from app.gateways.carriers.sip.program import UNCHECKED, checks_certificates
from app.gateways.carriers.sip.speech import CannotSpeak, prepare
from app.gateways.carriers.sip.task import SILENT_TRUNK_SECONDS, SipCallTask
from app.gateways.carriers.sip.trace import SipMessage
from app.gateways.carriers.sip.voicemail_detection import RATE, VoicemailDetector
from app.gateways.public_addresses import LookupFailed, PrivateAddress

TICK = 0.05
REGISTRATION_SECONDS = 6.0
SETTLING_SECONDS = 3.0
"""How long the other side may take to confirm the end of the call."""
GREETING_SECONDS = 60.0
HAND_OVER_SECONDS = 20.0
LAST_WORD_SECONDS = 0.3
"""Seconds of sound that may still be in transit when the message has ended."""
MAX_SOUND_DELAY_SECONDS = 1.0
"""Seconds after which missing sound counts as silence."""
MAX_TRACE_DELAY_SECONDS = 1.0
"""A message that is later than the event about it is not waited for."""
UNREACHED_SECONDS = 10.0
"""The pause after a trunk that was unreachable: no call was placed."""
_SIP_ADDRESS = re.compile(r"sips?:[!-~]+", re.IGNORECASE)
_ANSWER = re.compile(r"([3-6]\d\d) ?(.*)")


class CallOver(Exception):
    """The call is over, or never began: its final entry and details."""

    def __init__(self, fact: AttemptFact, **more: Any):
        super().__init__(fact)
        self.fact = fact
        self.more = more


def call_ended(reason: EndedReason, message: str = "", *, definite: bool = False) -> CallOver:
    """``definite``: the phone has not rung and never will."""
    return CallOver(AttemptFact.ENDED, reason=reason.value, words=message, definite=definite)


def closed_by(trunk: TrunkRefusal) -> CallOver:
    """The trunk ended the call, or asked to try later."""
    result = call_ended(trunk.reason, trunk.message, definite=trunk.is_definite)
    if trunk.pause is not None:
        result = CallOver(AttemptFact.DELAYED, seconds=trunk.pause, words=trunk.message)
    result.more["code"] = str(trunk.code)
    return result


def server_unreached(message: str) -> CallOver:
    """Return the end of an attempt whose server could not be reached."""
    return CallOver(AttemptFact.DELAYED, seconds=UNREACHED_SECONDS, words=message, unreached=True)


class CallSession:
    """One call from its preparation to its last ledger entry."""

    def __init__(self, task: SipCallTask, attempt_file: AttemptFile):
        self._task = task
        self._account = task.account
        self._file = attempt_file
        ledger = AttemptLedger(task.account.folder, task.account.name)
        self._stop_file = ledger.stop_file(task.attempt_id)
        self._work_folder = ledger.work_folder(task.attempt_id)
        own_user = task.from_number if task.account.shows_number else task.account.user
        self._phone = SipPhone(task.account, own_user or "anonymous", self._work_folder)
        self._voicemail_detector = VoicemailDetector()
        self._lengths: dict[str, float] = {}
        self._has_dialed = self._invited = self._taken = self._rung = self._stopping = False
        self._ahead_since: float | None = None
        self._is_registered = self._was_challenged = self._is_confirmed = False
        self._hand_over_refused = False
        self._retry_after = ""
        self._answered_at: float | None = None
        self._heard = 0

    def run(self) -> None:
        """Return when the call is over and its last entry is written."""
        try:
            last = self._carried_out()
        finally:
            self._phone.close()
        self._file.write(last.fact, **last.more)
        self._stop_file.unlink(missing_ok=True)

    def _carried_out(self) -> CallOver:
        try:
            self._prepare()
            self._dial()
            self._ring()
            self._speak()
        except CallOver as over:
            return over
        except NotStarted as error:
            return CallOver(AttemptFact.DELAYED, seconds=UNREACHED_SECONDS, words=str(error))
        except CannotSpeak as error:
            return self._failed_result(str(error))
        except Exception as error:  # noqa: BLE001 - the ledger must record any error
            return self._failed_result(f"The call's process failed ({type(error).__name__}).")
        return call_ended(EndedReason.COMPLETED)

    def _failed_result(self, message: str) -> CallOver:
        if self._has_dialed and not self._taken:
            return CallOver(AttemptFact.SILENT)
        return call_ended(EndedReason.CARRIER_ERROR, message, definite=not self._has_dialed)

    def _prepare(self) -> None:
        self._work_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        task, account = self._task, self._account
        texts = {"silence": "", "intro": task.intro, "voicemail": task.voicemail}
        for name, text in texts.items():
            self._lengths[name] = prepare(
                text,
                self._sound(name),
                espeak=account.espeak,
                voice=account.voice,
                sounds=account.sounds,
            )
        if account.transport == "tls" and not checks_certificates(account.baresip):
            raise call_ended(EndedReason.CARRIER_ERROR, UNCHECKED, definite=True)
        hop = self._hop()
        if not account.registers and account.probes and not trunk_answers(account, hop):
            message = "The trunk could not be reached."
            raise server_unreached(message)
        self._phone.start(self._sound("silence"), hop if account.is_pinned else None)
        if account.registers and not self._until(lambda: self._is_registered, REGISTRATION_SECONDS):
            message = "The trunk did not answer the registration."
            raise server_unreached(message)

    def _hop(self) -> Hop:
        if not self._account.is_pinned:
            return first_hop(self._account)
        try:
            pinned = pinned_hop(self._account)
        except LookupFailed as reason:
            message = f"The trunk could not be reached: {reason}."
            raise server_unreached(message) from None
        except PrivateAddress as reason:
            message = f"No call was placed: {reason}."
            raise call_ended(EndedReason.CARRIER_ERROR, message, definite=True) from None
        # Over TLS the certificate proves the host name.
        return first_hop(self._account) if self._account.transport == "tls" else pinned

    def _dial(self) -> None:
        if self._stop_file.exists():
            raise call_ended(EndedReason.CANCELED)
        self._file.write(AttemptFact.DIALING, process=os.getpid())
        self._has_dialed = True
        self._phone.dial(self._task.to_number)

    def _ring(self) -> None:
        self._until(lambda: self._taken, SILENT_TRUNK_SECONDS)
        if not self._taken:
            raise CallOver(AttemptFact.SILENT)
        if not self._until(lambda: self._answered_at is not None, self._account.ring_seconds):
            self._hang_up(EndedReason.NO_ANSWER)

    def _speak(self) -> None:
        limit = time.monotonic() + GREETING_SECONDS
        self._until(lambda: self._voicemail_detector.answered_by is not None, GREETING_SECONDS)
        answered_by = self._voicemail_detector.answered_by or AnsweredBy.UNKNOWN
        self._file.write(AttemptFact.HEARD, answered_by=answered_by.value)
        if answered_by is not AnsweredBy.VOICEMAIL:
            self._say("intro", AttemptFact.INTRO_SPOKEN)
            self._hand_over()
        elif self._until(lambda: self._voicemail_detector.may_speak, limit - time.monotonic()):
            self._say("voicemail", AttemptFact.VOICEMAIL_SPOKEN)
        self._hang_up(EndedReason.COMPLETED)

    def _say(self, name: str, fact: AttemptFact) -> None:
        if not self._lengths[name]:
            return
        self._phone.play(self._sound(name))
        self._until(lambda: False, self._lengths[name] + LAST_WORD_SECONDS)
        self._file.write(fact)

    def _hand_over(self) -> None:
        if not _SIP_ADDRESS.fullmatch(self._task.hand_over_to):
            return
        self._phone.hand_over(self._task.hand_over_to)
        self._until(lambda: self._hand_over_refused, HAND_OVER_SECONDS)

    def _hang_up(self, reason: EndedReason) -> NoReturn:
        """End the call and wait for the other side to confirm it."""
        self._stopping = True
        self._phone.hang_up()
        self._until(lambda: self._is_confirmed, SETTLING_SECONDS)
        raise call_ended(reason) if self._taken else CallOver(AttemptFact.SILENT)

    def _until(self, reached: Callable[[], bool], seconds: float) -> bool:
        """Wait for the event, handling others; return whether it came. Raises `CallOver`."""
        deadline = time.monotonic() + seconds
        while not reached():
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return False
            self._handle_pending(min(remaining, TICK))
        return True

    def _handle_pending(self, seconds: float) -> None:
        self._phone.wait(seconds)
        while self._phone.messages:
            self._handle_message(self._phone.messages.popleft())
        while self._phone.events and not self._is_ahead(self._phone.events[0]):
            self._handle_event(self._phone.events.popleft())
        if self._answered_at is not None:
            self._listen(self._answered_at)
        if self._stopping:
            return
        if self._stop_file.exists():
            if not self._has_dialed:
                raise call_ended(EndedReason.CANCELED)
            self._hang_up(EndedReason.CANCELED)
        if self._answered_at is not None and self._is_too_long(self._answered_at):
            self._hang_up(EndedReason.COMPLETED)
        if not self._phone.is_running:
            raise self._failed_result("baresip ended.")

    def _is_too_long(self, answered_at: float) -> bool:
        return time.monotonic() - answered_at > self._account.longest_call_seconds

    def _is_ahead(self, event: dict[str, Any]) -> bool:
        """Whether an event came before the trunk's answer that it belongs to: the terminal may be
        slower than the control socket. An answer that doesn't come in time is not waited for."""
        tells = is_answer(event.get("type"), str(event.get("param", "")))
        if self._taken or not tells or not self._phone.is_running:
            return False
        self._ahead_since = self._ahead_since or time.monotonic()
        return time.monotonic() - self._ahead_since < MAX_TRACE_DELAY_SECONDS

    def _handle_message(self, message: SipMessage) -> None:
        match message.method:
            case "REGISTER":
                self._handle_registration(message)
            case "INVITE" if message.code == 0:
                self._invited = True
            case "INVITE" if message.code not in {401, 407}:
                self._retry_after = message.headers.get("retry-after", "")
                if not self._taken:
                    self._taken = True
                    self._file.write(
                        AttemptFact.TAKEN, reference=message.headers.get("call-id", "")
                    )
                self._is_confirmed |= message.code == 487
            case "REFER" if message.code >= 300:
                self._hand_over_refused = True
            case "BYE" if message.code >= 200:
                self._is_confirmed = True

    def _handle_registration(self, message: SipMessage) -> None:
        if message.code in {401, 403, 407}:
            is_first = message.code != 403 and self._account.user and not self._was_challenged
            if self._has_dialed or is_first:
                self._was_challenged = True
                return
            raise closed_by(refusal(401, ""))
        if 200 <= message.code < 300:
            self._is_registered = True
        elif message.code >= 300 and not self._has_dialed:
            seconds = retry_after_seconds(message.headers.get("retry-after", ""))
            detail = f"The trunk answered the registration with {message.code}."
            raise CallOver(AttemptFact.DELAYED, seconds=seconds, words=detail)

    def _handle_event(self, event: dict[str, Any]) -> None:
        if self._stopping:
            return
        match event.get("type"):
            case "CALL_RINGING" | "CALL_PROGRESS" if not self._rung:
                self._rung = True
                self._file.write(AttemptFact.RINGING)
            case "CALL_ESTABLISHED" if self._answered_at is None:
                self._answered_at = time.monotonic()
                if self._rung:
                    self._phone.read_received()  # what the network played while it rang
                self._file.write(AttemptFact.ANSWERED)
            case "TRANSFER_FAILED":
                self._hand_over_refused = True
            case "CALL_CLOSED":
                raise self._closed_result(str(event.get("param", "")))

    def _closed_result(self, event_text: str) -> CallOver:
        """Return the result of a call that the other side ended."""
        if self._answered_at is not None:
            return call_ended(EndedReason.COMPLETED)
        if answer := _ANSWER.match(event_text):
            code, phrase = int(answer[1]), answer[2]
            return closed_by(refusal(code, phrase, self._retry_after, has_rung=self._rung))
        if not self._invited:
            message = f"The trunk could not be reached ({event_text})."
            return server_unreached(message)
        return self._failed_result(f"The connection to the trunk failed ({event_text}).")

    def _listen(self, answered_at: float) -> None:
        """Listen for who answers. Silence and a line without any sound are treated alike."""
        sound = self._phone.read_received()
        missing = (
            int((time.monotonic() - answered_at - MAX_SOUND_DELAY_SECONDS) * RATE) - self._heard
        )
        if not sound and missing > 0:
            sound = array("h", bytes(2 * missing))
        self._heard += len(sound)
        self._voicemail_detector.hear(sound)

    def _sound(self, name: str) -> Path:
        return self._work_folder / f"{name}.wav"
