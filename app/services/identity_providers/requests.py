"""Requests to a provider: each is bound to the browser that makes it, and answered once."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode
from uuid import UUID

from authlib.oauth2.rfc7636 import create_s256_code_challenge
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.errors import NotFound
from app.gateways.openid import ProviderEndpoints
from app.models import IdentityProvider, IdentityRequest, Partner, utcnow
from app.services.auth.tokens import hash_of, random_token

LIFETIME = timedelta(minutes=10)
MAX_SESSION_AGE = timedelta(days=30)
"""Maximum age of the provider's session for a sign-in. Sending it makes the provider report when
the user signed in there (OpenID Connect Core, section 3.1.2.1); a provider may ignore it, so the
answer is checked too."""
SCOPE = "openid email profile"
MAX_PATH_LENGTH = 2000


@dataclass(frozen=True, slots=True)
class StartedRequest:
    """``browser_token`` is for the browser's cookie only: it is also the PKCE verifier."""

    state: str
    browser_token: str

    @property
    def nonce(self) -> str:
        return nonce_of(self.browser_token)


@dataclass(frozen=True, slots=True)
class RedeemedRequest:
    """A request that was answered; ``user_id`` if the answer links the account to that user. The
    user must have signed in at the provider after ``proven_since``; with ``needs_fresh_sign_in``
    the provider must say so."""

    user_id: UUID | None
    redirect_uri: str
    next_path: str
    nonce: str
    verifier: str
    proven_since: datetime
    needs_fresh_sign_in: bool


def offered_providers(session: Session, partner_id: UUID) -> list[IdentityProvider]:
    """Return the providers of the partner's sign-in page, by name."""
    query = select(IdentityProvider).where(IdentityProvider.partner_id == partner_id)
    return list(session.scalars(query.order_by(IdentityProvider.name, IdentityProvider.id)))


def of_partner(session: Session, partner_id: UUID, provider_id: UUID) -> IdentityProvider:
    """Return the partner's provider. Raises `NotFound`."""
    query = select(IdentityProvider).where(
        IdentityProvider.id == provider_id, IdentityProvider.partner_id == partner_id
    )
    if (provider := session.scalars(query).one_or_none()) is None:
        raise NotFound
    return provider


def of_any(session: Session, provider_id: UUID) -> IdentityProvider | None:
    """Return the provider for a report from it, unless its partner is suspended."""
    query = (
        select(IdentityProvider)
        .join(Partner, Partner.id == IdentityProvider.partner_id)
        .where(IdentityProvider.id == provider_id, Partner.suspended_at.is_(None))
    )
    return session.scalars(query).one_or_none()


def begin(
    session: Session,
    provider: IdentityProvider,
    *,
    redirect_uri: str,
    next_path: str = "/",
    user_id: UUID | None = None,
    needs_fresh_sign_in: bool = False,
) -> StartedRequest:
    """Store a request; ``user_id`` is the signed-in user whose account is to be linked.
    ``needs_fresh_sign_in`` accepts only an answer about a sign-in after now."""
    started = StartedRequest(random_token(), random_token())
    session.add(
        IdentityRequest(
            state_hash=hash_of(started.state),
            provider_id=provider.id,
            browser_hash=hash_of(started.browser_token),
            user_id=user_id,
            redirect_uri=redirect_uri,
            next_path=next_path if len(next_path) <= MAX_PATH_LENGTH else "/",
            needs_fresh_sign_in=needs_fresh_sign_in,
            expires_at=utcnow() + LIFETIME,
        )
    )
    session.flush()
    return started


def authorization_url(
    endpoints: ProviderEndpoints,
    client_id: str,
    started: StartedRequest,
    redirect_uri: str,
    *,
    needs_fresh_sign_in: bool = False,
) -> str:
    """Return the URL for the browser: the provider's own page. ``needs_fresh_sign_in`` asks the
    provider to let the user sign in even if it has a session of theirs."""
    params = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": redirect_uri,
        "scope": SCOPE,
        "state": started.state,
        "nonce": started.nonce,
        "code_challenge": create_s256_code_challenge(started.browser_token),  # type: ignore[no-untyped-call]
        "code_challenge_method": "S256",
        "max_age": int(_max_age(needs_fresh_sign_in=needs_fresh_sign_in).total_seconds()),
    } | ({"prompt": "login"} if needs_fresh_sign_in else {})
    separator = "&" if "?" in endpoints.authorization else "?"
    return f"{endpoints.authorization}{separator}{urlencode(params)}"


def redeem(
    session: Session, provider_id: UUID, state: str, browser_token: str
) -> RedeemedRequest | None:
    """Use the request up and return it; None if it isn't this browser's, is used or has expired."""
    used = (
        delete(IdentityRequest)
        .where(
            IdentityRequest.state_hash == hash_of(state),
            IdentityRequest.provider_id == provider_id,
            IdentityRequest.browser_hash == hash_of(browser_token),
        )
        .returning(
            IdentityRequest.user_id,
            IdentityRequest.redirect_uri,
            IdentityRequest.next_path,
            IdentityRequest.needs_fresh_sign_in,
            IdentityRequest.expires_at,
        )
        .execution_options(synchronize_session=False)
    )
    row = session.execute(used).one_or_none()
    if row is None or row.expires_at <= utcnow():
        return None
    return RedeemedRequest(
        row.user_id,
        row.redirect_uri,
        row.next_path,
        nonce_of(browser_token),
        browser_token,
        row.expires_at - LIFETIME - _max_age(needs_fresh_sign_in=row.needs_fresh_sign_in),
        row.needs_fresh_sign_in,
    )


def _max_age(*, needs_fresh_sign_in: bool) -> timedelta:
    return timedelta() if needs_fresh_sign_in else MAX_SESSION_AGE


def nonce_of(browser_token: str) -> str:
    """Return the nonce that only the request of this browser has."""
    return hash_of(f"nonce {browser_token}")
