"""Names similar to the searched words: with a wrong, missing or extra letter in a word, or with two
swapped neighbours."""

import re
from collections.abc import Sequence
from typing import TypeVar

from sqlalchemy import ColumnElement, Select, and_, or_, true
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.models import Assistant, Campaign, Organization, Partner
from app.models.folding import fold

NamedRow = TypeVar("NamedRow", Assistant, Campaign, Organization, Partner)
MIN_WORD_LENGTH = 4
"""Minimum letters: a shorter word must be exact, because too many words differ from it by one
letter."""
MIN_BEGINNING_LENGTH = 6
"""Minimum letters of a word that may also be the beginning of a longer one."""
MAX_COMPARED = 2000


def nearest(
    session: Session, rows: Select[NamedRow], model: type[NamedRow], query: str, limit: int
) -> Sequence[NamedRow]:
    """Return the first rows, by name, whose name `is_near` the words."""
    candidates = rows.where(_may_be_near(model.name_key, query)).order_by(model.name_key, model.id)
    named_rows = session.execute(
        candidates.with_only_columns(model.id, model.name).limit(MAX_COMPARED)
    )
    ids = [row.id for row in named_rows if is_near(row.name, query)][:limit]
    if not ids:
        return []
    return session.scalars(candidates.where(model.id.in_(ids))).all()


def is_near(text: str, query: str) -> bool:
    """Return whether each of the words is nearly a word of the text, or its beginning."""
    text_words, query_words = _words_of(text), _words_of(query)
    return bool(query_words) and all(
        any(_is_like(text_word, word) for text_word in text_words) for word in query_words
    )


def _is_like(text_word: str, word: str) -> bool:
    if len(word) < MIN_WORD_LENGTH:
        return text_word.startswith(word)
    if len(word) < MIN_BEGINNING_LENGTH:
        return _is_one_edit(text_word, word)
    return any(_is_one_edit(text_word[: len(word) + more], word) for more in (0, -1, 1))


def _is_one_edit(first: str, second: str) -> bool:
    """Return whether the two are equal, or one letter is wrong, missing or extra, or two are
    swapped."""
    pairs = enumerate(zip(first, second, strict=False))
    first_difference = next(
        (first_difference for first_difference, (a, b) in pairs if a != b),
        min(len(first), len(second)),
    )
    first, second = first[first_difference:], second[first_difference:]
    is_swapped = first[:2] == second[1::-1] and first[2:] == second[2:]
    return is_swapped or first[1:] in (second, second[1:]) or first == second[1:]


def _may_be_near(key: InstrumentedAttribute[str], query: str) -> ColumnElement[bool]:
    """Return a condition that all near names meet: one half of each word is right, or its middle
    letters are swapped."""
    conditions = []
    for word in _words_of(query):
        spellings = [word]
        if len(word) >= MIN_WORD_LENGTH:
            half = len(word) // 2
            swapped = word[: half - 1] + word[half] + word[half - 1] + word[half + 1 :]
            spellings = [word[:half], word[half:], swapped]
        conditions.append(or_(*(key.contains(each, autoescape=True) for each in spellings)))
    return and_(true(), *conditions)


def _words_of(text: str) -> list[str]:
    return re.findall(r"\w+", fold(text))
