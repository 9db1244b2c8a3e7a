"""Light, dark, or as the system says: a choice of this browser."""

from flask import redirect, request
from werkzeug.wrappers import Response

from app.portal.web.blueprint import portal
from app.portal.web.current_user import local_path

THEME_COOKIE = "theme"
THEMES = ("light", "dark")


@portal.post("/theme")
def theme() -> Response:
    back = request.referrer and "/" + request.referrer.split("/", 3)[-1]
    response = redirect(local_path(back), 303)
    wanted = request.form.get("theme")
    if wanted in THEMES:
        response.set_cookie(
            THEME_COOKIE,
            wanted,
            max_age=365 * 86400,
            httponly=True,
            secure=request.is_secure,
            samesite="Lax",
        )
    else:
        response.delete_cookie(THEME_COOKIE)
    return response
