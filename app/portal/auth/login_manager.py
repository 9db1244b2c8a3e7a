"""Flask-Login over the rows of server-side sessions.

Flask's session cookie holds the token of a row in ``portal_sessions``. A user whose row has ended,
or whose account, organization or partner is suspended, is anonymous at the next request.
"""

from datetime import timedelta
from typing import Any

from flask import Flask, Response, after_this_request, g, request
from flask import session as browser_session
from flask.sessions import SecureCookieSessionInterface
from flask_login import LoginManager, UserMixin, login_user, logout_user
from sqlalchemy.orm import Session

from app.enums import Proof
from app.errors import Unauthenticated
from app.extensions import settings, transaction
from app.http.request_id import request_id
from app.models import User
from app.portal.web.cookies import cookie_name, keep_cookie, read_cookie
from app.portal.web.current_user import SESSION_COOKIE, session_token
from app.services.auth import known_devices, offered_accounts, sessions
from app.services.branding.brand import NEUTRAL, cached_brand

REFRESHED = frozenset(
    {
        "portal.webhooks.show_webhook",
        "portal.webhooks.show_delivery",
        "portal.branding.list_images",
        "portal.calls.show_call_progress",
        "portal.campaigns.show_outreach_progress",
        "portal.carriers.show_connection_test",
        "portal.personal_data.show_erasure_progress",
        "portal.record_lists.list_exports",
        "portal.notifications.show_bell",
        "portal.phone_numbers.list_account_numbers",
        "portal.pricing.show_checkout",
        "portal.settings.show_domain_records",
        "portal.pricing.edit_stripe_account",
        "portal.uploads.show_upload_progress",
    }
)
"""Requests of pages that refresh themselves; they don't count as use of a session."""
OFFER_KEY = "offer"
"""The cookie's key for the browser's token of the offered accounts."""
SECOND_STEP_KEY = "second_step"
"""Its key for the token of a sign-in that waits for its second step."""
CHALLENGE_KEY = "challenge"
"""Its key for the challenge that a passkey is to answer."""
REMEMBERED_COOKIE = "portal_second_step"
"""The token of a browser where the second step is remembered."""
DEVICE_COOKIE = "portal_device"
"""The cookie of browsers in which an account has signed in before; it grants no access."""


class SignedInUser(UserMixin):  # type: ignore[misc]  # Flask-Login has no types
    """A user with their caller, partner and brand; other attributes are those of the user.

    Create it in the transaction that loaded the session: the brand reads the partner's lists.
    """

    def __init__(self, signed_in: sessions.UserSession, token: str):
        self.signed_in = signed_in
        self.user = signed_in.user
        self.partner = signed_in.partner
        self.caller = signed_in.caller
        self.brand = cached_brand(signed_in.partner) if signed_in.partner else NEUTRAL
        self._token = token

    def get_id(self) -> str:
        """The token of the session's row, which Flask-Login stores in the cookie."""
        return self._token

    def __getattr__(self, name: str) -> Any:
        return getattr(self.user, name)


class _LoginManager(LoginManager):  # type: ignore[misc]  # Flask-Login has no types
    def init_app(self, app: Flask, add_context_processor: bool = False) -> None:
        """Attach without Flask-Login's "remember me" handler, which would read the session, and so
        vary by cookie, in every response of the JSON API; and without its context processor, which
        would query the database on error pages."""
        if add_context_processor:
            super().init_app(app, add_context_processor)
        app.login_manager = self  # type: ignore[attr-defined]  # where Flask-Login looks


class _SessionCookie(SecureCookieSessionInterface):
    def get_cookie_name(self, app: Flask) -> str:
        return cookie_name(super().get_cookie_name(app))

    def get_cookie_secure(self, app: Flask) -> bool:  # noqa: ARG002 - Flask's signature
        return request.is_secure


login_manager = _LoginManager()
login_manager.session_protection = None  # the row decides, not a hash of IP address and browser


def load_user(token: str) -> SignedInUser | None:
    """Return the user whose session has this token, None if it has ended."""
    with transaction(read_only=True) as session:
        try:
            user = _load(session, token)
        except Unauthenticated:
            return None
    if user.signed_in.touch_due and request.endpoint not in REFRESHED:
        with transaction() as session:
            sessions.touch(session, user.signed_in)
    return user


login_manager.user_loader(load_user)


def _load(session: Session, token: str) -> SignedInUser:
    signed_in = sessions.load(
        session,
        token,
        host=request.host,
        idle=settings().session_idle,
        ip=request.remote_addr,
        request_id=request_id(),
    )
    return SignedInUser(signed_in, token)


def sign_in_user(
    user: User, proof: Proof | None = None, origin: sessions.SessionOrigin | None = None
) -> None:
    """Start a session of the user in this browser; the previous one ends. ``proof`` is what proved
    the user's identity besides or instead of the password, ``origin`` the identity provider that
    may end the session."""
    lifetime = timedelta(hours=settings().session_hours)
    with transaction() as session:
        _end_session(session)
        token = sessions.create(
            session,
            user,
            lifetime=lifetime,
            host=request.host,
            ip=request.remote_addr,
            user_agent=request.user_agent.string,
            factor=proof,
            origin=origin,
        )
        signed_in_user = _load(session, token)
    browser_session.permanent = True
    login_user(signed_in_user)
    _remember_browser(user)


def is_known_browser(user: User) -> bool:
    """Whether the user has signed in here since the last change of the password."""
    owner = [(user.id, user.password_hash)]
    cookie = read_cookie(DEVICE_COOKIE)
    return known_devices.known_device_id(cookie, owner, settings().secret_keys) is not None


def _remember_browser(user: User) -> None:
    cookie = known_devices.remember(
        read_cookie(DEVICE_COOKIE), user.id, user.password_hash, settings().secret_keys
    )

    @after_this_request
    def keep(response: Response) -> Response:
        keep_cookie(response, DEVICE_COOKIE, cookie)
        return response


def sign_out_user() -> None:
    """End the session and clear the cookie, so that old CSRF tokens end too."""
    with transaction() as session:
        _end_session(session)
    logout_user()
    browser_session.clear()
    g.pop("caller", None)


def _end_session(session: Session) -> None:
    """End this browser's session, and the accounts that it was offered."""
    sessions.end(session, session_token())
    browser_session.pop(SECOND_STEP_KEY, None)
    offer_token = browser_session.pop(OFFER_KEY, None)
    if offer_token:
        offered_accounts.end_in_browser(session, offer_token)


def register(app: Flask) -> None:
    app.config.update(
        SESSION_COOKIE_NAME=SESSION_COOKIE,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_REFRESH_EACH_REQUEST=False,
    )
    app.session_interface = _SessionCookie()
    login_manager.init_app(app)
