"""Shared by the screens that send a browser to an identity provider and handle its answer."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from flask import request, url_for
from flask import session as browser_session

from app.database.scope import of_tenant
from app.extensions import settings, transaction
from app.gateways import openid
from app.models import IdentityProvider, Partner
from app.services.auth import sessions, sign_in
from app.services.identity_providers import requests, tokens
from app.services.identity_providers.providers import secret_of
from app.services.identity_providers.requests import RedeemedRequest, StartedRequest

BROWSER_KEY = "company_account"
"""The cookie's key for the token of the browser's last request."""


class AnswerRefused(Exception):
    """The provider's answer doesn't belong to our request; ``reason`` is a word for the log."""

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class VerifiedAnswer:
    """An answer whose tokens were checked."""

    redeemed_request: RedeemedRequest
    claims: dict[str, Any]

    def origin(self, provider_id: UUID) -> sessions.SessionOrigin:
        sid = self.claims.get("sid", "")
        sid_hash = sessions.hash_of(sid) if tokens.is_subject(sid) else None
        return sessions.SessionOrigin(provider_id, sid_hash, tokens.signed_in_at(self.claims))


def redirect_uri_of(partner: Partner, provider_id: UUID, host: str) -> str:
    """Return the URL to which the provider sends the browser back: at the host of the partner's
    verified domain if the browser is there, else at the installation's."""
    origin = settings().public_url.rstrip("/")
    if partner.domain_verified_at is not None and sessions.host_name(host) == partner.domain_key:
        origin = f"https://{partner.domain_key}"
    path = url_for(
        "portal.auth.complete_company_sign_in", slug=partner.slug, provider_id=provider_id
    )
    return origin + path


def begin_sign_in_at_provider(
    partner: Partner,
    provider: IdentityProvider,
    *,
    next_path: str = "/",
    user_id: UUID | None = None,
    needs_fresh_sign_in: bool = False,
) -> str:
    """Store a request and return the URL of the provider for this browser. With
    ``needs_fresh_sign_in`` the provider shouldn't rely on its own session. Raises
    `openid.ProviderFailed`."""
    private = settings().webhook_allow_private
    endpoints = openid.discover(provider.issuer, allow_private=private)
    redirect_uri = redirect_uri_of(partner, provider.id, request.host)
    with transaction(scope=of_tenant(partner.id, None)) as session:
        started_request: StartedRequest = requests.begin(
            session,
            provider,
            redirect_uri=redirect_uri,
            next_path=next_path,
            user_id=user_id,
            needs_fresh_sign_in=needs_fresh_sign_in,
        )
    browser_session[BROWSER_KEY] = started_request.browser_token
    return requests.authorization_url(
        endpoints,
        provider.client_id,
        started_request,
        redirect_uri,
        needs_fresh_sign_in=needs_fresh_sign_in,
    )


def verify_provider_answer(partner: Partner, provider: IdentityProvider) -> VerifiedAnswer:
    """Check the provider's answer in this request. Its own request is used up in any case. Raises
    `AnswerRefused`, `tokens.TokenRefused` and `openid.ProviderFailed`."""
    state, browser_token = request.args.get("state", ""), browser_session.pop(BROWSER_KEY, "")
    with transaction(scope=of_tenant(partner.id, None)) as session:
        provider_request = requests.redeem(session, provider.id, state, browser_token)
    if provider_request is None:
        raise AnswerRefused("state")
    private = settings().webhook_allow_private
    endpoints = openid.discover(provider.issuer, allow_private=private)
    issuer = request.args.get("iss")
    if issuer != provider.issuer and (issuer is not None or endpoints.names_issuer):
        raise AnswerRefused("issuer")
    code = request.args.get("code")
    if not code or "error" in request.args:
        raise AnswerRefused("declined")
    secret = secret_of(provider, settings().secret_keys)
    if secret is None:
        raise AnswerRefused("secret")
    token = openid.exchange(
        endpoints,
        client_id=provider.client_id,
        secret=secret,
        code=code,
        verifier=provider_request.verifier,
        redirect_uri=provider_request.redirect_uri,
        allow_private=private,
    )
    expected = {
        "issuer": provider.issuer,
        "client_id": provider.client_id,
        "nonce": provider_request.nonce,
    }
    claims = tokens.with_current_keys(
        endpoints,
        lambda keys: tokens.check_id_token(token, keys, **expected),
        allow_private=private,
    )
    tokens.check_proven_since(
        claims, provider_request.proven_since, must_say=provider_request.needs_fresh_sign_in
    )
    return VerifiedAnswer(provider_request, claims)


def provider_of_page(slug: str, provider_id: UUID) -> tuple[Partner, IdentityProvider]:
    """Return the partner of the URL and its provider. Raises `NotFound`."""
    with transaction(read_only=True) as session:
        partner = sign_in.active_partner_by_slug(session, slug, request.host)
        return partner, requests.of_partner(session, partner.id, provider_id)
