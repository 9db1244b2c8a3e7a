"""Answers to what the standard doesn't allow, without the library of its resources."""

import orjson
from flask import Response, g

from app.api.errors import SCIM_MEDIA, scim_error

MEDIA = (SCIM_MEDIA, "application/json")


def not_scim(detail: str, status: int, scim_type: str | None = None) -> Response:
    """Return an error body of RFC 7644, section 3.12."""
    g.error_code = scim_type or "refused"
    body = orjson.dumps(scim_error(status, detail, scim_type))
    response = Response(body, status, mimetype=SCIM_MEDIA)
    response.headers["Cache-Control"] = "no-store"
    return response
