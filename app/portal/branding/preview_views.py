"""Previews of the draft, or of what customers see: the real templates with its style sheet."""

from typing import Any

from flask import Response, g, make_response, render_template, request

from app.extensions import settings, transaction
from app.http.security_headers import allow_framing_by_ourselves
from app.languages import LANGUAGES
from app.portal.auth.forms import SignInForm
from app.portal.branding import blueprint
from app.portal.branding.studio import BrandingStudio, coloured
from app.portal.chat.forms import ChatForm
from app.portal.web.errors import ERROR_TEXTS
from app.portal.web.i18n import set_request_language
from app.portal.web.mail_preview import mail_preview
from app.portal.web.page_context import page_brand
from app.services import mails
from app.services.branding.brand import Brand


@blueprint.get("/branding/preview/<any('sign-in', portal, mail, chat, error):surface>")
def show_preview(surface: str) -> Response:
    allow_framing_by_ourselves()
    if request.args.get("language") in LANGUAGES:
        set_request_language(request.args["language"], None)
    g.brand, origin = _brand_and_origin()
    theme = "dark" if request.args.get("theme") == "dark" else "light"
    if surface == "mail":
        return mail_preview(mails.sample(g.brand, origin).html, theme)
    response = make_response(
        _render_preview(surface, {"brand": page_brand(g.brand, theme), "preview": True})
    )
    response.headers["Cache-Control"] = "no-store"
    return response


def _brand_and_origin() -> tuple[Brand, str]:
    """Return the brand that the URL selects, possibly with an unsaved colour, and the origin of
    links in the partner's mails."""
    with transaction(read_only=True) as session:
        studio = BrandingStudio(session)
        is_draft = request.args.get("of") != "published"
        brand = studio.brand if is_draft else studio.published_brand
        brand = coloured(brand, request.args.get("colour"))
        return brand, mails.origin_of(studio.partner, settings())


def _render_preview(surface: str, context: dict[str, Any]) -> str:
    if surface == "sign-in":
        form = SignInForm()
        # A preview must not take the focus from the page.
        form.email.render_kw = {}
        return render_template(
            "portal/auth/form.html", form=form, forgot_url="", providers=(), **context
        )
    if surface == "error":
        texts = ERROR_TEXTS[404]
        links = dict.fromkeys(("again_url", "home_url", "home_label", "why_url"))
        error_context = {"status": 404, "texts": texts, "text": texts.text, "sent": False}
        return render_template("errors/error.html", **error_context, **links, **context)
    if surface == "chat":
        return render_template(
            "portal/branding/preview/chat.html", form=ChatForm(), sent=False, **context
        )
    return render_template("portal/branding/preview/portal.html", **context)
