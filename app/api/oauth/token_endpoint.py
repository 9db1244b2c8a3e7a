"""POST {auth_url}/oauth2/token and /oauth2/revoke."""

from collections.abc import Callable

from flask import Response, request

from app.api.oauth.blueprint import blueprint
from app.api.oauth.form import FormRequest, read_form
from app.api.oauth.server import TokenServer
from app.api.operation import operation
from app.extensions import settings, transaction
from app.schemas.oauth import RevocationRequest, Revoked, TokenRequest, TokenResponse
from app.services import oauth_clients
from app.services.auth.throttle import TooManyFailures

CLIENT_REFUSED = {
    401: {"invalid_client": "As with 400, where the client used HTTP Basic."},
    413: {"invalid_request": "The form is larger than the limit."},
    429: {"invalid_request": "Too many failed attempts; see Retry-After."},
}


@blueprint.post("/oauth2/token")
@operation(
    summary="Get an access token",
    description=(
        "Client credentials grant (RFC 6749, section 4.4). The client sends its id and secret in "
        "the form or by HTTP Basic. Without scope the token carries all that the client may do."
    ),
    form=TokenRequest,
    output=TokenResponse,
    errors=CLIENT_REFUSED
    | {
        400: {
            "invalid_client": "Unknown client, wrong secret, or not allowed tokens now.",
            "invalid_request": "The form can't be read, or lacks or repeats a parameter.",
            "invalid_scope": "The scope is more than the client may have.",
            "unsupported_grant_type": "grant_type is not client_credentials.",
        }
    },
    example={
        "grant_type": "client_credentials",
        "client_id": "YOUR_CLIENT_ID",
        "client_secret": "YOUR_CLIENT_SECRET",  # nosec B105 - an example
        "scope": "phone/call.out",
    },
)
def token() -> Response:
    return _answer(TokenServer.create_token_response)


@blueprint.post("/oauth2/revoke")
@operation(
    summary="Revoke an access token",
    description=(
        "RFC 7009. The client sends its credentials as for a token. What isn't a token, has ended, "
        "or belongs to another client is answered with 200 too, and is left as it is."
    ),
    form=RevocationRequest,
    output=Revoked,
    errors=CLIENT_REFUSED
    | {
        400: {
            "invalid_client": "Unknown client, wrong secret, or not allowed tokens now.",
            "invalid_request": "The form can't be read, or the parameter token is missing.",
        }
    },
    added=True,
)
def revoke_token() -> Response:
    return _answer(lambda server, form: server.create_endpoint_response("revocation", form))


def _answer(respond: Callable[[TokenServer, FormRequest], Response]) -> Response:
    portal_settings = settings()
    form = read_form(request, portal_settings.max_body_bytes)
    try:
        with transaction() as session:
            return respond(TokenServer(session, portal_settings, request.remote_addr), form)
    except TooManyFailures as error:
        with transaction() as session:
            oauth_clients.record_too_many(
                session, form.credentials.client_id, request.remote_addr, error.counter
            )
        raise
