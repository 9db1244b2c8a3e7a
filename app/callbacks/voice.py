"""Reports of an assistant's voice engine about a call: transcript, summary, recording.

Each report is signed with the assistant's secret. Requests without a fresh, genuine signature get
403, also for an unknown call id. Installations without a voice secret don't have this route.
"""

import json
from datetime import UTC, datetime
from typing import NoReturn
from uuid import UUID

from flask import Blueprint, request
from flask.typing import ResponseReturnValue

from app.callbacks.refusals import answer_in_json
from app.database.scope import INSTALLATION
from app.errors import Forbidden, NotFound, ValidationFailed
from app.extensions import settings, transaction
from app.models import utcnow
from app.schemas.parsing import read
from app.schemas.voice import VoiceReport
from app.services.recordings import is_genuine, reports, secret_of, writing

MAX_BODY_BYTES = 1024 * 1024
HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")

blueprint = Blueprint("voice", __name__, url_prefix="/callbacks/voice")
answer_in_json(blueprint)


@blueprint.post("/<uuid:call_id>")
def report(call_id: UUID) -> ResponseReturnValue:
    """Accept a report. One that came before, or is older than the last, changes nothing."""
    request.max_content_length = MAX_BODY_BYTES
    voice_secret = settings().voice_secret
    if not voice_secret:
        message = "This installation takes no reports of voice engines."
        raise NotFound(message, "not_found")
    body = request.get_data().decode("utf-8", "replace")
    with transaction(read_only=True, scope=INSTALLATION) as session:
        assistant_id = reports.assistant_of(session, call_id)
    signed = {name: request.headers.get(name, "") for name in HEADERS}
    secret = secret_of(voice_secret, assistant_id or call_id)
    if not is_genuine(secret, signed, body, utcnow()) or assistant_id is None:
        message = "The signature is not that of the call's assistant, or older than 5 minutes."
        raise Forbidden(message, "bad_signature")
    voice_report = read(VoiceReport, _parse_body(body))
    sent_at = datetime.fromtimestamp(int(signed["webhook-timestamp"]), UTC)
    with transaction(scope=INSTALLATION) as session:
        is_new = reports.accept_report(
            session, call_id, voice_report, signed["webhook-id"], sent_at
        )
        if is_new and voice_report.transcript and settings().summaries:
            writing.enqueue_writing(session, call_id, f"report:{signed['webhook-id']}")
    return "", 204


def _parse_body(body: str) -> object:
    try:
        return json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        message = "The body is not valid JSON."
        raise ValidationFailed(message, "invalid_json") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)
