"""A call in words: its timeline, its attempts and its result."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from flask import request, url_for
from sqlalchemy.orm import Session

from app.enums import AnsweredBy, CallSource, CallStatus, CarrierKind, EndedReason
from app.errors import translate_stored
from app.extensions import caller
from app.gateways.carriers.base import CarrierEventKind
from app.languages import gettext, language, lazy_gettext, pgettext
from app.languages.dates import NO_BREAK
from app.languages.numbers import localize_number
from app.models import Call, CallAttempt
from app.models.base import utcnow
from app.portal.web.blueprint import portal
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.formats import CALL_STATUS_LABELS, duration, long_datetime, phone
from app.portal.web.process_names import process_label
from app.portal.web.readiness import is_offline
from app.portal.web.user_timezone import zone
from app.services import calls
from app.services.calls import TimelineEntry, events
from app.services.calls.states import WAITING

TITLES: dict[str, str] = {
    "accepted": lazy_gettext("Queued"),
    "scheduled": lazy_gettext("Waiting until allowed"),
    "dialing": lazy_gettext("Calling"),
    "ringing": lazy_gettext("Ringing"),
    "answered": lazy_gettext("Answered"),
    CarrierEventKind.INTRO_SPOKEN: lazy_gettext("Intro spoken"),
    CarrierEventKind.VOICEMAIL_SPOKEN: lazy_gettext("Voicemail message spoken"),
    "cancel-asked": lazy_gettext("Cancelling"),
    "cancel-refused": lazy_gettext("The carrier didn’t stop the call"),
    "never-placed": lazy_gettext("Confirmed as not placed"),
    events.DELAYED: lazy_gettext("The carrier could not take it yet"),
    "held": lazy_gettext("Waiting: calling is paused"),
    "was-unknown": lazy_gettext("The carrier could not say whether the call was placed"),
}
_WORD_JOINER = "\u2060"
"""A word joiner, after which a line doesn't break."""
_SPEECH_KINDS = {CarrierEventKind.INTRO_SPOKEN, CarrierEventKind.VOICEMAIL_SPOKEN}
"""Events whose detail is the assistant's message."""
ENDED_LABELS = {
    "completed": lazy_gettext("Finished after a conversation"),
    "voicemail": lazy_gettext("Finished on voicemail"),
    "busy": lazy_gettext("The line was busy"),
    "no_answer": lazy_gettext("No one answered"),
    "rejected": lazy_gettext("The carrier refused the call"),
    "carrier_error": lazy_gettext("The carrier could not place the call"),
    "number_invalid": lazy_gettext("The number does not exist"),
    "canceled": lazy_gettext("Cancelled"),
    "organization_suspended": lazy_gettext("Not placed: the organization is suspended"),
    "agent_inactive": lazy_gettext("Not placed: the assistant can’t call"),
    "do_not_contact": lazy_gettext("Not placed: the person has asked not to be called"),
    "consent_missing": lazy_gettext("Not placed: no consent is recorded for the number"),
    "region_not_allowed": lazy_gettext("Not placed: the region may not be called"),
    "trial_mode": lazy_gettext("Not placed: trial mode allows verified numbers only"),
    "spend_cap_reached": lazy_gettext("Not placed: a spending limit is reached"),
    "contact_ended": lazy_gettext("Not placed: the contact’s status ended it"),
    "expired": lazy_gettext("Not placed in time"),
    "unknown": lazy_gettext("The carrier could not say whether the call was placed"),
}
OUTCOME_LABELS = {
    "completed": lazy_gettext("Conversation"),
    "voicemail": lazy_gettext("Voicemail"),
    "busy": lazy_gettext("Busy"),
    "no_answer": lazy_gettext("No answer"),
    "rejected": lazy_gettext("Refused by carrier"),
    "carrier_error": lazy_gettext("Carrier error"),
    "number_invalid": lazy_gettext("Number doesn’t exist"),
    "canceled": lazy_gettext("Cancelled"),
    "organization_suspended": lazy_gettext("Organization suspended"),
    "agent_inactive": lazy_gettext("Assistant can’t call"),
    "do_not_contact": lazy_gettext("Asked not to be called"),
    "consent_missing": lazy_gettext("No consent"),
    "region_not_allowed": lazy_gettext("Region not allowed"),
    "trial_mode": lazy_gettext("Trial mode"),
    "spend_cap_reached": lazy_gettext("Spending limit"),
    "contact_ended": lazy_gettext("Contact ended"),
    "expired": lazy_gettext("Not placed in time"),
    "unknown": lazy_gettext("Unknown"),
}
"""The same in one or two words, for lists and their filters."""


def outcome_beyond_status(reason: EndedReason | None, status: CallStatus) -> str:
    """Return how a call ended in one or two words; nothing if its status says the same."""
    outcome = str(OUTCOME_LABELS[reason]) if reason else ""
    return "" if outcome == str(CALL_STATUS_LABELS[status]) else outcome


ATTESTATION_LABELS = {
    "A": lazy_gettext("Attestation A: number verified"),
    "B": lazy_gettext("Attestation B: customer verified"),
    "C": lazy_gettext("Attestation C: not verified"),
}
"""The carrier's attestation of the caller ID (STIR/SHAKEN)."""
ANSWERED_LABELS = {
    AnsweredBy.HUMAN: lazy_gettext("A person"),
    AnsweredBy.VOICEMAIL: lazy_gettext("Voicemail"),
    AnsweredBy.UNKNOWN: lazy_gettext("Unknown"),
}
SOURCE_LABELS = {
    CallSource.API: lazy_gettext("A script, through the API"),
    CallSource.LEGACY: lazy_gettext("A script, through the legacy API"),
    CallSource.TEST: lazy_gettext("A test call"),
    CallSource.CAMPAIGN: lazy_gettext("A campaign"),
    CallSource.VERIFICATION: lazy_gettext("A verification call"),
}


_ADVICE = {
    EndedReason.REJECTED: lazy_gettext(
        "Check the balance, the permissions and the caller ID at the carrier."
    ),
    EndedReason.CARRIER_ERROR: lazy_gettext("If it happens again, test the carrier account."),
    EndedReason.NUMBER_INVALID: lazy_gettext("Correct the number of the contact."),
}
"""Advice about failed calls."""


def advice_on(reason: EndedReason | None, carrier: CarrierKind) -> str | None:
    """Return the advice; a simulated call has no carrier account to test."""
    if reason is EndedReason.CARRIER_ERROR and carrier is CarrierKind.SIMULATOR:
        return gettext("The call was simulated: no carrier account has a problem.")
    return str(_ADVICE[reason]) if reason in _ADVICE else None


@portal.app_template_filter()
def stored_message(text: str | None) -> str | None:
    """Return a sentence that is stored in English in the current language; other text is shown as
    it is stored."""
    return translate_stored(text) if text else text


@portal.app_template_filter()
def requester(call: Call, names: Mapping[str, str]) -> str:
    """Return who requested a call, users by their name of ``names``; only a part of the system has
    no id."""
    if call.credential_id is None:
        return process_label(call.requested_by)
    return names.get(call.requested_by, call.requested_by)


def counted_label(call: Call) -> str | None:
    """Return whether the call counts as a conversation, and why not; None while that is open."""
    if not call.live:
        return gettext("No, made with a test key")
    if call.verifies_a_number:
        return gettext("No, it verified the number")
    if call.is_simulated_test:
        return gettext("No, a test call on the simulated carrier")
    if call.answered_at:
        return gettext("Yes")
    return gettext("No, not answered") if call.status.is_final else None


@portal.app_template_filter()
def in_sentence(label: str) -> str:
    """Return words that begin with a capital for use within a sentence; German keeps the
    capitals."""
    return str(label) if language() == "de" else label.lower()


def live_panel_data(session: Session, call: Call) -> dict[str, Any]:
    """Return the data of a call's panel, during the call and after it."""
    moments = calls.timeline(session, call)
    attempts = calls.attempts_of(session, [call.id])[call.id]
    return {
        "call": call,
        "has_ended": call.status.is_final,
        "waits": call.status in WAITING
        or any(attempt.carrier_retry_at for attempt in attempts[-1:]),
        "entries": _entries(call, moments, attempts),
        "attempts": attempts,
        "has_costs": caller().organization_id is None
        and any(attempt.cost is not None for attempt in attempts),
        "ended": ENDED_LABELS,
        "attestations": ATTESTATION_LABELS,
        "is_offline": not call.status.is_final and is_offline(session),
        "seconds": _conversation_seconds(call),
        "waited_at": utcnow(),
        "confirmation": None if call.status.is_final else cancel_confirmation(call),
        "is_own_page": is_own_page(call),
        "calls_again": call.status.is_final
        and _page_path() == url_for("portal.calls.show_test_call"),
    }


def reached_no_one(call: Call) -> bool:
    """Return whether the call is over and certainly wasn't answered."""
    is_over = call.status.is_final and call.status is not CallStatus.UNKNOWN
    return is_over and call.answered_at is None


def is_own_page(call: Call) -> bool:
    """Return whether the request comes from the page of the call, itself or a part of it."""
    return _page_path() == url_for("portal.calls.show_call", call_id=call.id)


def _page_path() -> str:
    """Return the path of the page that shows the call."""
    return urlsplit(request.headers.get("HX-Current-URL", request.path)).path


def cancel_confirmation(call: Call) -> ConfirmationPage:
    """Return the confirmation of cancelling a waiting call, or of ending an active one."""
    number, ends = phone(call.phone_number), call.status not in WAITING
    return ConfirmationPage(
        action=url_for("portal.calls.cancel_call", call_id=call.id),
        title=gettext("End the call to %(number)s?", number=number)
        if ends
        else gettext("Cancel the call to %(number)s?", number=number),
        consequences=_consequences(call),
        action_label=gettext("End call") if ends else gettext("Cancel call"),
        keep_label=gettext("Keep call"),
        keep_url=url_for("portal.calls.show_call", call_id=call.id),
    )


def _consequences(call: Call) -> list[str]:
    if call.status in WAITING:
        return [gettext("The call is not placed."), gettext("This can’t be undone.")]
    hang_up = gettext("The carrier is asked to hang up.")
    if not call.is_usage:
        return [hang_up]
    if call.answered_at is not None:
        return [hang_up, gettext("It was answered, so it counts as 1 conversation.")]
    return [hang_up, gettext("If it is answered before that, it counts as 1 conversation.")]


def _entries(
    call: Call, moments: Sequence[TimelineEntry], attempts: Sequence[CallAttempt]
) -> list[dict[str, Any]]:
    """Return the timeline: the first event with its time, the others with the seconds after it."""
    start = moments[0].at if moments else call.created_at
    each_attempt = iter(attempts)
    shows_words = not is_own_page(call)  # its messages are on the page of the call
    waits_for = None if call.status.is_final else call.status_detail  # the panel shows it above
    entries = [
        {
            "title": _title(call, moment),
            "text": _text(moment, next(each_attempt, None) if moment.kind == "dialing" else None)
            if (moment.detail is None or moment.detail != waits_for)
            and (shows_words or moment.kind not in _SPEECH_KINDS)
            else None,
            "when": _elapsed_label(start, moment.at, first=index == 0),
            "state": "done",
        }
        for index, moment in enumerate(moments)
    ]
    if not entries:
        return []
    if call.status is CallStatus.UNKNOWN:
        entries[-1]["state"] = "unknown"
    elif call.status.is_final and call.status is not CallStatus.COMPLETED:
        entries[-1]["state"] = "failed"
    elif not call.status.is_final:
        entries[-1]["state"] = "now"
        entries.append(
            {
                "title": gettext("The call ends"),
                "when": None,
                "state": "next",
            }
        )
    return entries


def _title(call: Call, moment: TimelineEntry) -> str:
    if moment.kind == "ended":
        return (
            str(ENDED_LABELS[call.ended_reason]) if call.ended_reason else pgettext("call", "Ended")
        )
    if moment.kind == "answered" and call.answered_by:
        return _answered_title(call.answered_by)
    if moment.kind == "attempt-ended":
        status = in_sentence(CALL_STATUS_LABELS[moment.status])
        return gettext("Not reached: %(status)s. Retries", status=status)
    return str(TITLES.get(moment.kind, moment.kind.replace("-", " ").capitalize()))


def _answered_title(answered_by: AnsweredBy) -> str:
    match answered_by:
        case AnsweredBy.HUMAN:
            return pgettext("call", "Answered by a person")
        case AnsweredBy.VOICEMAIL:
            return pgettext("call", "Answered by voicemail")
        case AnsweredBy.UNKNOWN:
            return pgettext("call", "Answered")


def _text(moment: TimelineEntry, attempt: CallAttempt | None) -> str | None:
    if attempt is not None:
        reference = attempt.carrier_reference
        if not reference:
            return gettext("Attempt %(number)s", number=attempt.number)
        return gettext(
            "Attempt %(number)s, carrier reference %(reference)s",
            number=attempt.number,
            reference=f"{reference[:4]}{_WORD_JOINER}…{_WORD_JOINER}{reference[-4:]}",
        )
    if moment.kind == "answered":
        return None
    if moment.kind == "scheduled" and moment.detail:
        try:
            until = long_datetime(datetime.fromisoformat(moment.detail), zone())
        except ValueError:
            return None
        return gettext("Until %(moment)s", moment=until)
    text = moment.detail if moment.kind in _SPEECH_KINDS else stored_message(moment.detail)
    # The title of an end repeats it.
    title = gettext("The carrier could not say whether the call was placed.")
    return None if moment.kind == "ended" and text == title else text


def _elapsed_label(start: datetime, moment: datetime, *, first: bool) -> str:
    if first:
        return f"{moment.astimezone(ZoneInfo(zone())):%H:%M:%S}"
    seconds = max(0.0, (moment - start).total_seconds())  # the clocks of machines differ
    return (
        f"+{localize_number(seconds, 1)}{NO_BREAK}s"
        if seconds < 90
        else f"+{duration(round(seconds))}"
    )


def _conversation_seconds(call: Call) -> int:
    """Return the duration of the conversation so far."""
    if call.answered_at is None:
        return 0
    return round(((call.ended_at or utcnow()) - call.answered_at).total_seconds())
