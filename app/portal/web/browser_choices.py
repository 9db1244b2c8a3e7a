"""A visitor's choices for this browser: the language, which users choose in their account, and the
theme (light, dark, or that of the system)."""

from flask import redirect, request
from flask import session as browser_session
from werkzeug.wrappers import Response

from app.languages import LANGUAGES
from app.portal.web.blueprint import portal
from app.portal.web.cookies import keep_cookie, remove_cookie
from app.portal.web.current_user import LANGUAGE_KEY, local_path, referring_path
from app.portal.web.i18n import LANGUAGE_COOKIE

THEME_COOKIE = "theme"
THEMES = ("light", "dark")


@portal.post("/theme")
def save_theme() -> Response:
    response = redirect(referring_path(), 303)
    requested = request.form.get("theme")
    if requested in THEMES:
        keep_cookie(response, THEME_COOKIE, requested)
    else:
        remove_cookie(response, THEME_COOKIE)
    return response


@portal.post("/language")
def save_language() -> Response:
    response = redirect(local_path(request.form.get("next")), 303)
    requested = request.form.get("language")
    if requested in LANGUAGES:
        browser_session.pop(LANGUAGE_KEY, None)
        keep_cookie(response, LANGUAGE_COOKIE, requested)
    return response
