"""The recording of a call, played on its page from our own origin."""

from uuid import UUID

from flask import request
from werkzeug.wrappers import Response

from app.errors import NotFound
from app.extensions import caller, transaction
from app.languages import gettext
from app.portal.web.blueprint import portal
from app.portal.web.stored_files import send_stored
from app.services import recordings


@portal.get("/calls/<uuid:call_id>/recording")
def call_recording(call_id: UUID) -> Response:
    """Send the recording, or the part that a player asks for."""
    with transaction(read_only=True) as session:
        found = recordings.file_of(session, caller(), call_id)
    content_type = found.content_type or "application/octet-stream"
    name = f"call-{call_id}.{recordings.extension_of(found.content_type or '')}"
    try:
        return send_stored(found.file_key, content_type, name, is_saved="download" in request.args)
    except FileNotFoundError:
        message = gettext("There is no recording of this call.")
        raise NotFound(message, "recording_not_found") from None
