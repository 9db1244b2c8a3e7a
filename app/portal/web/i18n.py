"""The language of a page, which Flask-Babel selects.

The order is: the user's choice, the choice in this browser, the partner's default, the browser's
preference.
"""

from functools import lru_cache
from typing import Any

from flask import Flask, g, request
from flask_babel import Babel, get_locale, refresh
from markupsafe import Markup

from app import languages
from app.portal.web.cookies import read_cookie

LANGUAGE_COOKIE = "language"

babel = Babel(configure_jinja=False)


def set_request_language(selected: str | None, default: str | None) -> None:
    """Set the language of this request: ``selected`` by the user, ``default`` of the partner."""
    _set_languages(selected, read_cookie(LANGUAGE_COOKIE), default)


def set_language_before_sign_in(selected: str | None, default: str | None) -> None:
    """As `set_request_language`, on a page where the choice in this browser can be changed, which
    then comes first."""
    _set_languages(read_cookie(LANGUAGE_COOKIE), selected, default)


def _set_languages(*preferences: str | None) -> None:
    g.languages = preferences
    refresh()
    languages.set_language(str(get_locale()).replace("_", "-"))


def _select_locale() -> str:
    accepted = (tag for tag, _quality in request.accept_languages)
    return languages.best_tag(g.get("languages", ()), accepted).replace("-", "_")


def register(app: Flask) -> None:
    babel.init_app(app, locale_selector=_select_locale)
    # A thread of the server answers one request after another: each starts in English.
    app.teardown_request(lambda _error: languages.set_language(languages.DEFAULT))
    # Flask-Babel's own functions take 14 µs for each message, of which a page has hundreds.
    app.jinja_env.add_extension("jinja2.ext.i18n")
    app.jinja_env.install_gettext_callables(  # type: ignore[attr-defined]  # the extension's
        **languages.jinja_callables() | {"gettext": _translation}
    )
    app.jinja_env.globals["_"] = app.jinja_env.globals["gettext"] = _markup
    app.jinja_env.globals["page_language"] = languages.language
    app.jinja_env.globals["languages"] = languages.LANGUAGES


def _markup(message: str, /, **values: Any) -> Markup:
    """Return `languages.gettext` for templates: the message is markup, its values are escaped."""
    if values:
        form = languages.without_second_stops(_translation(message), values)
        return Markup(form) % values  # noqa: S704 - from a catalogue
    return fixed_markup(languages.language(), message)


@lru_cache(10_000)
def fixed_markup(_language: str, message: str) -> Markup:
    """Return a message without values in the current language, which is the first argument."""
    return Markup(_translation(message) % {})  # noqa: S704 - from a catalogue


def _translation(message: str) -> str:
    return languages.with_whole_email(languages.translation(message))
