"""The area's blueprint: its tokens, and words that can't be external ids."""

from collections.abc import Iterator
from contextlib import contextmanager

from flask import Request
from flask.blueprints import BlueprintSetupState
from sqlalchemy.orm import Session
from werkzeug.routing import BaseConverter

from app.api.operation import AreaDescription, area_blueprint, bearer_token
from app.enums import Area
from app.errors import NotFound, ValidationFailed
from app.extensions import settings
from app.http.request_id import request_id
from app.policy.caller import Caller
from app.services.credentials import tokens

DESCRIPTION = AreaDescription(
    tag="Partner API",
    text="Partners, organizations, users, pricing, subscription, usage and report. Bearer token.",
    scheme_name="bearerToken",
    scheme=lambda token_url: {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": f"An access token of {token_url}, for the Partner API; it lives one hour.",
    },
    contract=frozenset({400, 401, 404}),
    errors={
        401: {
            "token_missing": "No bearer token was sent.",  # nosec B105 - the meaning of a code
            "invalid_token": "The token is expired, forged, revoked or of another area.",  # nosec B105 - the meaning of a code
        },
        403: {"insufficient_scope": "The role or scope of the token is too low."},
        429: {"rate_limited": "Too many requests with this credential; see Retry-After."},
    },
    unreadable={"bad_request": "The request can't be read."},
    names_roles=True,
)


class ExternalIdConverter(BaseConverter):
    """Any text except the names of operations under /users, which have methods of their own."""

    regex = r"(?!(?:usage|subscription|partial)\Z)[^/]+"
    part_isolating = True


def _authenticate(session: Session, http_request: Request) -> Caller:
    return tokens.caller_from_bearer(
        session,
        bearer_token(http_request),
        Area.PARTNER_ADMIN,
        settings=settings(),
        ip=http_request.remote_addr,
        request_id=request_id(),
    )


blueprint = area_blueprint("partner_admin", DESCRIPTION, _authenticate, "/api")


@blueprint.record_once
def _register_id_converter(state: BlueprintSetupState) -> None:
    state.app.url_map.converters["external_id"] = ExternalIdConverter


@contextmanager
def unknown_is_bad_request() -> Iterator[None]:
    """For operations without a documented 404: an unknown record is a problem of the request."""
    try:
        yield
    except NotFound as error:
        raise ValidationFailed(error.message, error.code) from error
