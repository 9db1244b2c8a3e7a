"""The area's blueprint: the header x-api-key authenticates."""

from flask import Request
from sqlalchemy.orm import Session

from app.api.operation import AreaDescription, area_blueprint
from app.http.request_id import request_id
from app.policy.caller import Caller
from app.services.audit.refusals import Refusal
from app.services.credentials import api_keys

DESCRIPTION = AreaDescription(
    tag="Campaigns API",
    text="Contacts of campaigns in bulk and single outbound calls. Header x-api-key. Contacts that "
    "a test key adds are real: a campaign that is running calls them.",
    scheme_name="apiKey",
    scheme=lambda _token_url: {
        "type": "apiKey",
        "in": "header",
        "name": "x-api-key",
        "description": "A key of the organization, made in the portal.",
    },
    errors={
        400: {
            "unknown_parameter": "There is no query parameter of this name; the nearest is named.",
            "validation_failed": "Several things need changing; details.errors names each.",
        },
        401: {"invalid_api_key": "The header x-api-key is missing or its key does not count."},
        403: {
            "insufficient_scope": "The key lacks the scope for this operation.",
            "organization_suspended": "The organization is suspended.",
        },
        429: {"rate_limited": "Too many requests with this key; see Retry-After."},
    },
)


def _authenticate(session: Session, http_request: Request) -> Caller:
    return api_keys.caller_from_key(
        session,
        http_request.headers.get("x-api-key"),
        ip=http_request.remote_addr,
        request_id=request_id(),
    )


def _find_refusal(session: Session, http_request: Request) -> Refusal | None:
    secret = http_request.headers.get("x-api-key")
    return api_keys.refusal_of_ended_key(session, secret, http_request.remote_addr)


blueprint = area_blueprint(
    "public",
    DESCRIPTION,
    _authenticate,
    "/api/v1",
    find_refusal=_find_refusal,
    refuses_unknown_parameters=True,
)
