"""The area's blueprint: its tokens, and the headers that announce its end."""

from datetime import UTC
from email.utils import format_datetime

from flask import Request, Response, g, request
from sqlalchemy.orm import Session

from app.api.legacy_calls import shadow
from app.api.operation import AreaDescription, area_blueprint, bearer_token
from app.extensions import settings
from app.http.request_id import request_id
from app.policy import Permission
from app.policy.caller import Caller
from app.services.legacy import calls as legacy_calls

PREFIX = "/phone"
DESCRIPTION = AreaDescription(
    tag="Legacy API",
    text="Single calls. Retired; use POST /api/v1/outbound/call of the Campaigns API.",
    scheme_name="callToken",
    scheme=lambda token_url: {
        "type": "oauth2",
        "description": "An access token for the Legacy API; its client is issued by support.",
        "flows": {
            "clientCredentials": {
                "tokenUrl": token_url,
                "scopes": {Permission.LEGACY_CALL.value: "Place calls"},
            }
        },
    },
    scopes=(Permission.LEGACY_CALL.value,),
    contract=frozenset({403, 404}),
    errors={
        403: {
            "token_missing": "No access token was sent.",  # nosec B105 - the meaning of a code
            "invalid_token": "The token is expired, forged, revoked or of another area.",  # nosec B105 - the meaning of a code
        },
        429: {"rate_limited": "Too many requests with this credential; see Retry-After."},
    },
)


def _authenticate(session: Session, http_request: Request) -> Caller:
    terms = legacy_calls.recognise(
        session,
        bearer_token(http_request),
        settings=settings(),
        ip=http_request.remote_addr,
        request_id=request_id(),
    )
    g.legacy_terms = terms
    terms.require_service()
    return terms.caller


blueprint = area_blueprint("legacy_calls", DESCRIPTION, _authenticate, PREFIX)
blueprint.after_request(shadow.store_shadow)


@blueprint.after_app_request
def _add_retirement_headers(response: Response) -> Response:
    """Add the headers of the retirement to every response of the area, including unknown paths (RFC
    9745, RFC 8594, RFC 5829)."""
    if request.path == PREFIX or request.path.startswith(f"{PREFIX}/"):
        portal_settings = settings()
        terms: legacy_calls.ClientTerms | None = g.get("legacy_terms")
        sunset = terms.served_until if terms else portal_settings.legacy_retirement
        successor = portal_settings.addresses.public_api + legacy_calls.SUCCESSOR
        response.headers["Deprecation"] = f"@{int(portal_settings.legacy_deprecated.timestamp())}"
        response.headers["Sunset"] = format_datetime(sunset.astimezone(UTC), usegmt=True)
        response.headers.add("Link", f'<{successor}>; rel="successor-version"')
    return response
