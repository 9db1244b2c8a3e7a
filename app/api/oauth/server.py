"""Authlib's authorization server over our services: client credentials and revocation."""

from collections.abc import Sequence
from typing import Any

import orjson
from authlib.oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import (
    ClientCredentialsGrant,
    InvalidClientError,
    InvalidRequestError,
    UnsupportedGrantTypeError,
)
from authlib.oauth2.rfc6750 import BearerTokenGenerator
from authlib.oauth2.rfc7009 import RevocationEndpoint
from flask import Response
from sqlalchemy.orm import Session

from app.api.oauth.form import FormRequest
from app.config import Settings
from app.models import OAuthClient
from app.policy import ROLE_PERMISSIONS, Permission
from app.services import oauth_clients
from app.services.auth import attempt_limits, throttle
from app.services.credentials import tokens

AUTH_METHODS = ["client_secret_basic", "client_secret_post"]
SCOPES_SUPPORTED = sorted({Permission.LEGACY_CALL}.union(*ROLE_PERMISSIONS.values()))


class Client:
    """The client as Authlib expects it after authentication."""

    def __init__(self, stored: OAuthClient):
        self.stored = stored

    def get_client_id(self) -> str:
        return self.stored.client_id

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type == ClientCredentialsGrant.GRANT_TYPE

    def get_allowed_scope(self, scope: str | None) -> str | None:
        return tokens.allowed_scope(self.stored, scope)


class UnsupportedGrant(UnsupportedGrantTypeError):
    """Replaces Authlib's own error, which would repeat the client's text, whatever it contains."""

    def __init__(self, error: str, description: str):
        super().__init__(None)
        self.error = error
        self.description = description

    def get_error_description(self) -> str:
        return self.description


class UnprovenClient(InvalidClientError):
    """Replaces Authlib's own challenge, which lacks the realm that RFC 7617 requires."""

    def get_headers(self) -> list[tuple[str, str]]:
        headers = [pair for pair in super().get_headers() if pair[0] != "WWW-Authenticate"]
        if self.status_code == 401:
            headers.append(("WWW-Authenticate", 'Basic realm="token endpoint", charset="UTF-8"'))
        return headers


class Grant(ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = AUTH_METHODS


class Revocation(RevocationEndpoint):
    """RFC 7009. The hint is ignored, as section 2.1 allows: there is one kind of token. A token of
    another client stays valid and is answered like an unknown one."""

    CLIENT_AUTH_METHODS = AUTH_METHODS
    server: "TokenServer"

    def authenticate_token(
        self, request: FormRequest, client: Client
    ) -> tokens.RevocableToken | None:
        if "token" not in request.form:
            raise InvalidRequestError("The parameter token is missing.")
        stored = tokens.look_up(self.server.session, request.form["token"], self.server.settings)
        return stored if stored and stored.client == client.stored.id else None

    def revoke_token(self, token: tokens.RevocableToken, request: FormRequest) -> None:  # noqa: ARG002 - signature of the base class
        tokens.revoke(self.server.session, token)


class TokenServer(AuthorizationServer):
    """Answers one request within one transaction. Errors are responses, not exceptions, so that a
    failed attempt is counted; only `RateLimited` is raised."""

    def __init__(self, session: Session, settings: Settings, ip: str | None):
        super().__init__(scopes_supported=SCOPES_SUPPORTED)
        self.session = session
        self.settings = settings
        self._ip = ip
        self.register_grant(Grant)
        self.register_endpoint(Revocation)
        self.register_token_generator("default", self._issue)

    def authenticate_client(
        self,
        request: FormRequest,
        methods: Sequence[str],  # noqa: ARG002 - signature of the base class
        endpoint: str = "token",  # noqa: ARG002 - signature of the base class
    ) -> Client:
        """Return the authenticated client. 401 only if HTTP Basic was used, otherwise 400.

        The attempt is counted before the secret is checked, as `throttle.charge` says. Failures of
        others in the network delay only wrong secrets.
        """
        credentials = request.credentials
        limits = attempt_limits.of_client(self.settings, credentials.client_id, self._ip)
        throttle.charge(self.session, limits.individual)
        client = oauth_clients.authenticate(self.session, credentials.client_id, credentials.secret)
        if client is None:
            throttle.charge(self.session, limits.shared)
            oauth_clients.record_refusal(
                self.session, credentials.client_id, credentials.secret, self._ip
            )
            message = "The client is unknown, its secret is wrong, or it may not have tokens now."
            raise UnprovenClient(message, status_code=401 if credentials.basic else 400)
        throttle.reset_after_success(self.session, limits.individual)
        authenticated = Client(client)
        request.client = authenticated
        return authenticated

    def get_token_grant(self, request: FormRequest) -> Grant:
        if request.payload.grant_type is None:
            raise UnsupportedGrant("invalid_request", "The parameter grant_type is missing.")
        if request.payload.grant_type != Grant.GRANT_TYPE:
            message = "Tokens are issued for grant_type=client_credentials only."
            raise UnsupportedGrant("unsupported_grant_type", message)
        return Grant(request, self)

    def create_oauth2_request(self, request: FormRequest) -> FormRequest:
        return request

    def save_token(self, token: dict[str, Any], request: FormRequest) -> None:
        """Tokens are not stored; only revoked ones are."""

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Authlib's signals are not used."""

    def handle_response(
        self, status: int, body: dict[str, Any], headers: list[tuple[str, str]]
    ) -> Response:
        return Response(orjson.dumps(body), status, headers=headers)

    def _issue(self, *, client: Client, scope: str | None, **_: Any) -> dict[str, Any]:
        allowed = BearerTokenGenerator.get_allowed_scope(client, scope)
        issued = tokens.issue(self.session, client.stored, allowed, self.settings)
        return {
            "access_token": issued.access_token,
            "token_type": "Bearer",  # nosec B105 - the kind of token
            "expires_in": issued.expires_in,
            "scope": issued.scope,
        }
