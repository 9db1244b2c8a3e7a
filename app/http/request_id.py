"""One id for each request: in log lines, error bodies and the header ``X-Request-Id``.

Ids sent by clients are ignored: one caller could write into the trail of another.
"""

import secrets

from flask import Flask, Response, g

HEADER = "X-Request-Id"


def new_request_id() -> str:
    """Return ``req_`` and 22 URL-safe characters (128 random bits)."""
    return f"req_{secrets.token_urlsafe(16)}"


def request_id() -> str:
    if "request_id" not in g:
        g.request_id = new_request_id()
    return str(g.request_id)


def give_request_ids(app: Flask) -> None:
    """Add the request's id to every response of the application."""

    @app.after_request
    def _name_the_request(response: Response) -> Response:
        response.headers[HEADER] = request_id()
        return response
