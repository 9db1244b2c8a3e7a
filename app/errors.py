"""Domain errors, in the business's own words.

Services raise them, each face maps them once to its own response. Nothing here knows HTTP. ``code``
is a stable machine word, ``message`` a sentence for users, ``problems`` name the fields concerned
in the words of the contract (camelCase, dotted: ``contact.phoneNumber``).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from hashlib import sha256
from operator import attrgetter
from typing import Any, ClassVar, Self

from app.languages import DEFAULT, LANGUAGES, gettext, language, lazy_gettext, ngettext
from app.languages.numbers import localize_number


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem with one field of the input."""

    field: str
    code: str
    message: str


@dataclass(eq=False)
class DomainError(Exception):
    """Base of everything a service refuses. ``extra`` is added to the details of the error body."""

    message: str
    code: str
    problems: Sequence[Problem] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.message


class ValidationFailed(DomainError):
    """The input is wrong: something in it must be changed before it can be accepted."""

    @classmethod
    def of(cls, *problems: Problem) -> "ValidationFailed":
        """Return one error for all problems, with the code of the first."""
        if len(problems) == 1:
            return cls(problems[0].message, problems[0].code, problems)
        message = ngettext(
            "%(num)s field needs changing.", "%(num)s fields need changing.", len(problems)
        )
        return cls(message, "validation_failed", problems)

    @classmethod
    def on(cls, field: str, code: str, message: str) -> "ValidationFailed":
        """Shorthand for a single problem."""
        return cls.of(Problem(field, code, message))


class Unauthenticated(DomainError):
    """No valid credential came with the request."""


class Forbidden(DomainError):
    """The credential is valid, but its role or scope is insufficient."""


class NotFound(DomainError):
    """Missing, or another tenant's: both get the same answer."""

    def __init__(self, message: str | None = None, code: str = "not_found"):
        super().__init__(message or gettext("Nothing was found at this address."), code)


class Conflict(DomainError):
    """Correct input that the current state refuses."""


class Gone(DomainError):
    """The operation has been retired."""


class TooLarge(DomainError):
    """More bytes, rows or characters than the documented limit."""


class UnsupportedMedia(DomainError):
    """A content type or encoding that the operation does not support."""


class RateLimited(DomainError):
    """Too many requests; ``retry_after`` is in whole seconds."""

    def __init__(self, message: str, retry_after: int, code: str = "rate_limited"):
        super().__init__(message, code)
        self.retry_after = retry_after


class Unavailable(DomainError):
    """The installation temporarily lacks something, such as disk space or a response of the file
    store; ``retry_after`` is in whole seconds."""

    def __init__(self, message: str, code: str = "unavailable", retry_after: int = 5):
        super().__init__(message, code)
        self.retry_after = retry_after


class NoRoom(Unavailable):
    """A disk of the installation is too full for the request."""


CHANGED_MEANWHILE = "changed_meanwhile"
_CHANGED = {
    "access": lazy_gettext("Someone else changed the access. Nothing was saved."),
    "account": lazy_gettext("Someone else changed the account. Nothing was saved."),
    "alert rule": lazy_gettext("Someone else changed the alert rule. Nothing was saved."),
    "assistant": lazy_gettext("Someone else changed the assistant. Nothing was saved."),
    "budget": lazy_gettext("Someone else changed the budget. Nothing was saved."),
    "call destinations": lazy_gettext(
        "Someone else changed the call destinations. Nothing was saved."
    ),
    "campaign": lazy_gettext("Someone else changed the campaign. Nothing was saved."),
    "check": lazy_gettext("Someone else changed the check. Nothing was saved."),
    "company account": lazy_gettext("Someone else changed the company account. Nothing was saved."),
    "contact": lazy_gettext("Someone else changed the contact. Nothing was saved."),
    "directory": lazy_gettext("Someone else changed the directory. Nothing was saved."),
    "directory group": lazy_gettext("Someone else changed the group. Nothing was saved."),
    "draft": lazy_gettext("Someone else changed the draft. Nothing was saved."),
    "organization": lazy_gettext("Someone else changed the organization. Nothing was saved."),
    "organization group": lazy_gettext("Someone else changed the group. Nothing was saved."),
    "partner": lazy_gettext("Someone else changed the partner. Nothing was saved."),
    "phone number": lazy_gettext("Someone else changed the phone number. Nothing was saved."),
    "plans": lazy_gettext("Someone else changed the plans. Nothing was saved."),
    "saved view": lazy_gettext("Someone else changed the saved view. Nothing was saved."),
    "schedule of the report": lazy_gettext(
        "Someone else changed the schedule of the report. Nothing was saved."
    ),
    "spending limits": lazy_gettext("Someone else changed the spending limits. Nothing was saved."),
    "template": lazy_gettext("Someone else changed the template. Nothing was saved."),
    "user": lazy_gettext("Someone else changed the user. Nothing was saved."),
    "webhook": lazy_gettext("Someone else changed the webhook. Nothing was saved."),
}
"""The message for each kind of record."""


def check_version(seen: int | None, stored: int, kind: str) -> None:
    """Raise `Conflict` (``changed_meanwhile``) if the stored version isn't the one that the user
    has seen; None skips the check. ``kind`` is a key of `_CHANGED`."""
    if seen is not None and seen != stored:
        raise Conflict(str(_CHANGED[kind]), CHANGED_MEANWHILE)


def content_version(content: bytes) -> int:
    """Return the version, for `check_version`, of content that is stored without a version."""
    return int(sha256(content).hexdigest()[:7], 16)


def raise_problems(problems: Iterable[Problem]) -> None:
    """Raise `ValidationFailed` with all problems, if there are any."""
    if all_problems := tuple(problems):
        raise ValidationFailed.of(*all_problems)


def check_all(*checks: Callable[[], object]) -> None:
    """Do each check, even if one before it fails. Raises `ValidationFailed` with the problems of
    all."""
    problems: list[Problem] = []
    for check in checks:
        try:
            check()
        except ValidationFailed as error:
            problems += error.problems
    raise_problems(problems)


def check_length(field: str, text: str | None, limit: int) -> None:
    """Raise `ValidationFailed` (``too_long``) for a text that is too long."""
    raise_problems(too_long(field, text, limit))


def too_long(field: str, text: str | None, limit: int) -> list[Problem]:
    """Return the problem of a text that is too long; empty for others."""
    if text is None or len(text) <= limit:
        return []
    message = gettext("Too long. Use at most %(most)s characters.", most=limit)
    return [Problem(field, "too_long", message)]


def unknown_language(language: str | None) -> list[Problem]:
    """Return the problem of a language that there isn't; None is no choice."""
    if language is None or language in LANGUAGES:
        return []
    message = gettext("Unknown language. Choose one of the list.")
    return [Problem("language", "unknown_language", message)]


class Sentence:
    """A message that may be stored in English and is translated when it is shown.

    `translate_stored` translates it. Called with its values it returns the message in the current
    language. Make it with `gettext` or `ngettext`, the names by which messages are collected for
    translation.
    """

    _all: ClassVar[list["Sentence"]] = []

    def __init__(self, singular: str, plural: str | None = None):
        self._one, self._many = singular, plural
        self.literals = len(_PLACEHOLDER.sub("", singular))
        """The characters besides placeholders: the more there are, the more reliable is a match."""
        self._all.append(self)

    @classmethod
    def gettext(cls, message: str) -> Self:
        return cls(message)

    @classmethod
    def ngettext(cls, singular: str, plural: str) -> Self:
        """Return a message with a plural, which is called with ``num``."""
        return cls(singular, plural)

    def __call__(self, **values: object) -> str:
        count = 1 if self._many is None else int(str(values["num"]))
        if language() == DEFAULT:  # without the catalogue: once for each row of a file
            form = self._one if self._many is None or count == 1 else self._many
            return form % values
        if self._many is None:
            return gettext(self._one, **values)
        return ngettext(self._one, self._many, count, **values)

    def __str__(self) -> str:
        return self()

    @property
    def outline(self) -> str:
        """Return the message in English, with ``{name}`` for a value."""
        return _PLACEHOLDER.sub(lambda match: f"{{{match[1].removesuffix(_MESSAGES)}}}", self._one)

    @property
    def placeholders(self) -> set[str]:
        """Return the names of its values."""
        forms = f"{self._one}{self._many or ''}"
        return {match[1] for match in _PLACEHOLDER.finditer(forms) if match[1]}

    def of_english(self, text: str) -> str | None:
        """Return the message in the current language if the text is this message in English."""
        values = self.values_in(text)
        return (
            None
            if values is None
            else self(**{k: _translate_value(k, v) for k, v in values.items()})
        )

    def values_in(self, text: str) -> dict[str, str] | None:
        """Return the values by name if the text is this message in English."""
        for literal, pattern in self._patterns:
            if literal in text and (match := pattern.fullmatch(text)):
                return match.groupdict()
        return None

    @cached_property
    def _patterns(self) -> list[tuple[str, re.Pattern[str]]]:
        """Return the longest literal part of each form, for a quick search, and its pattern."""
        forms = [form for form in (self._one, self._many) if form is not None]
        return [(_longest_literal(form), _pattern(form)) for form in forms]

    @classmethod
    def surest_first(cls) -> list["Sentence"]:
        return sorted(cls._all, key=attrgetter("literals"), reverse=True)


_PLACEHOLDER = re.compile(r"%\((\w+)\)s|%%")
_MESSAGES = "_words"
"""The suffix of placeholders that are replaced by another message."""
_NUMBER = "_number"
"""The suffix of placeholders that are replaced by a number such as 1,234."""
_VALUES = {
    **dict.fromkeys(("num", "last", "code"), r"\d+"),
    **dict.fromkeys(("phone", "email"), r"\S+"),
    "lead": r"\+?\d+(?: \d+)?",
    "first": r"[\d, ]+",
}
"""The patterns of values with a known form, by placeholder."""


def translate_stored(stored: str) -> str:
    """Return a stored English message in the current language: a `Sentence` with its values, or
    any message without values; other texts as they are."""
    if not stored or language() == DEFAULT:
        return stored
    return _translated(language(), stored) or gettext(stored.replace("%", "%%"))


@lru_cache(10_000)
def _translated(_language: str, stored: str) -> str | None:
    """Return the stored `Sentence` in the language, which is the current one; None for others."""
    translations = (each.of_english(stored) for each in _sentences())
    return next(filter(None, translations), None)


@cache
def _sentences() -> list[Sentence]:
    return Sentence.surest_first()


def _longest_literal(message: str) -> str:
    return max(_PLACEHOLDER.sub("\0", message).split("\0"), key=len)


def _pattern(message: str) -> re.Pattern[str]:
    """Return the pattern of the message with any values."""
    pattern, end, named = "", 0, set()
    for match in _PLACEHOLDER.finditer(message):
        name = match[1]
        if name is None:
            value_pattern = "%"
        elif name in named:
            value_pattern = f"(?P={name})"
        else:
            any_value = r"[\d,]+" if name.endswith(_NUMBER) else ".*?"
            value_pattern = f"(?P<{name}>{_VALUES.get(name, any_value)})"
            named.add(name)
        pattern += re.escape(message[end : match.start()]) + value_pattern
        end = match.end()
    return re.compile(pattern + re.escape(message[end:]), re.DOTALL)


def _translate_value(name: str, value: str) -> str:
    if name.endswith(_NUMBER):
        return localize_number(int(value.replace(",", "")))
    return (name.endswith(_MESSAGES) and _translated(language(), value)) or value
