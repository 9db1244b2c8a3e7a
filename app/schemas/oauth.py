"""The token endpoint, and what the authorization server publishes about itself (RFC 6749, 7009,
7517, 8414)."""

from typing import Annotated

from pydantic import ConfigDict, Field

from app.schemas.base import Wire
from app.schemas.checks import Omittable
from app.schemas.fields import Short


class OAuthWire(Wire):
    """Names of OAuth 2.0 are in snake_case on the wire too."""

    model_config = ConfigDict(alias_generator=None)


class TokenRequest(OAuthWire):
    """The form of a client-credentials request (RFC 6749, section 4.4)."""

    grant_type: Annotated[str, Field(json_schema_extra={"enum": ["client_credentials"]})]
    client_id: Omittable[Short] = None
    client_secret: Omittable[Short] = None
    scope: Omittable[str] = None


class RevocationRequest(OAuthWire):
    """The form of a revocation (RFC 7009, section 2.1)."""

    token: Annotated[str, Field(min_length=1)]
    token_type_hint: Omittable[str] = None
    client_id: Omittable[Short] = None
    client_secret: Omittable[Short] = None


class TokenResponse(OAuthWire):
    """The token, how to send it and how long it lives (seconds)."""

    access_token: str
    token_type: str
    expires_in: int
    scope: str


class Revoked(OAuthWire):
    """An empty object: the status says it all (RFC 7009, section 2.2)."""


class TokenError(OAuthWire):
    """The error of the token endpoint (RFC 6749, section 5.2)."""

    error: str
    error_description: str


class ServerMetadata(OAuthWire):
    issuer: str
    token_endpoint: str
    revocation_endpoint: str
    jwks_uri: str
    scopes_supported: list[str]
    response_types_supported: list[str]
    grant_types_supported: list[str]
    token_endpoint_auth_methods_supported: list[str]
    revocation_endpoint_auth_methods_supported: list[str]
    service_documentation: str


class PublicKey(OAuthWire):
    """A key that tokens are signed with: ES256, so an elliptic curve."""

    kty: str
    crv: str
    x: str
    y: str
    use: str
    alg: str
    kid: str


class KeySet(OAuthWire):
    keys: list[PublicKey]
