"""The rate of page requests of a user, or of an IP address without a user."""

from typing import cast

from flask import current_app, g, request

from app.http.rate_limit import TokenBuckets
from app.languages import gettext
from app.portal.web.current_user import known_user


def count_request() -> None:
    """Count the current request. Raises `RateLimited`."""
    user = known_user()
    key = ("user", g.caller.subject_id) if user else ("address", request.remote_addr)
    cast(TokenBuckets, current_app.extensions["page_rate_limit"]).take(key)


def too_many(rate: float, seconds: int) -> str:
    """Return why a page is refused."""
    return gettext(
        "More than %(rate)s pages per second were requested. Wait %(wait)s s and try again.",
        rate=f"{rate:g}",
        wait=seconds,
    )
