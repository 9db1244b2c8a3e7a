"""Put every view of the portal behind the policy table, and its forms behind CSRF."""

import json
from urllib.parse import urlsplit

from flask import (
    Blueprint,
    g,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from flask_login import current_user, logout_user
from flask_wtf.csrf import CSRFError, CSRFProtect
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.wrappers import Response

from app.languages import gettext
from app.policy import ROUTES, OpenAccess, Permission
from app.policy.step_up import WITHOUT_FACTOR, needs_proof
from app.portal.auth.form_recovery import (
    is_from_ourselves,
    of_request,
    send_again_page,
    sign_in_page,
)
from app.portal.auth.login_manager import login_manager
from app.portal.auth.step_up import StepUpForm, step_up_page
from app.portal.web import request_rate
from app.portal.web.body_limits import apply_limit, refuse_without_room
from app.portal.web.current_user import (
    identify,
    must_add_factor,
    referring_path,
    session_token,
    sign_in_url,
    suspended_slug,
)
from app.portal.web.fragments import htmx_command, is_from_htmx
from app.portal.web.messages import flash

_WITHOUT_SESSION = frozenset(
    {"portal.brand_stylesheet", "portal.chat_stylesheet", "portal.brand_image"}
)
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_LEAVING_VIEW_AS = frozenset({"portal.view_as.stop_view_as", "portal.auth.sign_out"})
_WITH_LINKS = frozenset(
    {
        "portal.operator.list_mails",
        "portal.operator.show_mail",
        "portal.operator.show_mail_html",
        "portal.operator.download_mail_file",
    }
)
"""Pages with the one-time links in mails."""


def protect(blueprint: Blueprint, csrf: CSRFProtect) -> None:
    """Check the policy table before every view of the blueprint, and the CSRF token of its
    forms."""

    @blueprint.before_request
    def check_access() -> Response | None:
        if request.endpoint in _WITHOUT_SESSION:
            return None
        needed = ROUTES[request.endpoint or ""]
        identify()
        request_rate.count_request()
        refusal = _refuse_in_view_as() or _refuse_body(csrf, needed)
        if refusal is not None:
            return refusal
        if needed is OpenAccess.PUBLIC:
            return None
        if not current_user.is_authenticated:
            return unauthorized()
        if isinstance(needed, Permission):
            g.caller.require(needed)
        return _require_factor() or _require_proof()

    @blueprint.after_request
    def vary(response: Response) -> Response:
        if request.endpoint not in _WITHOUT_SESSION:
            response.vary.update(("Cookie", "HX-Request"))
            response.headers.setdefault("Cache-Control", "no-store")
        return response


def _require_factor() -> Response | None:
    """Redirect users whose partner requires a second factor to the page where they add one."""
    if request.endpoint in WITHOUT_FACTOR or not must_add_factor():
        return None
    url = url_for("portal.account.show_factors")
    return htmx_command("HX-Redirect", url) if is_from_htmx() else redirect(url, 303)


def _require_proof() -> Response | None:
    """Require a fresh proof before actions that need one. The input is kept."""
    if not needs_proof(request.endpoint, request.view_args or {}):
        return None
    if _is_view_as() or current_user.signed_in.is_fresh:
        return None
    next_url = request.full_path.rstrip("?") if request.method == "GET" else referring_path()
    if not is_from_htmx() and request.method != "GET":
        recovered = of_request()
        if recovered:
            return step_up_page(StepUpForm.from_object(), next_url, recovered.seal, 403)
    url = url_for("portal.auth.show_step_up", next=next_url)
    return htmx_command("HX-Redirect", url) if is_from_htmx() else redirect(url, 303)


def _is_view_as() -> bool:
    """Return whether an operator views the portal as another user: read only, so that no proof is
    needed."""
    return current_user.signed_in.operator is not None


def _refuse_in_view_as() -> Response | None:
    """Refuse what an operator may not do while they view the portal as another user; once the view
    has ended, everything except leaving it. Raises `Forbidden` (``view_only``)."""
    if not current_user.is_authenticated or current_user.signed_in.operator is None:
        return None
    if request.endpoint in _LEAVING_VIEW_AS:
        return None
    if current_user.signed_in.has_view_as_ended:
        return make_response(render_template("portal/view_as/ended.html"), 403)
    if request.method not in _SAFE_METHODS or request.endpoint in _WITH_LINKS:
        g.caller.require_write()
    return None


def unauthorized() -> Response:
    """Answer a visitor whose page needs an account, as Flask-Login's handler."""
    answer: Response = login_manager.unauthorized()
    return answer


def _redirect_to_sign_in() -> Response:
    """Redirect to the sign-in page and from there back here; a fragment redirects the
    whole page. The sign-in page says when this browser's session has ended, or its portal is
    suspended."""
    slug = g.brand.slug
    if session_token():
        logout_user()
        if suspended := suspended_slug():
            slug = suspended
        else:
            flash(gettext("You are signed out."), "info")
    next_url = request.full_path.rstrip("?") if request.method == "GET" else None
    if is_from_htmx():
        current_url = urlsplit(request.headers.get("HX-Current-URL", ""))
        next_url = current_url.path + (f"?{current_url.query}" if current_url.query else "")
        return htmx_command("HX-Redirect", sign_in_url(slug, next_url))
    return redirect(sign_in_url(slug, next_url), 303)


login_manager.unauthorized_handler(_redirect_to_sign_in)


def _refuse_body(csrf: CSRFProtect, needed: Permission | OpenAccess) -> Response | None:
    """Return the response to a request body that can't be accepted; None if it can be."""
    if request.method in _SAFE_METHODS:
        return None
    return _refuse_large(needed) or _refuse_form(csrf, needed)


def _refuse_large(needed: Permission | OpenAccess) -> Response | None:
    """Limit the size of the body before it is read. Visitors are redirected to sign in if users may
    send a larger file.

    Raises `RequestEntityTooLarge`, and `TooLarge` if there is no storage for a contact file.
    """
    signed_in = current_user.is_authenticated
    may = signed_in and (not isinstance(needed, Permission) or g.caller.may(needed))
    try:
        apply_limit(may_send_files=may)
        if may:
            refuse_without_room()
    except RequestEntityTooLarge:
        if signed_in or needed is OpenAccess.PUBLIC:
            raise
        return unauthorized()
    return None


def _refuse_form(csrf: CSRFProtect, needed: Permission | OpenAccess) -> Response | None:
    """Return the response to a form that can't be accepted now; None if it can be.

    The input is sent back, if one of our own pages sent it. Raises `CSRFError` for all others.
    """
    if request.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
        raise CSRFError("The form came from another site.")
    is_own_page = is_from_ourselves()
    if is_own_page and needed is not OpenAccess.PUBLIC and not current_user.is_authenticated:
        if is_from_htmx():
            return _toast(gettext("You are signed out. What you typed stays here."), 401)
        if session_token() and suspended_slug():
            return unauthorized()
        recovered = of_request()
        return sign_in_page(recovered) if recovered else unauthorized()
    try:
        csrf.protect()
    except CSRFError:
        recovered = of_request() if is_own_page else None
        if recovered is None:
            raise
        if is_from_htmx():
            return _toast(gettext("This page has expired. Reload it and try again."), 403)
        return send_again_page(recovered, status=403, signed_in=False)
    return None


def _toast(message: str, status: int) -> Response:
    """Leave the fragment's page as it is, and show a message."""
    return htmx_command("HX-Trigger", json.dumps({"toast": {"message": message}}), status)
