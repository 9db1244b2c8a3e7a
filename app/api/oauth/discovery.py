"""Metadata and public keys for clients and resource servers."""

from flask import Response

from app.api.oauth.blueprint import blueprint
from app.api.oauth.server import AUTH_METHODS, SCOPES_SUPPORTED
from app.api.operation import operation, respond
from app.extensions import settings, transaction
from app.schemas.base import Wire
from app.schemas.oauth import KeySet, PublicKey, ServerMetadata
from app.services.credentials import signing_keys

FRESH = "public, max-age=300"


@blueprint.get("/.well-known/oauth-authorization-server")
@operation(
    summary="Read the authorization server's metadata",
    description="RFC 8414.",
    output=ServerMetadata,
    added=True,
)
def metadata() -> Response:
    addresses = settings().addresses
    return _cacheable_response(
        ServerMetadata(
            issuer=addresses.auth,
            token_endpoint=f"{addresses.auth}/oauth2/token",
            revocation_endpoint=f"{addresses.auth}/oauth2/revoke",
            jwks_uri=f"{addresses.auth}/.well-known/jwks.json",
            scopes_supported=SCOPES_SUPPORTED,
            # Required and never empty (section 2), though there is no authorization endpoint.
            response_types_supported=["none"],
            grant_types_supported=["client_credentials"],
            token_endpoint_auth_methods_supported=AUTH_METHODS,
            revocation_endpoint_auth_methods_supported=AUTH_METHODS,
            service_documentation=f"{addresses.base}/api/docs",
        )
    )


@blueprint.get("/.well-known/jwks.json")
@operation(
    summary="Read the public keys that tokens are signed with",
    description="RFC 7517. Keys are replaced every 90 days; read them again for an unknown kid.",
    output=KeySet,
    added=True,
)
def key_set() -> Response:
    with transaction(read_only=True) as session:
        published = signing_keys.published(session)
    return _cacheable_response(KeySet(keys=[PublicKey(**key) for key in published]))


def _cacheable_response(answer: Wire) -> Response:
    response = respond(answer)
    response.headers["Cache-Control"] = FRESH
    return response
