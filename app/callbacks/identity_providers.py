"""Back-channel logout: an identity provider ends sessions, signed by a logout token.

Every refused token gets 400, without the reason.
"""

import logging
from collections.abc import Mapping
from typing import cast
from uuid import UUID

from flask import Blueprint, Response, current_app, request
from flask.typing import ResponseReturnValue

from app.database.scope import AUTHENTICATION, of_tenant
from app.errors import NotFound, RateLimited
from app.extensions import settings, transaction
from app.gateways import openid
from app.http.rate_limit import TokenBuckets
from app.services.identity_providers import requests, sign_outs, tokens

MAX_FORM_BYTES = 64 * 1024

log = logging.getLogger(__name__)

blueprint = Blueprint("identity_providers", __name__, url_prefix="/sso")


@blueprint.post("/<uuid:provider_id>/logout")
def end_sessions(provider_id: UUID) -> ResponseReturnValue:
    """End the sessions of the token's subject or session (OpenID Connect Back-Channel Logout)."""
    request.max_content_length = request.max_form_memory_size = MAX_FORM_BYTES
    try:
        _count_request()
    except RateLimited as error:
        return _answer(429, {"Retry-After": str(error.retry_after)})
    with transaction(read_only=True, scope=AUTHENTICATION) as session:
        provider = requests.of_any(session, provider_id)
    if provider is None:
        raise NotFound
    expected = {"issuer": provider.issuer, "client_id": provider.client_id}
    token, private = request.form.get("logout_token", ""), settings().webhook_allow_private
    try:
        endpoints = openid.discover(provider.issuer, allow_private=private)
        claims = tokens.with_current_keys(
            endpoints,
            lambda keys: tokens.check_sign_out_token(token, keys, **expected),
            allow_private=private,
        )
        with transaction(scope=of_tenant(provider.partner_id, None)) as session:
            sign_outs.end_sessions(session, provider, claims)
    except tokens.TokenRefused as error:
        log.warning("a logout token of provider %s was refused: %s", provider_id, error.reason)
        return _answer(400)
    except openid.ProviderFailed as error:
        log.warning("the identity provider %s can't be used: %s", provider_id, error)
        return _answer(400)
    return _answer(200)


def _count_request() -> None:
    """Count the request of the address, at the rate of pages. Raises `RateLimited`."""
    buckets = cast(TokenBuckets, current_app.extensions["page_rate_limit"])
    buckets.take(("logout", request.remote_addr))


def _answer(status: int, headers: Mapping[str, str] | None = None) -> Response:
    return Response(status=status, headers={"Cache-Control": "no-store", **(headers or {})})
