"""The words by which a person is found in texts, and their replacement."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import quote

import phonenumbers
from sqlalchemy import ColumnElement, Text, cast, or_
from sqlalchemy.orm import InstrumentedAttribute

MIN_NAME_LENGTH = 5
"""Minimum letters of a full name that is searched in texts about others."""


@dataclass(frozen=True)
class SubjectWords:
    """A person's numbers, addresses and full names. Single names aren't searched in texts, because
    many people share them."""

    phones: Sequence[str] = ()
    emails: Sequence[str] = ()
    names: Sequence[str] = field(default=())

    @cached_property
    def spellings(self) -> list[str]:
        """Every way in which the words are stored, the longest first."""
        variants = {spelling for phone in self.phones for spelling in _spellings_of(phone)}
        texts = [*self.emails, *(name for name in self.names if _is_full(name))]
        for text in texts:
            variants |= {text, quote(text), quote(text, safe=""), json.dumps(text)[1:-1]}
            variants.add(text.replace(" ", "+"))
        return sorted(variants, key=lambda text: (-len(text), text))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        either = "|".join(re.escape(spelling) for spelling in self.spellings)
        return re.compile(rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE)

    @cached_property
    def _digits(self) -> list[str]:
        return [str(phonenumbers.parse(phone).national_number) for phone in self.phones]

    def match_columns(
        self, *columns: ColumnElement[Any] | InstrumentedAttribute[Any]
    ) -> ColumnElement[bool]:
        """Return the condition that one of the columns may hold one of the words."""
        texts = [cast(column, Text) for column in columns]
        return or_(
            *(text.icontains(word, autoescape=True) for text in texts for word in self.spellings)
        )

    def occur_in(self, value: Any) -> bool:
        """Return whether a value of any kind contains one of the words; numbers in any notation."""
        for text in _iter_texts(value):
            if self._pattern.search(text):
                return True
            if self._digits and any(digits in _only_digits(text) for digits in self._digits):
                return True
        return False

    def replace_in(self, value: Any, pseudonym: str) -> Any:
        """Return the value with the pseudonym in place of the words."""
        if isinstance(value, str):
            return self._pattern.sub(pseudonym, value) if self.spellings else value
        if isinstance(value, Mapping):
            return {
                self.replace_in(key, pseudonym): self.replace_in(item, pseudonym)
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [self.replace_in(item, pseudonym) for item in value]
        return value


def _is_full(name: str) -> bool:
    return " " in name.strip() and len(name.strip()) >= MIN_NAME_LENGTH


def _spellings_of(phone: str) -> set[str]:
    parsed = phonenumbers.parse(phone)
    formats = phonenumbers.PhoneNumberFormat
    formatted = {
        phonenumbers.format_number(parsed, kind)
        for kind in (formats.INTERNATIONAL, formats.NATIONAL, formats.RFC3966)
    }
    return {phone, phone[1:], quote(phone), str(parsed.national_number)} | formatted


def _only_digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def _iter_texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _iter_texts(key)
            yield from _iter_texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _iter_texts(item)
