"""What clients and resource servers read to find their way: metadata and public keys."""

from typing import Any

from flask import Response

from app.api.oauth.blueprint import blueprint
from app.api.oauth.server import AUTH_METHODS, SCOPES_SUPPORTED
from app.api.operation import operation, respond
from app.extensions import settings, transaction
from app.services import signing_keys

FRESH = "public, max-age=300"


@blueprint.get("/.well-known/oauth-authorization-server")
@operation(summary="Metadata of the authorization server (RFC 8414)", output=None, added=True)
def metadata() -> Response:
    issuer = settings().addresses.auth
    return _fresh(
        {
            "issuer": issuer,
            "token_endpoint": f"{issuer}/oauth2/token",
            "revocation_endpoint": f"{issuer}/oauth2/revoke",
            "jwks_uri": f"{issuer}/.well-known/jwks.json",
            "scopes_supported": SCOPES_SUPPORTED,
            "response_types_supported": [],
            "grant_types_supported": ["client_credentials"],
            "token_endpoint_auth_methods_supported": AUTH_METHODS,
            "revocation_endpoint_auth_methods_supported": AUTH_METHODS,
            "service_documentation": f"{settings().addresses.base}/api/docs",
        }
    )


@blueprint.get("/.well-known/jwks.json")
@operation(summary="Public keys that tokens are signed with (RFC 7517)", output=None, added=True)
def key_set() -> Response:
    with transaction(read_only=True) as session:
        published = signing_keys.published(session)
    return _fresh(published)


def _fresh(value: dict[str, Any]) -> Response:
    response = respond(value)
    response.headers["Cache-Control"] = FRESH
    return response
