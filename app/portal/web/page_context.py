"""The variables of every page's template: brand, navigation, user, theme."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import Any
from urllib.parse import quote

from flask import Flask, Response, g, redirect, render_template, request, url_for
from flask_login import current_user
from markupsafe import Markup, escape

from app.enums import CarrierKind, Role
from app.errors import NotFound
from app.extensions import settings, transaction
from app.http.request_id import request_id
from app.languages import LANGUAGES, language
from app.models import DispatchPause, User, utcnow
from app.portal.web.blueprint import Page, portal
from app.portal.web.brand_files import chat_stylesheet_url, stylesheet_url
from app.portal.web.browser_choices import THEME_COOKIE, THEMES
from app.portal.web.cookies import read_cookie
from app.portal.web.current_user import find_brand, known_user, must_add_factor
from app.portal.web.formats import ROLE_NAMES, long_datetime
from app.portal.web.navigation import NavigationGroup, navigation_for, settings_groups
from app.portal.web.page_frame import known_frame
from app.services import pauses
from app.services.audit import notified
from app.services.branding.brand import DEFAULT_TAGLINE, NEUTRAL, Brand
from app.services.branding.shades import brand_shades

MAX_HEADER_LINKS = 4


@dataclass(frozen=True, slots=True)
class PageBrand:
    """A brand with the URLs that a page links."""

    brand: Brand
    stylesheet_url: str
    theme: str | None

    @property
    def icon_url(self) -> str:
        """Return the brand's favicon; without one, the product's first letter on its colour."""
        return self.brand.favicon_url or "data:image/svg+xml," + quote(self.letter_icon)

    @property
    def letter_icon(self) -> str:
        shades = brand_shades(self.brand.colour).light
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
            f'<rect width="32" height="32" rx="7" fill="{shades.panel}"/>'
            f'<text x="16" y="22" font-family="sans-serif" font-size="18" font-weight="600"'
            f' text-anchor="middle" fill="{shades.panel_on}">{escape(self.initial)}</text></svg>'
        )

    @property
    def chat_stylesheet_url(self) -> str:
        return chat_stylesheet_url(self.brand)

    @property
    def initial(self) -> str:
        return next((c for c in self.brand.product_name if c.isalnum()), "•").upper()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.brand, name)


@dataclass(frozen=True, slots=True)
class PageUser:
    name: str
    email: str
    role: str
    timezone: str
    has_timezone: bool
    is_member: bool
    """Whether the user is a member of a customer's organization, not of the partner's staff."""


def page_brand(brand: Brand, theme: str | None = None) -> PageBrand:
    return PageBrand(brand, stylesheet_url(brand.colour), theme)


def register(app: Flask) -> None:
    app.context_processor(_context)
    app.jinja_env.globals["settings_groups"] = settings_groups
    app.jinja_env.globals["has_sample_costs"] = _has_sample_costs
    app.before_request(_brand_api_docs)


def _has_sample_costs() -> bool:
    """Return whether live calls are simulated, so that demo calls have no carrier's costs."""
    return CarrierKind(settings().carrier) is CarrierKind.SIMULATOR


def _brand_api_docs() -> None:
    if request.endpoint == "api_docs.docs":
        with suppress(NotFound):  # scripts of a suspended partner can still read them
            find_brand()


@portal.get("/favicon.ico")
def favicon() -> Page:
    """The icon of documents that name none, such as JSON in a browser tab."""
    brand = page_brand(g.get("brand", NEUTRAL))
    if brand.favicon_url:
        return redirect(brand.favicon_url)
    return Response(brand.letter_icon, mimetype="image/svg+xml")


def _context() -> dict[str, Any]:
    brand: Brand = g.get("brand", NEUTRAL)
    user = known_user()
    theme = read_cookie(THEME_COOKIE)
    zone = (user.timezone if user else None) or "UTC"
    is_held = must_add_factor()
    return {
        "brand": page_brand(brand, theme if theme in THEMES else None),
        "navigation": _Navigation(),
        "view_bar": _view_bar,
        "calling_pauses": _CallingPauses(),
        "resuming_command": pauses.resume_command,
        "signed_in_user": _signed_in_user(user),
        "default_tagline": DEFAULT_TAGLINE,
        "header_links": brand.header_links[:MAX_HEADER_LINKS],
        "more_links": brand.header_links[MAX_HEADER_LINKS:],
        "unread": _unread_count,
        "search_url": url_for("portal.search.search") if user and not is_held else None,
        "account_url": None if is_held else url_for("portal.account.show_account"),
        "theme_url": url_for("portal.save_theme"),
        "sign_out_url": url_for("portal.auth.sign_out"),
        "now": long_datetime(utcnow(), zone),
        "request_id": request_id(),
        "zone": zone,
    }


@dataclass(frozen=True, slots=True)
class ViewAsBar:
    """The text of the bar of a view: the viewed user, its duration, and the name of the user's
    language if it isn't that of the page."""

    name: str
    minutes: int
    language: str | None


def _view_bar() -> Markup:
    """Return the bar of a view."""
    user = known_user()
    if user is None or g.caller.viewed_by is None:
        return Markup()
    signed_in = current_user.signed_in
    remaining = signed_in.record.viewed_until - utcnow()
    user_language = user.language if user.language != language() else None
    viewing = ViewAsBar(
        user.name or user.email,
        ceil(remaining / timedelta(minutes=1)),
        LANGUAGES.get(user_language or ""),
    )
    return Markup(render_template("components/view_as.html", viewing=viewing))  # noqa: S704 - a template


class _Navigation:
    """Computed when a template uses it, because error pages don't need it."""

    def __iter__(self) -> Iterator[NavigationGroup]:
        return iter(navigation_for(g.caller) if known_user() and not must_add_factor() else ())


class _CallingPauses:
    """The pauses that operators see on every page; loaded when a template uses them."""

    def __iter__(self) -> Iterator[DispatchPause]:
        user = known_user()
        if user is None or user.user_type is not Role.OPERATOR:
            return iter(())
        frame = known_frame()
        active_pauses = frame.pauses if frame else None
        if active_pauses is None:
            with transaction(read_only=True) as session:
                active_pauses = pauses.listing(session)
        return iter(
            pause
            for pause in active_pauses
            if pause.organization_id is None and not pauses.is_own(pause)
        )


def _unread_count() -> int | None:
    """The notifications that the user has not read; None for users who get none."""
    if known_user() is None or g.caller.partner_id is None or must_add_factor():
        return None
    if (frame := known_frame()) is not None:
        return frame.unread
    if "unread" not in g:
        with transaction(read_only=True) as session:
            g.unread = notified.count_unread(session, g.caller)
    unread: int = g.unread
    return unread


def _signed_in_user(user: User | None) -> PageUser | None:
    if user is None:
        return None
    return PageUser(
        name=user.name or user.email,
        email=user.email,
        role=ROLE_NAMES[user.role],
        timezone=user.timezone or "UTC",
        has_timezone=user.timezone is not None,
        is_member=user.user_type is Role.STANDARD,
    )
