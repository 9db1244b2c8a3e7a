"""The area's blueprint: its tokens, and the words that stand where an external id could."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flask import Request
from sqlalchemy.orm import Session
from werkzeug.exceptions import MethodNotAllowed

from app.api.bearer import bearer_token
from app.api.operation import area_blueprint
from app.caller import Caller
from app.enums import Area
from app.errors import NotFound, ValidationFailed
from app.extensions import settings
from app.request_id import request_id
from app.services import tokens

_READ, _WRITE = ["GET", "HEAD", "OPTIONS"], ["OPTIONS", "POST"]
_OTHER_METHODS = {"usage": _READ, "subscription": _READ, "partial": _WRITE}
"""Paths under /users of operations that don't answer PUT: there these words are no ids."""


def _authenticate(session: Session, asked: Request) -> Caller:
    return tokens.caller_from_bearer(
        session,
        bearer_token(asked),
        Area.PARTNER_ADMIN,
        settings=settings(),
        ip=asked.remote_addr,
        request_id=request_id(),
    )


blueprint = area_blueprint("partner_admin", Area.PARTNER_ADMIN, _authenticate, "/api")


@blueprint.url_value_preprocessor
def _keep_words_from_being_ids(endpoint: str | None, values: dict[str, Any] | None) -> None:
    word = (values or {}).get("external_user_id")
    if endpoint == "partner_admin.update_user" and word in _OTHER_METHODS:
        raise MethodNotAllowed(valid_methods=_OTHER_METHODS[word])


@contextmanager
def unknown_is_bad_request() -> Iterator[None]:
    """For operations without a listed 404: what is unknown is a problem of the request."""
    try:
        yield
    except NotFound as error:
        raise ValidationFailed(error.message, error.code) from error
