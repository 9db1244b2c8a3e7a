"""The current language and its locale.

It is English unless a face or a mail has set another (`set_language`), so the JSON and the log are
always English.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from babel import Locale, UnknownLocaleError

LANGUAGES = {"en": "English", "de": "Deutsch", "es": "Español", "fr": "Français"}
"""Language codes (BCP 47), each with its own name for itself."""

DEFAULT = "en"

_WITH_REGION = re.compile("[a-z]{2}-(?:[A-Z]{2}|[0-9]{3})")
_current: ContextVar[str] = ContextVar("language", default=DEFAULT)


def set_language(tag: str) -> None:
    """Set the current language: a code of `LANGUAGES`, with a region where it is known
    (``de-CH``)."""
    _current.set(tag)


def best_tag(languages: Iterable[str | None], accepted: Iterable[str] = ()) -> str:
    """Return the first of the ``languages`` that the portal has, else the first of the tags that
    the browser accepts, else English; with the region that the browser accepts for it."""
    tags = [tag for tag in accepted if tag.partition("-")[0].lower() in LANGUAGES]
    supported = next((code for code in languages if code in LANGUAGES), None)
    code = supported or (tags[0].partition("-")[0].lower() if tags else DEFAULT)
    return next((tag for tag in tags if tag.startswith(f"{code}-") and _is_locale(tag)), code)


@contextmanager
def using_language(tag: str) -> Iterator[None]:
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
    return _parse_locale(_current.get())


@cache
def _parse_locale(tag: str) -> Locale:
    return Locale.parse(tag, sep="-")


def _is_locale(tag: str) -> bool:
    if not _WITH_REGION.fullmatch(tag):
        return False
    try:
        _parse_locale(tag)
    except UnknownLocaleError:
        return False
    return True
