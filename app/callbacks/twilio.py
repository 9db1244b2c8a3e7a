"""Twilio's callbacks, at the URLs that each call is given.

Requests without a genuine signature and the account's own id get 403; unreadable ones get 400.
"""

import re
from uuid import UUID

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue

from app.database.scope import INSTALLATION
from app.enums import CarrierKind
from app.errors import DomainError, Forbidden, NotFound, ValidationFailed
from app.extensions import settings, transaction
from app.gateways.carriers.twilio.call_reports import (
    TwilioCallReport,
    is_genuine,
    read_report,
    state_of_report,
)
from app.gateways.carriers.twilio.twiml import hang_up, say
from app.http.statuses import status_of
from app.models import utcnow
from app.services import carrier_accounts
from app.services.calls import carrier_reports
from app.services.recordings import announce

MAX_FORM_BYTES = 64 * 1024
_RECORDING = re.compile(r"RE[A-Za-z0-9]{2,62}")

blueprint = Blueprint("twilio", __name__, url_prefix="/carrier/twilio")


@blueprint.before_request
def _only_twilio() -> None:
    request.max_content_length = request.max_form_memory_size = MAX_FORM_BYTES
    config = settings()
    sid, token = _account_of_attempt()
    if not token:
        raise NotFound
    query = request.query_string.decode("ascii", "replace")
    url = f"{config.public_url.rstrip('/')}{request.path}?{query}".rstrip("?")
    signature = request.headers.get("X-Twilio-Signature", "")
    if not is_genuine(token, url, request.form, signature):
        message = "The signature is not Twilio's."
        raise Forbidden(message, "bad_signature")
    if request.form.get("AccountSid") != sid:
        message = "The callback is from a different account."
        raise Forbidden(message, "other_account")


def _account_of_attempt() -> tuple[str, str]:
    """Return SID and token of the account that placed the attempt."""
    config = settings()
    try:
        attempt_id = UUID(request.args.get("attempt", ""))
    except ValueError:
        return config.twilio_account_sid, config.twilio_auth_token
    with transaction(read_only=True, scope=INSTALLATION) as session:
        account = carrier_accounts.of_attempt(session, config.secret_keys, attempt_id)
    if account is not None:
        return account.sid, account.secret if account.kind is CarrierKind.TWILIO else ""
    return config.twilio_account_sid, config.twilio_auth_token


@blueprint.errorhandler(DomainError)
def _handle_domain_error(error: DomainError) -> ResponseReturnValue:
    return Response(error.message, status_of(error), mimetype="text/plain")


@blueprint.post("/status")
def status() -> ResponseReturnValue:
    """Accept the status of a call."""
    attempt_id, report = _read_callback({})
    with transaction(scope=INSTALLATION) as session:
        carrier_reports.accept_report(
            session, CarrierKind.TWILIO, attempt_id, state_of_report(report)
        )
    return "", 204


@blueprint.post("/answer")
def answer() -> ResponseReturnValue:
    """Return the message for the person or voicemail that answered."""
    attempt_id, report = _read_callback({"CallStatus": "in-progress"})
    with transaction(scope=INSTALLATION) as session:
        speech = carrier_reports.record_answer(
            session,
            CarrierKind.TWILIO,
            attempt_id,
            report.reference,
            report.answered_by,
            settings().secret_keys,
        )
    if speech is None:
        return Response(hang_up(), mimetype="text/xml")
    call_id = speech.call_id if settings().voice_secret else None
    return Response(say(speech.text, speech.hand_over_to, call_id), mimetype="text/xml")


@blueprint.post("/recording")
def recording() -> ResponseReturnValue:
    """Accept a recording that Twilio has made of a call; the worker fetches it."""
    attempt_id, report = _read_callback({"CallStatus": "completed"})
    reference = request.form.get("RecordingSid", "")
    if _RECORDING.fullmatch(reference) is None:
        message = "The callback can't be read."
        raise ValidationFailed(message, "bad_request")
    if request.form.get("RecordingStatus") == "completed":
        with transaction(scope=INSTALLATION) as session:
            announce(session, attempt_id, report.reference, reference)
    return "", 204


def _read_callback(implied: dict[str, str]) -> tuple[UUID, TwilioCallReport]:
    report = read_report(implied | request.form.to_dict(), utcnow())
    try:
        attempt_id = UUID(request.args.get("attempt", ""))
    except ValueError:
        report = None
    if report is None:
        message = "The callback can't be read."
        raise ValidationFailed(message, "bad_request")
    return attempt_id, report
