"""A call in words: its timeline, its attempts and its result."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from flask import url_for
from sqlalchemy.orm import Session

from app.enums import AnsweredBy, CallSource, CallStatus
from app.extensions import caller
from app.languages.dates import NO_BREAK
from app.languages.numbers import written
from app.models import Call, CallAttempt
from app.models.base import utcnow
from app.portal.web.calling_service import is_offline
from app.portal.web.confirmation import Confirmation
from app.portal.web.formats import CALL_STATUS_NAMES, phone
from app.portal.web.formats import moment as moment_words
from app.portal.web.user_timezone import zone
from app.services import calls
from app.services.calls import Moment
from app.services.calls.states import WAITING

TITLES = {
    "accepted": "Queued",
    "scheduled": "Waiting until allowed",
    "dialing": "Calling",
    "ringing": "Ringing",
    "answered": "Answered",
    "said-intro": "Intro spoken",
    "said-voicemail": "Voicemail message spoken",
    "cancel-asked": "Cancelling",
    "cancel-refused": "The carrier didn’t stop the call",
    "never-placed": "Confirmed as not placed",
    "put-off": "The carrier could not take it yet",
    "held": "Waiting: calling is paused",
    "was-unknown": "The carrier could not say whether the call was placed",
}
ENDED_WORDS = {
    "completed": "Finished after a conversation",
    "voicemail": "Finished on voicemail",
    "busy": "The line was busy",
    "no_answer": "No answer",
    "rejected": "The carrier refused the call",
    "carrier_error": "The carrier could not place the call",
    "number_invalid": "The number does not exist",
    "canceled": "Cancelled",
    "organization_suspended": "Not placed: the organization is suspended",
    "agent_inactive": "Not placed: the assistant can’t call",
    "do_not_contact": "Not placed: the person has asked not to be called",
    "consent_missing": "Not placed: no consent is recorded for the number",
    "region_not_allowed": "Not placed: the region may not be called",
    "trial_mode": "Not placed: trial mode allows verified numbers only",
    "spend_cap_reached": "Not placed: a spending limit is reached",
    "contact_ended": "Not placed: the contact's status ended it",
    "expired": "Not placed in time",
    "unknown": "The carrier could not say whether the call was placed",
}
ATTESTATION_WORDS = {
    "A": "Attestation A: number verified",
    "B": "Attestation B: customer verified",
    "C": "Attestation C: not verified",
}
"""What the carrier vouches for (STIR/SHAKEN)."""
ANSWERED_WORDS = {
    AnsweredBy.HUMAN: "A person",
    AnsweredBy.VOICEMAIL: "Voicemail",
    AnsweredBy.UNKNOWN: "Unknown",
}
ANSWERED_TITLES = {
    AnsweredBy.HUMAN: "Answered by a person",
    AnsweredBy.VOICEMAIL: "Answered by voicemail",
    AnsweredBy.UNKNOWN: "Answered",
}
SOURCE_WORDS = {
    CallSource.API: "A script, through the API",
    CallSource.LEGACY: "A script, through the legacy API",
    CallSource.TEST: "A test call",
    CallSource.CAMPAIGN: "A campaign",
    CallSource.VERIFICATION: "A verification call",
}


def live(session: Session, found: Call) -> dict[str, Any]:
    """Return the data of a call's panel, during the call and after it."""
    moments = calls.timeline(session, caller(), found.id)
    attempts = calls.attempts_of(session, [found.id])[found.id]
    return {
        "call": found,
        "over": found.status.is_final,
        "waits": found.status in WAITING or any(one.carrier_retry_at for one in attempts[-1:]),
        "entries": _entries(found, moments, attempts),
        "attempts": attempts,
        "ended": ENDED_WORDS,
        "attestations": ATTESTATION_WORDS,
        "is_offline": not found.status.is_final and is_offline(session),
        "seconds": _seconds(found),
        "waited_at": utcnow(),
        "confirmation": None if found.status.is_final else cancelling(found),
    }


def cancelling(found: Call) -> Confirmation:
    return Confirmation(
        action=url_for("portal.call_cancel", call_id=found.id),
        title=f"Cancel the call to {phone(found.phone_number)}?",
        consequences=_consequences(found),
        act="Cancel call",
        safe="Keep call",
        safe_url=url_for("portal.call", call_id=found.id),
    )


def _consequences(found: Call) -> list[str]:
    if found.status in WAITING:
        return ["The call is not placed.", "This can’t be undone."]
    words = "The carrier is asked to hang up."
    if found.answered_at is not None:
        return [words, "It was answered, so it counts as 1 conversation."]
    return [words, "If it is answered before that, it counts as 1 conversation."]


def _entries(
    found: Call, moments: Sequence[Moment], attempts: Sequence[CallAttempt]
) -> list[dict[str, Any]]:
    """Return the timeline: the first event with its time, the others with the seconds after it."""
    start = moments[0].at if moments else found.created_at
    each_attempt = iter(attempts)
    entries = [
        {
            "title": _title(found, moment),
            "text": _text(moment, next(each_attempt, None) if moment.kind == "dialing" else None),
            "when": _after(start, moment.at, first=place == 0),
            "state": "done",
        }
        for place, moment in enumerate(moments)
    ]
    if not entries:
        return []
    if found.status is CallStatus.UNKNOWN:
        entries[-1]["state"] = "unknown"
    elif found.status.is_final and found.status is not CallStatus.COMPLETED:
        entries[-1]["state"] = "failed"
    elif not found.status.is_final:
        entries[-1]["state"] = "now"
        entries.append(
            {"title": "Completed, busy, no answer or failed", "when": None, "state": "next"}
        )
    return entries


def _title(found: Call, moment: Moment) -> str:
    if moment.kind == "ended":
        return ENDED_WORDS[found.ended_reason] if found.ended_reason else "Ended"
    if moment.kind == "answered" and found.answered_by:
        return ANSWERED_TITLES[found.answered_by]
    if moment.kind == "attempt-ended":
        return f"Not reached: {CALL_STATUS_NAMES[moment.status].lower()}. Retries"
    return TITLES.get(moment.kind, moment.kind.replace("-", " ").capitalize())


def _text(moment: Moment, attempt: CallAttempt | None) -> str | None:
    if attempt is not None:
        reference = attempt.carrier_reference
        shown = f"{reference[:4]}…{reference[-4:]}" if reference else None
        own = f"Attempt {attempt.number}"
        return f"{own}, carrier reference {shown}" if shown else own
    if moment.kind == "answered":
        return None
    if moment.kind == "scheduled" and moment.detail:
        try:
            return f"Until {moment_words(datetime.fromisoformat(moment.detail), zone())}"
        except ValueError:
            return None
    return moment.detail


def _after(start: datetime, at: datetime, *, first: bool) -> str:
    if first:
        return f"{at.astimezone(ZoneInfo(zone())):%H:%M:%S}"
    seconds = (at - start).total_seconds()
    if seconds < 100:
        return f"+{written(seconds, 1)}{NO_BREAK}s"
    minutes = round(seconds / 60)
    if minutes < 100:
        return f"+{minutes}{NO_BREAK}min"
    return f"+{round(minutes / 60)}{NO_BREAK}h"


def _seconds(found: Call) -> int:
    """Return the duration of the conversation so far."""
    if found.answered_at is None:
        return 0
    return round(((found.ended_at or utcnow()) - found.answered_at).total_seconds())
