"""What the authorization server publishes about itself (RFC 8414, RFC 7517)."""

from app.schemas.legacy import OAuthWire


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
