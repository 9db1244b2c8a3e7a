"""The languages of the portal, and its words in the current one.

Messages are written in English where they are used: ``gettext`` translates them at once,
`lazy_gettext` each time they are shown, for names that are set when a module is imported.
``app/translations`` holds one catalogue for each language; a literal % in a message is written %%.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

from babel import Locale
from babel.support import LazyProxy, NullTranslations, Translations

from app.languages.current import (
    DEFAULT,
    LANGUAGES,
    best_tag,
    language,
    locale,
    set_language,
    using_language,
)
from app.languages.numbers import localize_number

FOLDER = Path(__file__).parent.parent / "translations"
_STOP_AFTER_VALUE = re.compile(r"(%\((\w+)\)s)\.(?![\w.])")
_ENDS_IN_STOP = re.compile(r"\.(</\w+>)*\Z")


_EMAIL_HYPHEN = re.compile(r"(?<=\b[Ee])-(?=[Mm]ails?\b(?!@))")


def with_whole_email(text: str) -> str:
    """Return the words with "E-Mail", the German and French word, with a hyphen at which no line
    ends. Inter has no such hyphen."""
    return _EMAIL_HYPHEN.sub("-\N{WORD JOINER}", text)


def translation(message: str) -> str:
    """Return the message in the current language, unformatted."""
    return _catalogue(language()).gettext(message)


def gettext(message: str, /, **values: object) -> str:
    """Return the message in the current language, with the values in its ``%(name)s``."""
    return without_second_stops(translation(message), values) % values


def without_second_stops(message: str, values: Mapping[str, object]) -> str:
    """Return the message, unformatted, without the full stops after values that end in one: a name
    such as "Roofing Inc." also ends a sentence."""
    ended = {
        name
        for name, value in values.items()
        if isinstance(value, str) and _ENDS_IN_STOP.search(value)
    }
    if not ended:
        return message
    return _STOP_AFTER_VALUE.sub(lambda match: match[1] if match[2] in ended else match[0], message)


def ngettext(singular: str, plural: str, number: int, /, **values: object) -> str:
    """Return the form of the message for the number, which it holds as ``%(num)s``: in the format
    of the current locale, unless it is given."""
    form = without_second_stops(_catalogue(language()).ngettext(singular, plural, number), values)
    return form % ({"num": localize_number(number)} | values)


def pgettext(context: str, message: str, /, **values: object) -> str:
    """As `gettext`, for a message that has several meanings in English."""
    form = cast(str, _catalogue(language()).pgettext(context, message))
    return without_second_stops(form, values) % values


def capitalized(text: str) -> str:
    """Return the text as the beginning of a sentence or line."""
    return text[0].upper() + text[1:]


def labelled(label: str, value: str) -> str:
    """Return a value after its label, with the punctuation of the current language between them."""
    return gettext("%(field)s: %(value)s", field=label, value=value)


def language_name(tag: str) -> str:
    """Return the name of a language in the current one, as in a sentence: "German", "alemán"."""
    return str(Locale.parse(tag, sep="-").get_display_name(locale()) or LANGUAGES[tag])


def gettext_noop(message: str) -> str:
    """Return the message as it is: `gettext` translates it later."""
    return message


def lazy_gettext(message: str, /, **values: object) -> str:
    """As `gettext`, translated each time it is shown. Join it with other text by an f-string or
    `str`."""
    return cast(str, LazyProxy(gettext, message, enable_cache=False, **values))


def lazy_pgettext(context: str, message: str, /, **values: object) -> str:
    """As `pgettext`, translated each time it is shown."""
    return cast(str, LazyProxy(pgettext, context, message, enable_cache=False, **values))


def jinja_callables() -> dict[str, Any]:
    """Return the functions that a Jinja environment with the ``i18n`` extension installs."""
    return {
        "gettext": translation,
        "ngettext": lambda singular, plural, number: _catalogue(language()).ngettext(
            singular, plural, number
        ),
        "pgettext": lambda context, message: _catalogue(language()).pgettext(context, message),
        "npgettext": lambda context, singular, plural, number: _catalogue(language()).npgettext(
            context, singular, plural, number
        ),
        "newstyle": True,
    }


@cache
def _catalogue(code: str) -> NullTranslations:
    return NullTranslations() if code == DEFAULT else Translations.load(FOLDER, [code])
