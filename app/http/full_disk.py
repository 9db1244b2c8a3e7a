"""Large bodies are refused before they are read while a disk is almost full.

Forms and small requests are still accepted, so that users can delete data.
"""

from flask import Flask, request

from app.disk_space import shortage
from app.errors import NoRoom
from app.extensions import settings
from app.languages import gettext

SMALL_BYTES = 64 * 1024
RETRY_SECONDS = 60


def refuse_without_space(app: Flask) -> None:
    """Answer 503 to a body that would leave less than the reserve free."""

    @app.before_request
    def _refuse() -> None:
        size = request.content_length
        if size is None and "Transfer-Encoding" not in request.headers:
            return
        if size is not None and not SMALL_BYTES < size <= settings().max_upload_bytes:
            return  # the limit of bodies refuses larger ones
        if shortage(settings(), size or 0):
            message = gettext("There is no room for this file now. Try again later.")
            raise NoRoom(message, retry_after=RETRY_SECONDS)
