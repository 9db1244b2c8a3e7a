"""Error pages in the partner's brand, with the request's reference and a way to continue."""

from dataclasses import dataclass, replace
from datetime import timedelta
from urllib.parse import urlencode

from flask import g, make_response, redirect, render_template, request, url_for
from flask_wtf.csrf import CSRFError
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.exceptions import HTTPException, MethodNotAllowed, RequestEntityTooLarge
from werkzeug.wrappers import Response

from app.errors import DomainError, Forbidden, NoRoom, NotFound, RateLimited, Unavailable
from app.extensions import scope_of, transaction
from app.http.brown_out import BUSY, DOWNLOADS_BUSY
from app.http.statuses import RETRY_SECONDS, may_pass, status_of
from app.languages import gettext, lazy_gettext, ngettext
from app.models import utcnow
from app.policy import ROUTES, Permission
from app.policy.caller import Caller
from app.policy.parts import part_of_page
from app.portal.web.body_limits import stated_limit
from app.portal.web.current_user import find_brand, known_user, sign_in_url
from app.portal.web.formats import long_datetime, size
from app.portal.web.i18n import set_request_language
from app.services import storage, tenancy
from app.services.audit import refusals
from app.services.audit.refusals import Refusal
from app.services.auth import sign_in
from app.services.branding.brand import cached_brand
from app.validation.networks import network_of

TRY_AGAIN = frozenset({429, 500, 503})
"""Statuses that may be temporary: the page links to the same URL again."""


@dataclass(frozen=True, slots=True)
class ErrorTexts:
    """The texts of an error page: what happened, what didn't, and how to continue."""

    title: str
    text: str


ERROR_TEXTS: dict[int, ErrorTexts] = {
    400: ErrorTexts(
        lazy_gettext("This request can’t be read"),
        lazy_gettext("The address or the form has a wrong value. Nothing was changed."),
    ),
    401: ErrorTexts(
        lazy_gettext("You are signed out"),
        lazy_gettext("Sign in to continue. Nothing was changed."),
    ),
    403: ErrorTexts(
        lazy_gettext("This form was not accepted"),
        lazy_gettext(
            "It was opened too long ago, or sent from another site. Nothing was changed. "
            "Go back, reload the page and send the form again."
        ),
    ),
    404: ErrorTexts(
        lazy_gettext("Page not found"),
        lazy_gettext(
            "Check the address. The page may also belong to an organization that you can’t see. "
            "Nothing was changed."
        ),
    ),
    405: ErrorTexts(
        lazy_gettext("Wrong kind of request"),
        lazy_gettext("This address doesn’t accept this kind of request. Nothing was changed."),
    ),
    409: ErrorTexts(
        lazy_gettext("This has changed"),
        lazy_gettext("Nothing was changed. Reload the page to see it."),
    ),
    410: ErrorTexts(lazy_gettext("No longer available"), lazy_gettext("Nothing was changed.")),
    413: ErrorTexts(
        lazy_gettext("Too large"),
        lazy_gettext("The request is over the limit. Nothing was changed."),
    ),
    415: ErrorTexts(lazy_gettext("Unsupported file type"), lazy_gettext("Nothing was changed.")),
    429: ErrorTexts(
        lazy_gettext("Too many requests"),
        lazy_gettext("Wait a moment and try again. Nothing was changed."),
    ),
    500: ErrorTexts(
        lazy_gettext("Something went wrong on our side"),
        lazy_gettext(
            "Nothing was saved. The problem is logged under the reference below. Try again in a "
            "moment."
        ),
    ),
    503: ErrorTexts(
        lazy_gettext("The portal is not available"),
        lazy_gettext("Try again in a moment. Nothing was changed."),
    ),
}

_BUSY_TEXTS = {
    DOWNLOADS_BUSY: ErrorTexts(
        lazy_gettext("The download can’t start now"),
        lazy_gettext("Many downloads are running. Try again in a moment."),
    ),
    BUSY: ErrorTexts(
        lazy_gettext("The portal is busy"),
        lazy_gettext("Try again in a moment. Nothing was changed."),
    ),
}
"""Texts of requests that are refused while all other pages work."""
_NO_ROOM = ErrorTexts(
    lazy_gettext("There is no room for this file"),
    lazy_gettext("Nothing was stored. Try again later."),
)


def error_page(
    status: int,
    text: str | None = None,
    way_on: tuple[str, str] | None = None,
    *,
    title: str | None = None,
    why_url: str | None = None,
    has_input: bool = True,
) -> Response:
    """Return the page for a status; ``text``, ``title``, ``way_on`` (URL and label) and ``why_url``
    are those of the error. ``has_input`` is whether the browser may still show the input."""
    home_url, home_label = way_on or _home_link()
    content = ERROR_TEXTS.get(status, ERROR_TEXTS[400 if status < 500 else 500])
    is_read = request.method in ("GET", "HEAD")
    html = render_template(
        "errors/error.html",
        status=status,
        texts=replace(content, title=title) if title else content,
        text=text or content.text,
        again_url=request.full_path.rstrip("?") if is_read and status in TRY_AGAIN else None,
        sent=has_input and not is_read,
        why_url=why_url,
        home_url=home_url,
        home_label=home_label,
    )
    response = make_response(html, status)
    response.headers["Cache-Control"] = "no-store"
    return response


def _home_link() -> tuple[str, str] | tuple[None, None]:
    """Return the sign-in page of the page's brand for visitors who are not signed in."""
    slug = g.brand.slug if "brand" in g and not known_user() else None
    return (sign_in_url(slug), gettext("Go to the sign-in page")) if slug else (None, None)


def _status(error: DomainError) -> int:
    """Return the status of the page. A page that the role may not open is treated like a missing
    one."""
    if isinstance(error, Forbidden) or error.code == "operator_without_partner":
        return 404
    return status_of(error)


def _list_start_link(error: DomainError) -> tuple[str, str] | None:
    """Return the first page of a list with an unreadable cursor, with the same filters."""
    if not any(problem.code == "invalid_cursor" for problem in error.problems):
        return None
    params = [(k, v) for k, v in request.args.items(multi=True) if k not in ("cursor", "trail")]
    return request.path + (f"?{urlencode(params)}" if params else ""), gettext(
        "Go to the start of the list"
    )


def _why_url(error: DomainError) -> str | None:
    """Return the page that explains to a signed-in user which permission is missing."""
    permission = error.extra.get("permission") if isinstance(error, Forbidden) else None
    if permission is None or known_user() is None:
        return None
    scope = part_of_page(request.endpoint or "", permission)
    return url_for("portal.access.explain_access", action=permission, part=scope)


def _storage_link(error: DomainError) -> tuple[str, str] | None:
    """Return the page on which data can be deleted, if a limit of storage is reached."""
    is_reached = error.code == storage.LIMIT_REACHED
    return (url_for("portal.storage.show_storage"), gettext("Show storage")) if is_reached else None


def _archived_link(error: DomainError) -> tuple[str, str] | None:
    """Return the page on which the archived organization can be restored."""
    if error.code != tenancy.ARCHIVED or "organizationId" not in error.extra:
        return None
    url = url_for(
        "portal.organizations.show_organization", organization_id=error.extra["organizationId"]
    )
    return url, gettext("Open organization")


def _suspended_page() -> Response:
    """Return the page of a suspended partner's portal, in its brand."""
    with transaction(read_only=True) as session:
        partner = sign_in.partner_by_host(session, request.host)
        if partner is None:
            slug = (request.view_args or {})["slug"]
            partner = sign_in.partner_by_slug(session, slug, request.host)
        g.brand = cached_brand(partner)
    set_request_language(None, g.brand.language)
    response = make_response(render_template("errors/suspended.html"), 403)
    response.headers["Cache-Control"] = "no-store"
    return response


def _retry_page(error: RateLimited | Unavailable) -> Response:
    """Return the page that says when to try again: in some seconds, or from a time on."""
    if isinstance(error, Unavailable):
        find_brand()  # exports are refused before the guard
        if isinstance(error, NoRoom):
            return _unavailable_page(
                _NO_ROOM.text, error.retry_after, _NO_ROOM.title, has_input=False
            )
        content = _BUSY_TEXTS.get(error.code)
        if content is None:
            return _unavailable_page(error.message, error.retry_after)
        return _unavailable_page(content.text, error.retry_after, content.title)
    user = known_user()
    zone = (user.timezone if user else None) or "UTC"
    until = utcnow() + timedelta(seconds=error.retry_after)
    if error.retry_after < 90:
        text = ngettext(
            "%(problem)s You can try again in %(num)s second. Nothing was changed.",
            "%(problem)s You can try again in %(num)s seconds. Nothing was changed.",
            error.retry_after,
            problem=error.message,
        )
    else:
        text = gettext(
            "%(problem)s You can try again from %(moment)s on. Nothing was changed.",
            problem=error.message,
            moment=long_datetime(until, zone),
        )
    return with_wait(error_page(429, text), error)


def _view_only_page() -> Response:
    text = gettext("You see the portal as another user. Nothing was changed.")
    return error_page(403, text, title=gettext("Read only"))


_PAGES = {"view_only": _view_only_page, sign_in.PORTAL_SUSPENDED: _suspended_page}
"""The pages of errors with their own code."""


def with_wait(page: str | Response, error: RateLimited) -> Response:
    """Return the page with status 429, with the seconds after which to try again."""
    response = make_response(page, 429)
    response.headers["Retry-After"] = str(error.retry_after)
    return response


def _unavailable_page(
    text: str | None = None,
    retry_after: int = RETRY_SECONDS,
    title: str | None = None,
    *,
    has_input: bool = True,
) -> Response:
    """Return the page for a temporary error, with the seconds after which to try again."""
    response = error_page(503, text, title=title, has_input=has_input)
    response.headers["Retry-After"] = str(retry_after)
    return response


def _limit_message(error: HTTPException) -> str | None:
    if not isinstance(error, RequestEntityTooLarge):
        return None
    limit = size(stated_limit())
    return gettext("The request is over the limit of %(most)s. Nothing was changed.", most=limit)


def _redirect_to_field(error: HTTPException) -> Response | None:
    """Redirect to the studio, which shows the problem, if a picture is over the limit."""
    if (
        not isinstance(error, RequestEntityTooLarge)
        or request.endpoint != "portal.branding.upload_image"
    ):
        return None
    kind = (request.view_args or {})["kind"]
    url = url_for("portal.branding.show_branding", too_large=kind, _anchor=f"{kind}-picture")
    return make_response(redirect(url, 303))


def answer_with_page(error: DomainError | HTTPException) -> Response:
    """Answer every error outside the JSON areas with a page."""
    try:
        return _page_of(error)
    except NotFound:  # the brand is that of a suspended partner
        return _suspended_page()


def _page_of(error: DomainError | HTTPException) -> Response:
    """Return the page of an error. Raises as `find_brand`."""
    if isinstance(error, DomainError):
        if isinstance(error, Forbidden):
            _note_refused_request(error)
        status = _status(error)
        if isinstance(error, RateLimited | Unavailable):
            return _retry_page(error)
        if error.code in _PAGES:
            return _PAGES[error.code]()
        text = None if status in (401, 404) else error.message
        way_on = _list_start_link(error) or _storage_link(error) or _archived_link(error)
        return error_page(status, text, way_on, why_url=_why_url(error))
    if isinstance(error, CSRFError):
        return error_page(403)
    failure = error.__cause__ or getattr(error, "original_exception", None)
    if isinstance(failure, SQLAlchemyError) or may_pass(failure):
        return _unavailable_page()
    if (error.code or 500) < 500:
        find_brand()
    response = _redirect_to_field(error) or error_page(error.code or 500, _limit_message(error))
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        response.headers["Allow"] = ", ".join(sorted(error.valid_methods))
    return response


def _note_refused_request(error: Forbidden) -> None:
    """Record that the signed-in user tried to change something without permission."""
    if request.method in ("GET", "HEAD", "OPTIONS") or known_user() is None:
        return
    caller: Caller = g.caller
    if caller.viewed_by is not None:
        return  # the operator's view is in the history; it isn't an attempt of this user
    endpoint = request.endpoint or ""
    permission = error.extra.get("permission", ROUTES.get(endpoint))
    refusal = Refusal(
        action=refusals.REQUEST,
        reason=error.code,
        target_type="request",
        target_id=endpoint,
        target=str(permission) if permission in set(Permission) else None,
        partner_id=caller.partner_id,
        organization_id=caller.organization_id,
        network=network_of(caller.ip),
    )
    with transaction(scope=scope_of(caller)) as session:
        refusals.record_refusals(session, caller, [refusal])
