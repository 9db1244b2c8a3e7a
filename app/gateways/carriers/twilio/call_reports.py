"""Read the state of a call from Twilio's responses and callbacks."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from email.utils import parsedate_to_datetime
from typing import Any

from app.enums import AnsweredBy, EndedReason
from app.gateways.carriers.base import (
    CarrierEvent,
    CarrierEventKind,
    CarrierReport,
    PlacementVerdict,
)
from app.validation.texts import whole_number

_K = CarrierEventKind
_REFERENCE = re.compile(r"[A-Za-z0-9_-]{2,64}")
_ENDS = {
    "completed": EndedReason.COMPLETED,
    "busy": EndedReason.BUSY,
    "no-answer": EndedReason.NO_ANSWER,
    "failed": EndedReason.CARRIER_ERROR,
    "canceled": EndedReason.CANCELED,
}
_BEGINNINGS = frozenset({"queued", "initiated"})
_ATTESTATIONS = frozenset("ABC")
STATUSES = _BEGINNINGS | {"ringing", "in-progress", "answered"} | _ENDS.keys()
"""Every status of a call that Twilio has."""


@dataclass(frozen=True, slots=True)
class TwilioCallReport:
    """One callback: the call, its status, and since when. ``attestation`` is the level of its
    STIR/SHAKEN signature."""

    reference: str
    status: str
    answered_by: AnsweredBy | None
    seconds: int | None
    at: datetime
    attestation: str | None = None


def read_answered_by(word: str | None) -> AnsweredBy | None:
    """Return who answered, from ``AnsweredBy``; None if it isn't given."""
    if not word:
        return None
    if word == "human":
        return AnsweredBy.HUMAN
    return AnsweredBy.VOICEMAIL if word.startswith("machine") else AnsweredBy.UNKNOWN


def state_of_report(report: TwilioCallReport) -> CarrierReport:
    """Return the state of the call in a callback."""
    events = _events_of_status(
        report.status, report.answered_by, report.at, report.at, report.seconds
    )
    return CarrierReport(
        PlacementVerdict.PLACED, report.reference, events, attestation=report.attestation
    )


def state_of_call(
    call: Mapping[str, Any], now: datetime, next_change: datetime | None
) -> CarrierReport:
    """Return the state of the call in a Call resource."""
    status = str(call.get("status") or "")
    began = parse_moment(call.get("start_time")) or now
    ended = parse_moment(call.get("end_time")) or now
    answered_by = read_answered_by(call.get("answered_by"))
    events = _events_of_status(
        status, answered_by, began, ended, whole_number(str(call.get("duration")), 7)
    )
    is_over = status in _ENDS
    return CarrierReport(
        PlacementVerdict.PLACED,
        str(call["sid"]),
        events,
        None if is_over else next_change,
        cost=_positive_cost(call.get("price")),
        currency=str(call.get("price_unit") or "USD").upper(),
    )


def _events_of_status(
    status: str,
    answered_by: AnsweredBy | None,
    began: datetime,
    ended: datetime,
    seconds: int | None,
) -> list[CarrierEvent]:
    if status == "ringing":
        return [CarrierEvent(_K.RINGING, began)]
    if status in {"in-progress", "answered"}:
        return [CarrierEvent(_K.ANSWERED, began, answered_by)]
    if status not in _ENDS:
        return []
    end = CarrierEvent(_K.ENDED, ended, answered_by, _ENDS[status])
    if status == "completed" and (seconds or answered_by):
        answered_at = ended - timedelta(seconds=seconds or 0)
        return [CarrierEvent(_K.ANSWERED, answered_at, answered_by), end]
    return [end]


def parse_moment(text: object) -> datetime | None:
    """Parse a date as Twilio writes it (RFC 2822, in some answers ISO 8601); None for anything
    else."""
    if not isinstance(text, str) or not text:
        return None
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            moment = read(text)
        except ValueError:
            continue
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None


def read_report(form: Mapping[str, str], now: datetime) -> TwilioCallReport | None:
    """Parse a callback's form; None if it can't be read."""
    reference, status = form.get("CallSid", ""), form.get("CallStatus", "")
    if not _REFERENCE.fullmatch(reference) or status not in STATUSES:
        return None
    reported_at = parse_moment(form.get("Timestamp"))
    return TwilioCallReport(
        reference=reference,
        status=status,
        answered_by=read_answered_by(form.get("AnsweredBy")),
        seconds=whole_number(str(form.get("CallDuration", "")), 7),
        at=reported_at if reported_at is not None and reported_at < now else now,
        attestation=level if (level := form.get("StirStatus")) in _ATTESTATIONS else None,
    )


def _positive_cost(price: object) -> Decimal | None:
    """Return the price as a positive amount; Twilio writes it as a negative one."""
    if price is None:
        return None
    try:
        cost = abs(Decimal(str(price)))
    except InvalidOperation:
        return None
    return cost if cost.is_finite() and cost < 10**6 else None


def is_genuine(auth_token: str, url: str, form: Mapping[str, str], signature: str) -> bool:
    """Return whether the signature over the URL and the form is Twilio's; ``url`` is the one given
    to Twilio, with its query."""
    from twilio.request_validator import RequestValidator

    return bool(RequestValidator(auth_token).validate(url, form, signature))
