"""The languages of the portal, and its words in the current one.

Messages are written in English where they are used: ``gettext`` translates them at once,
`lazy_gettext` each time they are shown, for names that are set when a module is imported. The
current language is English unless a face or a mail has set another (`speak`), so the JSON and the
log are always English. ``app/translations`` holds one catalogue for each language; a literal % in a
message is written %%.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, cast

from babel import Locale, UnknownLocaleError
from babel.support import LazyProxy, NullTranslations, Translations

LANGUAGES = {"en": "English", "de": "Deutsch", "es": "Español", "fr": "Français"}
"""The code of each language (BCP 47) and its name in itself."""

DEFAULT = "en"
FOLDER = Path(__file__).parent.parent / "translations"

_WITH_REGION = re.compile("[a-z]{2}-(?:[A-Z]{2}|[0-9]{3})")
_current: ContextVar[str] = ContextVar("language", default=DEFAULT)


def speak(tag: str) -> None:
    """Set the current language: a code of `LANGUAGES`, with a region where it is known
    (``de-CH``)."""
    _current.set(tag)


def best_tag(languages: Iterable[str | None], accepted: Iterable[str] = ()) -> str:
    """Return the first of the ``languages`` that the portal has, else the first of the tags that
    the browser accepts, else English; with the region that the browser accepts for it."""
    tags = [tag for tag in accepted if tag.partition("-")[0].lower() in LANGUAGES]
    known = next((code for code in languages if code in LANGUAGES), None)
    code = known or (tags[0].partition("-")[0].lower() if tags else DEFAULT)
    return next((tag for tag in tags if tag.startswith(f"{code}-") and _is_locale(tag)), code)


@contextmanager
def speaking(tag: str) -> Iterator[None]:
    """Set the current language within the block."""
    token = _current.set(tag)
    try:
        yield
    finally:
        _current.reset(token)


def language() -> str:
    """Return the code of the current language."""
    return _current.get().partition("-")[0]


def locale() -> Locale:
    """Return the current locale, which decides how dates and numbers are written."""
    return _locale(_current.get())


def translation(message: str) -> str:
    """Return the message in the current language, not formatted."""
    return _catalogue(language()).gettext(message)


def gettext(message: str, /, **values: object) -> str:
    """Return the message in the current language, with the values in its ``%(name)s``."""
    return translation(message) % values


def ngettext(one: str, many: str, number: int, /, **values: object) -> str:
    """Return the form of the message for the number, which is ``%(num)s`` unless it is given."""
    return _catalogue(language()).ngettext(one, many, number) % {"num": number, **values}


def pgettext(context: str, message: str, /, **values: object) -> str:
    """As `gettext`, for a message that has several meanings in English."""
    return cast(str, _catalogue(language()).pgettext(context, message)) % values


def gettext_noop(message: str) -> str:
    """Return the message as it is: `gettext` translates it later."""
    return message


def lazy_gettext(message: str, /, **values: object) -> str:
    """As `gettext`, translated each time it is shown. Join it with other text by an f-string or
    `str`."""
    return cast(str, LazyProxy(gettext, message, enable_cache=False, **values))


def jinja_callables() -> dict[str, Any]:
    """Return the functions that a Jinja environment with the ``i18n`` extension installs."""
    return {
        "gettext": translation,
        "ngettext": lambda one, many, number: _catalogue(language()).ngettext(one, many, number),
        "pgettext": lambda context, message: _catalogue(language()).pgettext(context, message),
        "npgettext": lambda context, one, many, number: _catalogue(language()).npgettext(
            context, one, many, number
        ),
        "newstyle": True,
    }


@cache
def _catalogue(code: str) -> NullTranslations:
    return NullTranslations() if code == DEFAULT else Translations.load(FOLDER, [code])


@cache
def _locale(tag: str) -> Locale:
    return Locale.parse(tag, sep="-")


def _is_locale(tag: str) -> bool:
    if not _WITH_REGION.fullmatch(tag):
        return False
    try:
        _locale(tag)
    except UnknownLocaleError:
        return False
    return True
