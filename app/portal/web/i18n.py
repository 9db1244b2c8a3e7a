"""The language of a page.

A user's choice counts most, then the choice in this browser, the partner's default, and what the
browser asks for. Flask-Babel translates the templates.
"""

from flask import Flask, request
from flask_babel import Babel

from app import languages
from app.portal.web.cookies import read_cookie

LANGUAGE_COOKIE = "language"

babel = Babel()


def speak_to(chosen: str | None, default: str | None) -> None:
    """Set the language of this request: ``chosen`` by the user, ``default`` of the partner."""
    accepted = (tag for tag, _quality in request.accept_languages)
    wanted = (chosen, read_cookie(LANGUAGE_COOKIE), default)
    languages.speak(languages.best_tag(wanted, accepted))


def register(app: Flask) -> None:
    babel.init_app(
        app,
        default_translation_directories=str(languages.FOLDER),
        locale_selector=languages.locale,
    )
    # A thread of the server answers one request after another: the JSON is always English.
    app.before_request(lambda: languages.speak(languages.DEFAULT))
    app.jinja_env.globals["page_language"] = languages.language
    app.jinja_env.globals["languages"] = languages.LANGUAGES
