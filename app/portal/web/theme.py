"""Light, dark, or the system's theme: a choice of this browser."""

from flask import redirect, request
from werkzeug.wrappers import Response

from app.portal.web.blueprint import portal
from app.portal.web.cookies import keep_cookie, remove_cookie
from app.portal.web.current_user import referring_path

THEME_COOKIE = "theme"
THEMES = ("light", "dark")


@portal.post("/theme")
def theme() -> Response:
    response = redirect(referring_path(), 303)
    wanted = request.form.get("theme")
    if wanted in THEMES:
        keep_cookie(response, THEME_COOKIE, wanted)
    else:
        remove_cookie(response, THEME_COOKIE)
    return response
