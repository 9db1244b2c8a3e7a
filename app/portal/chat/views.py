"""The chat window, and the page that replaces it without script."""

from functools import partial

from flask import g, make_response, redirect, render_template, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.errors import NotFound, RateLimited
from app.models import Partner
from app.portal.chat import blueprint
from app.portal.chat.forms import ChatForm
from app.portal.web.blueprint import portal
from app.portal.web.current_user import known_user
from app.portal.web.forms import saving
from app.portal.web.fragments import is_from_htmx
from app.services import chat
from app.services.auth import sign_in
from app.validation.texts import trim


@portal.app_template_global("chat_url")
def chat_url(sent: str | None = None) -> str:
    """Return the chat's URL for the visitor of this page."""
    slug = (request.view_args or {}).get("slug") or (g.brand.slug if "brand" in g else None)
    return url_for("portal.chat.show_chat", slug=None if known_user() else slug or None, sent=sent)


@blueprint.get("/p/<slug>/chat")
@blueprint.get("/chat")
def show_chat(**_place: str) -> Response:
    if not g.brand.show_chat:
        raise NotFound
    return _page(_chat_form())


@blueprint.post("/p/<slug>/chat")
@blueprint.post("/chat")
def send_chat(**_place: str) -> Response:
    """Submit the message, which is answered by email."""
    form = _chat_form()
    try:
        with saving(form, partial(_page, form), validate=False) as session:
            chat.send(session, _find_partner(session), _message_of(form), sender=_throttle_key())
    except RateLimited as error:
        return _render_rate_limited(form, error)
    return redirect(chat_url(sent="1"), 303)


def _render_rate_limited(form: ChatForm, error: RateLimited) -> Response:
    form.message.errors = (error.message,)
    # The script replaces the window only for status 422: errors that the user can fix.
    response = _page(form, 422 if is_from_htmx() else 429)
    response.headers["Retry-After"] = str(error.retry_after)
    return response


def _chat_form() -> ChatForm:
    return ChatForm(signed_in=known_user() is not None)


def _message_of(form: ChatForm) -> chat.VisitorMessage:
    user = known_user()
    text = (form.message.data or "").replace("\r\n", "\n").replace("\0", "").strip()
    if user is not None:
        return chat.VisitorMessage(text, user.email, user.name or "")
    sender = [trim(f.data) for f in (form.email, form.name)]
    return chat.VisitorMessage(text, *sender)


def _throttle_key() -> str | None:
    user = known_user()
    return request.remote_addr if user is None else str(user.id)


def _find_partner(session: Session) -> Partner:
    if not g.brand.slug:
        raise NotFound
    return sign_in.active_partner_by_slug(session, g.brand.slug, request.host)


def _page(form: ChatForm, status: int = 200) -> Response:
    response = make_response(
        render_template("portal/chat/page.html", form=form, sent="sent" in request.args), status
    )
    response.headers["Cache-Control"] = "no-store"
    return response
