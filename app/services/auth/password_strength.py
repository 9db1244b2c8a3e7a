"""How many guesses a password withstands, estimated by zxcvbn.

The package brings 30,000 common passwords from breaches, English words and names as data, and knows
keyboard patterns, dates, sequences, repetitions, reversed words and letters written as figures. The
first estimate of a process reads its lists: 7 MB and 10 ms. A later one takes some milliseconds.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from zxcvbn_rs_py import zxcvbn

LEAST_GUESSES = 10**9
"""A year of a processor against a stolen hash, at 30 ms a guess."""
LEAST_GUESSES_BESIDE_WORDS = 10**6
"""For what is left of a password without the words that everyone tries first."""
MOST_CHARACTERS = 48
"""Only the beginning is estimated: the work grows faster than the length."""
SHORTEST_WORD = 3

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
"""Words of the product and of its work, keyboard rows and months that the package lacks or finds
rarer than they are in passwords here."""

_UNSHIFTED = str.maketrans("!@#$%^&*()_+", "1234567890-=")
_FIGURES = str.maketrans("0134578@$!|", "oieastbasil")
"""Letters that are often written as figures or signs."""


def is_guessable(password: str, words: Iterable[str] = ()) -> bool:
    """Whether few guesses find the password. ``words`` are tried first, besides the common ones:
    names and addresses around the user."""
    first = [*_COMMON, *words_of(words)]
    plain = _plain(password)
    forms = {password, plain, password.casefold().translate(_UNSHIFTED)}
    if any(_guesses(form, first) < LEAST_GUESSES for form in forms):
        return True
    for form in _letters(password):
        rest = _without(form, first)
        if rest != form and _guesses(rest, first) < LEAST_GUESSES_BESIDE_WORDS:
            return True
    return False


def contains_word(password: str, words: Iterable[str]) -> bool:
    """Whether one of the words is in the password, also reversed or with figures as letters."""
    forms = _letters(password)
    return any(word in form or word[::-1] in form for word in words_of(words) for form in forms)


def words_of(texts: Iterable[str]) -> list[str]:
    """Each text in plain letters, its single words, and for an address the part before the @."""
    found: dict[str, None] = {}
    for text in texts:
        for part in (text, text.partition("@")[0], *re.split(r"[\W_]+", text)):
            found[_plain(part)] = None
    return [word for word in found if len(word) >= SHORTEST_WORD]


def _letters(password: str) -> set[str]:
    """The password in plain letters, as typed and with figures read as letters."""
    return {_plain(password), _plain(password.translate(_FIGURES))}


def _guesses(text: str, words: Sequence[str]) -> int:
    readable = text[:MOST_CHARACTERS].encode("utf-8", "replace").decode()
    return zxcvbn(readable, list(words)).guesses


def _plain(text: str) -> str:
    """Letters and figures alone, without accents and in lower case."""
    return "".join(
        sign for sign in unicodedata.normalize("NFKD", text.casefold()) if sign.isalnum()
    )


def _without(text: str, words: Sequence[str]) -> str:
    for word in sorted(words, key=len, reverse=True):
        text = text.replace(word, "")
    return text


_COMMON = tuple(words_of(_OWN_WORDS.split()))
