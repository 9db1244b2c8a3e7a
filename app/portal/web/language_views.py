"""A visitor's choice of language, kept in this browser; users choose it in their account."""

from flask import redirect, request
from werkzeug.wrappers import Response

from app.languages import LANGUAGES
from app.portal.web.blueprint import portal
from app.portal.web.cookies import keep_cookie
from app.portal.web.current_user import local_path
from app.portal.web.i18n import LANGUAGE_COOKIE


@portal.post("/language")
def language() -> Response:
    response = redirect(local_path(request.form.get("next")), 303)
    wanted = request.form.get("language")
    if wanted in LANGUAGES:
        keep_cookie(response, LANGUAGE_COOKIE, wanted)
    return response
