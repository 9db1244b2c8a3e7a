"""Names and flags of the portal's cookies: each belongs to one host and is hidden from scripts.

Over https the name begins with ``__Host-``, so browsers accept the cookie only with ``Secure`` and
without a domain, and no other host can set it.
"""

from flask import request
from werkzeug.wrappers import Response

YEAR_SECONDS = 365 * 86400


def cookie_name(name: str) -> str:
    """Return the name that a cookie has in the browser of this request."""
    return f"__Host-{name}" if request.is_secure else name


def read_cookie(name: str) -> str | None:
    return request.cookies.get(cookie_name(name))


def keep_cookie(response: Response, name: str, value: str) -> None:
    """Store a choice of this browser for a year."""
    response.set_cookie(
        cookie_name(name),
        value,
        max_age=YEAR_SECONDS,
        httponly=True,
        secure=request.is_secure,
        samesite="Lax",
    )


def remove_cookie(response: Response, name: str) -> None:
    response.delete_cookie(
        cookie_name(name), secure=request.is_secure, httponly=True, samesite="Lax"
    )
