"""The recording of a call, played on its page from our own origin."""

from uuid import UUID

from flask import request, send_file
from werkzeug.wrappers import Response

from app.errors import NotFound
from app.extensions import caller, files, transaction
from app.languages import gettext
from app.portal.web.blueprint import portal
from app.services import recordings


@portal.get("/calls/<uuid:call_id>/recording")
def call_recording(call_id: UUID) -> Response:
    """Send the recording, or the part that a player asks for. It isn't kept by caches."""
    with transaction(read_only=True) as session:
        found = recordings.file_of(session, caller(), call_id)
    try:
        path = files().path(found.file_key)
    except FileNotFoundError:
        message = gettext("There is no recording of this call.")
        raise NotFound(message, "recording_not_found") from None
    name = f"call-{call_id}.{recordings.extension_of(found.content_type or '')}"
    response = send_file(
        path,
        found.content_type or "application/octet-stream",
        as_attachment="download" in request.args,
        download_name=name,
        conditional=True,
        etag=found.file_key,
        max_age=None,
    )
    response.headers["Cache-Control"] = "private, no-store"
    return response
