"""The current user and brand of a request, from the session of its cookie."""

import re
from contextlib import suppress
from urllib.parse import urlencode, urlsplit

from flask import g, request, url_for
from flask import session as browser_session
from flask_login import current_user
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app.errors import NotFound
from app.extensions import caller, transaction
from app.models import Partner, User
from app.portal.web.cookies import read_cookie
from app.portal.web.i18n import set_request_language
from app.services.auth import sign_in
from app.services.branding.brand import NEUTRAL, Brand, cached_brand

SESSION_COOKIE = "portal_session"
PARTNER_COOKIE = "portal_partner"
LANGUAGE_KEY = "language"
"""The session cookie's key for the language of its user, for pages after the session's end."""
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,98}")


def sign_in_url(slug: str | None, next_url: str | None = None) -> str:
    """Return the URL of a partner's sign-in page (of the neutral one without a slug)."""
    next_url = next_url if next_url and next_url != "/" else None
    return url_for("portal.auth.sign_in", slug=slug or None, next=next_url)


def local_path(path: str | None) -> str:
    """Return a path of this portal to redirect to; anything that could lead elsewhere
    becomes "/"."""
    if not path or not path.startswith("/") or path.startswith("//"):
        return "/"
    return path if path.isprintable() and "\\" not in path else "/"


def referring_path() -> str:
    """Return the path of the page that the browser comes from, for the response to its form."""
    path = request.referrer and "/" + request.referrer.split("/", 3)[-1]
    return local_path(path)


def with_kept_params(path: str, partner: Partner | None) -> str:
    """Return the path with the URL parameters that the partner keeps through sign-in."""
    allowed = (partner.allowed_query_params if partner else None) or {}
    params = [(name, value) for name, value in request.args.items(multi=True) if name in allowed]
    retained = [(name, value) for name, value in params if name != "next" and len(value) <= 500]
    if not retained:
        return path
    url = urlsplit(path)
    query = "&".join(filter(None, (url.query, urlencode(retained))))
    return url._replace(query=query).geturl()


def session_token() -> str | None:
    """Return the token of the browser's session, as Flask-Login stores it in the cookie."""
    token: str | None = browser_session.get("_user_id")
    return token


def identify() -> None:
    """Load the signed-in user and set `g` to their caller and brand; for a visitor, to the brand
    alone. Sets the language of the page.

    Raises `NotFound` for the URL of a partner that doesn't exist, and with the code
    `PORTAL_SUSPENDED` at the domain of a suspended one; the brand is then the host's.
    """
    if current_user.is_authenticated:
        g.caller = current_user.caller
        g.brand = current_user.brand
        if g.caller.viewed_by is None:
            set_request_language(current_user.language, g.brand.language)
            if browser_session.get(LANGUAGE_KEY) != current_user.language:
                browser_session[LANGUAGE_KEY] = current_user.language
        else:  # support must be able to read the page
            set_request_language(current_user.signed_in.viewer.language, None)
        return
    with transaction(read_only=True) as session:
        at_host = sign_in.partner_by_host(session, request.host)
        g.brand = cached_brand(at_host) if at_host else NEUTRAL
        set_request_language(browser_session.get(LANGUAGE_KEY), g.brand.language)
        is_suspended = at_host is not None and at_host.suspended_at is not None
        if is_suspended and request.endpoint != "portal.save_language":
            raise NotFound(code=sign_in.PORTAL_SUSPENDED)
        g.brand = _brand_of_visitor(session, at_host)
    set_request_language(browser_session.get(LANGUAGE_KEY), g.brand.language)


def find_brand() -> None:
    """Load the brand of a page that passes no guard: one of the API, or an unknown URL, such as the
    URL of another partner at this host. Without a database it stays the neutral one.

    Raises `NotFound` (`PORTAL_SUSPENDED`) at the domain of a suspended partner."""
    if "brand" in g:
        return
    set_request_language(None, None)
    try:
        with suppress(SQLAlchemyError):
            identify()
    except NotFound as error:
        if error.code == sign_in.PORTAL_SUSPENDED:
            raise


def refuse_operators() -> None:
    """Raise `NotFound` for operators: the page belongs to a partner, and they have none."""
    if caller().partner_id is None:
        raise NotFound


def known_user() -> User | None:
    """Return the signed-in user that `identify` loaded; never queries the database."""
    return current_user.user if "caller" in g else None


def must_add_factor() -> bool:
    """Return whether the user's partner requires a second factor that they have yet to add. An
    operator who views the portal as them only reads, so that no proof is needed."""
    if known_user() is None:
        return False
    return current_user.signed_in.operator is None and current_user.signed_in.needs_factor


def _brand_of_visitor(session: Session, at_host: Partner | None) -> Brand:
    """Return the brand of the URL's slug, of the host's verified domain, or of the last visited
    partner. A URL without a view may name a partner too; the last visited one is then left out."""
    slug = (request.view_args or {}).get("slug")
    if slug:
        return cached_brand(sign_in.active_partner_by_slug(session, slug, request.host))
    _, first_segment, named, *_rest = (*request.path.split("/"), "", "")
    if first_segment == "p":
        partner = _find_partner(session, named) or at_host
    else:
        partner = at_host or _find_partner(session, read_cookie(PARTNER_COOKIE) or "")
    return cached_brand(partner) if partner else NEUTRAL


def suspended_slug() -> str | None:
    """Return the slug of the partner that this browser visited last, if it is suspended."""
    slug = read_cookie(PARTNER_COOKIE) or ""
    if not _SLUG.fullmatch(slug):
        return None
    with transaction(read_only=True) as session, suppress(NotFound):
        partner = sign_in.partner_by_slug(session, slug, request.host)
        return partner.slug if partner.suspended_at else None
    return None


def _find_partner(session: Session, slug: str) -> Partner | None:
    if not _SLUG.fullmatch(slug):
        return None
    try:
        return sign_in.active_partner_by_slug(session, slug, request.host)
    except NotFound:
        return None
