"""Users see their own last changes even if pages read from a replica.

After a write the browser keeps the position of the primary's log for as long as a replica may lag.
A forged one can only hide what its own sender wrote.
"""

from contextlib import suppress

from flask import Blueprint, Response, g, request
from sqlalchemy.exc import SQLAlchemyError

from app.extensions import database
from app.portal.web.cookies import cookie_name, read_cookie
from app.validation.texts import whole_number

COOKIE = "wrote_at"
MAX_DIGITS = 18


def follow(blueprint: Blueprint) -> None:
    blueprint.before_request(_load_position)
    blueprint.after_request(_store_position)


def _load_position() -> None:
    position = whole_number(read_cookie(COOKIE), MAX_DIGITS)
    if position is not None:
        g.wrote_at = position


def _store_position(response: Response) -> Response:
    replica = database().replica
    if replica is not None and g.get("has_written"):
        with suppress(SQLAlchemyError):  # the change is stored: don't answer with an error
            response.set_cookie(
                cookie_name(COOKIE),
                str(replica.position()),
                max_age=int(replica.max_seconds) + 1,
                httponly=True,
                secure=request.is_secure,
                samesite="Lax",
            )
    return response
