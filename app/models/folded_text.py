"""Search stored text that has no folded column.

SQLite calls `fold` for each text, which is quick because it runs in this process. PostgreSQL, where
folding takes ten times as long, searches by a pattern of every spelling of the words.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from sqlalchemy import Boolean, ColumnElement, Engine, and_, event, literal, or_
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from app.models.base import has_umlauts
from app.models.folding import fold, other_spellings

_FOLDED = (range(0x20, 0x3400), range(0xFB00, 0xFB07), range(0xFF00, 0xFFF0))
"""Letters outside of these are their own folded form: Chinese, Hangul, emoji."""
_ACCENTS = r"[\u0300-\u036f]*"


def holds_words(text: InstrumentedAttribute[Any], query: str) -> ColumnElement[bool]:
    """Return the condition that the stored text contains the words, as `contains_words`. It reads
    each row that the query's other conditions leave."""
    conditions: list[ColumnElement[bool]] = [_contains_folded(text, fold(query))]
    for spelling, umlauts in other_spellings(query):
        conditions.append(and_(_contains_folded(text, spelling), has_umlauts((text,), umlauts)))
    return or_(*conditions)


def _contains_folded(text: InstrumentedAttribute[Any], folded: str) -> ColumnElement[bool]:
    folded = folded.replace("\x00", "")
    return _Holds(text, literal(folded), literal(_postgres_pattern(folded)))


class _Holds(FunctionElement[bool]):
    """Whether a text contains folded words; the second argument is for SQLite, the third for
    PostgreSQL."""

    type = Boolean()
    inherit_cache = True


@compiles(_Holds, "sqlite")
def _on_sqlite(element: _Holds, compiler: SQLCompiler, **options: Any) -> str:
    text, folded, _ = (compiler.process(each, **options) for each in element.clauses)
    return f"(instr(fold({text}), {folded}) > 0)"


@compiles(_Holds, "postgresql")
def _on_postgresql(element: _Holds, compiler: SQLCompiler, **options: Any) -> str:
    text, _, pattern = (compiler.process(each, **options) for each in element.clauses)
    return f"({text} ~ {pattern})"


@event.listens_for(Engine, "connect")
def _add_function(connection: Any, _record: Any) -> None:
    """Give connections to SQLite the function `fold`."""
    if hasattr(connection, "create_function"):
        connection.create_function("fold", 1, _fold_value, deterministic=True)


def _fold_value(value: str | None) -> str | None:
    return None if value is None else fold(value)


def _postgres_pattern(folded: str) -> str:
    """Return a regular expression of PostgreSQL for the texts that `fold` makes contain this."""
    last = len(folded) - 1
    patterns, position = [], 0
    while position <= last:
        letter, pair = folded[position], folded[position : position + 2]
        letters = {letter, *_letters_by_folded().get(letter, ())}
        if position == 0:
            letters |= {
                each
                for folded_pair, letters_of_pair in _pairs_by_folded()
                if folded_pair[1] == letter
                for each in letters_of_pair
            }
        if position == last:
            letters |= {
                each
                for folded_pair, letters_of_pair in _pairs_by_folded()
                if folded_pair[0] == letter
                for each in letters_of_pair
            }
        pattern = _character_class(letters) + _ACCENTS
        whole = dict(_pairs_by_folded()).get(pair)
        if whole:
            second = _character_class({pair[1], *_letters_by_folded().get(pair[1], ())})
            pattern = f"(?:{pattern}{second}|{_character_class(whole)}){_ACCENTS}"
        patterns.append(pattern)
        position += 2 if whole else 1
    return "".join(patterns)


def _character_class(letters: set[str]) -> str:
    return "[{}]".format("".join(sorted(map(_escape_letter, letters))))


def _escape_letter(letter: str) -> str:
    return f"\\u{ord(letter):04x}" if ord(letter) < 0x10000 else f"\\U{ord(letter):08x}"


@cache
def _letters_by_folded() -> dict[str, set[str]]:
    """Return the letters that `fold` makes each single one."""
    return _by_folded(1)


@cache
def _pairs_by_folded() -> tuple[tuple[str, set[str]], ...]:
    """Return the letters that `fold` makes two: ``æ``, ``ß``."""
    return tuple((pair, letters) for pair, letters in _by_folded(2).items() if pair.isalpha())


def _by_folded(length: int) -> dict[str, set[str]]:
    by_folded: dict[str, set[str]] = {}
    for letter in _foldable_letters():
        folded = fold(letter)
        if len(folded) == length:
            by_folded.setdefault(folded, set()).add(letter)
    return by_folded


def _foldable_letters() -> Iterator[str]:
    return (chr(code) for codes in _FOLDED for code in codes)
