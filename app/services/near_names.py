"""Names similar to the searched words: with a wrong, missing or extra letter in a word, or with two
swapped neighbours."""

import re
from collections.abc import Sequence
from typing import TypeVar

from sqlalchemy import ColumnElement, Select, and_, or_, true
from sqlalchemy.orm import InstrumentedAttribute, Session, lazyload

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
    session: Session, rows: Select[NamedRow], model: type[NamedRow], words: str, limit: int
) -> Sequence[NamedRow]:
    """Return the first rows, by name, whose name `is_near` the words."""
    compared = rows.where(_may_be_near(model.name_key, words)).order_by(model.name_key, model.id)
    named_rows = session.execute(
        compared.with_only_columns(model.id, model.name).limit(MAX_COMPARED)
    )
    ids = [row.id for row in named_rows if is_near(row.name, words)][:limit]
    if not ids:
        return []
    return session.scalars(compared.where(model.id.in_(ids)).options(lazyload("*"))).all()


def is_near(text: str, words: str) -> bool:
    """Return whether each of the words is nearly a word of the text, or its beginning."""
    parts, wanted = _parts(text), _parts(words)
    return bool(wanted) and all(any(_is_like(part, word) for part in parts) for word in wanted)


def _is_like(part: str, word: str) -> bool:
    if len(word) < MIN_WORD_LENGTH:
        return part.startswith(word)
    if len(word) < MIN_BEGINNING_LENGTH:
        return _is_one_edit(part, word)
    return any(_is_one_edit(part[: len(word) + more], word) for more in (0, -1, 1))


def _is_one_edit(one: str, other: str) -> bool:
    """Return whether the two are equal, or one letter is wrong, missing or extra, or two are
    swapped."""
    pairs = enumerate(zip(one, other, strict=False))
    first_difference = next(
        (first_difference for first_difference, (a, b) in pairs if a != b),
        min(len(one), len(other)),
    )
    one, other = one[first_difference:], other[first_difference:]
    is_swapped = one[:2] == other[1::-1] and one[2:] == other[2:]
    return is_swapped or one[1:] in (other, other[1:]) or one == other[1:]


def _may_be_near(key: InstrumentedAttribute[str], words: str) -> ColumnElement[bool]:
    """Return a condition that all near names meet: one half of each word is right, or its middle
    letters are swapped."""
    conditions = []
    for word in _parts(words):
        spellings = [word]
        if len(word) >= MIN_WORD_LENGTH:
            half = len(word) // 2
            swapped = word[: half - 1] + word[half] + word[half - 1] + word[half + 1 :]
            spellings = [word[:half], word[half:], swapped]
        conditions.append(or_(*(key.contains(each, autoescape=True) for each in spellings)))
    return and_(true(), *conditions)


def _parts(text: str) -> list[str]:
    return re.findall(r"\w+", fold(text))
