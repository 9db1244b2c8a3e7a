"""How many guesses a password withstands, estimated by zxcvbn.

The package brings 30,000 common passwords from breaches, English words and names as data, and knows
keyboard patterns, dates, sequences, repetitions, reversed words and letters written as digits. The
first estimate of a process loads its lists (7 MB); later ones take some milliseconds.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence

MIN_GUESSES = 10**9
"""Minimum guesses: a year of a processor against a stolen hash, at 30 ms a guess."""
MIN_GUESSES_BESIDE_WORDS = 10**6
"""Minimum guesses for the rest of a password without the words that everyone tries first."""
MAX_CHARACTERS = 48
"""Characters from the beginning that are estimated: the work grows faster than the length."""
MIN_WORD_LENGTH = 3

_OWN_WORDS = """
partner portal receptionist assistant agent campaign contact contacts customer client organization
company office business team voice phone telephone call calls calling callcenter center desk
service support sales admin administrator operator user guest default demo test secret change
changeme password passwort kennwort passwords motdepasse contraseña senha wachtwoord heslo hasło
lösenord salasana пароль welcome willkommen bienvenue bienvenido benvenuto welkom hello
letmein iloveyou
qwertzuiop azertyuiop йцукенгшщзхъ фывапролджэ ячсмитьбю
spring summer autumn winter frühling sommer herbst printemps automne hiver verano invierno
january february march april june july august september october november december
januar februar märz juni juli oktober dezember enero febrero marzo junio julio agosto octubre
noviembre diciembre janvier février mars avril juin juillet août octobre décembre
monday tuesday wednesday thursday friday saturday sunday
"""
"""Words of the product and its field, keyboard rows and months that the package lacks or considers
rarer than they are in passwords here."""

_UNSHIFTED = str.maketrans("!@#$%^&*()_+", "1234567890-=")
_WRITTEN_AS = {
    "a": "a4@", "b": "b8", "e": "e3", "i": "i1!|", "l": "l1|", "o": "o0", "s": "s5$", "t": "t7",
}  # fmt: skip
"""Letters that are often written as digits or signs."""


def is_guessable(password: str, words: Iterable[str] = ()) -> bool:
    """Return whether few guesses find the password. ``words`` are tried first, besides the common
    ones: names and addresses around the user."""
    first = [*_COMMON, *words_of(words)]
    if _estimate_guesses(password, first) < MIN_GUESSES:
        return True
    remaining, removed = _pattern(first).subn("", _to_letters(password))
    return removed > 0 and _estimate_guesses(remaining, first) < MIN_GUESSES_BESIDE_WORDS


def contains_word(password: str, words: Iterable[str]) -> bool:
    """Return whether one of the words is in the password, also reversed or with digits for
    letters."""
    plain_words = words_of(words)
    return bool(plain_words) and _pattern(plain_words).search(_to_letters(password)) is not None


def words_of(texts: Iterable[str]) -> list[str]:
    """Each text in plain letters, its single words, and for an address the part before the @."""
    words: dict[str, None] = {}
    for text in texts:
        for segment in (text, text.partition("@")[0], *re.split(r"[\W_]+", text)):
            words[_to_plain(segment)] = None
    return [word for word in words if len(word) >= MIN_WORD_LENGTH]


def _estimate_guesses(text: str, words: Sequence[str]) -> int:
    """Return the lowest estimate of the text as typed, in plain letters, and typed without the
    shift key."""
    from zxcvbn_rs_py import zxcvbn

    forms = {text, _to_plain(text), text.casefold().translate(_UNSHIFTED)}
    readable = [form[:MAX_CHARACTERS].encode("utf-8", "replace").decode() for form in forms]
    return min(zxcvbn(form, list(words)).guesses for form in readable)


def _to_plain(text: str) -> str:
    """Return only letters and digits, without accents and in lower case."""
    return "".join(sign for sign in _decompose(text) if sign.isalnum())


def _to_letters(text: str) -> str:
    """As `_to_plain`, with the letters that signs stand for."""
    return "".join(sign for sign in _decompose(text) if sign.isalnum() or sign in "@!|$")


def _decompose(text: str) -> str:
    return unicodedata.normalize("NFKD", text.casefold())


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that finds the words, forwards and reversed, longest first."""
    forms = {form for word in words for form in (word, word[::-1])}
    longest_first = sorted(forms, key=len, reverse=True)
    return re.compile("|".join("".join(map(_letter_pattern, word)) for word in longest_first))


def _letter_pattern(letter: str) -> str:
    return f"[{re.escape(_WRITTEN_AS.get(letter, letter))}]"


_COMMON = tuple(words_of(_OWN_WORDS.split()))
