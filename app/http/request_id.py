"""One id for each request: in log lines, error bodies and in the header ``X-Request-Id``.

An id that a client sends is never taken over: it would let one caller write into another's trail.
"""

import secrets

from flask import Flask, Response, g

HEADER = "X-Request-Id"


def new_request_id() -> str:
    """``req_`` and 22 URL-safe characters (128 random bits)."""
    return f"req_{secrets.token_urlsafe(16)}"


def request_id() -> str:
    if "request_id" not in g:
        g.request_id = new_request_id()
    return str(g.request_id)


def give_request_ids(app: Flask) -> None:
    """Every answer of the application carries its request's id."""

    @app.after_request
    def _name_the_request(response: Response) -> Response:
        response.headers[HEADER] = request_id()
        return response
