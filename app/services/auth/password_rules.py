"""What a new password must be: long, and not one that is guessed first (NIST SP 800-63B, 5.1.1.2).

No kind of character is asked for: such rules make passwords alike, not stronger.
"""

import re
from collections.abc import Iterable

from app.errors import ValidationFailed
from app.services.auth.passwords import MAX_LENGTH

MIN_LENGTH = 12
LONGEST_UNIT = 4
"""The longest text whose repetition counts once: "abcabcabcabc" is as weak as "abc"."""

COMMONEST = frozenset(
    """
    password passwort passwords passw0rd p@ssword p@ssw0rd motdepasse contrasena contraseña senha
    administrator admin welcome willkommen letmein changeme default secret iloveyou sunshine
    princess football baseball basketball superman batman dragon monkey master shadow michael
    jennifer charlie starwars whatever trustno login access hello computer internet samsung google
    qwerty qwertz azerty qwertyuiop qwertzuiop azertyuiop asdfgh asdfghjkl zxcvbn zxcvbnm yxcvbnm
    liverpool chelsea arsenal summer winter spring autumn january december
    """.split()  # noqa: SIM905 - a list to be read
)
"""Words that the commonest passwords are made of; with figures and signs around them too."""

_ROWS = ("abcdefghijklmnopqrstuvwxyz", "0123456789", "qwertyuiop", "qwertzuiop", "asdfghjkl")
_EDGES = re.compile(r"^[\W\d_]+|[\W\d_]+$")


def check(password: str, *, known: Iterable[str | None] = ()) -> None:
    """Raises `ValidationFailed` on ``password`` (``too_short``, ``too_long``, ``too_common``,
    ``too_close``). ``known`` are words that lie close: address, name, product."""
    if len(password) < MIN_LENGTH:
        count = "1 character" if len(password) == 1 else f"{len(password)} characters"
        raise _refused("too_short", f"Too short: {count}. Use at least {MIN_LENGTH}.")
    if len(password) > MAX_LENGTH:
        raise _refused("too_long", f"Too long. Use at most {MAX_LENGTH} characters.")
    plain = password.casefold()
    if _is_repeated(plain) or _is_a_run(plain):
        message = "This password only repeats or counts. Use several unrelated words."
        raise _refused("too_common", message)
    core = _EDGES.sub("", plain)
    if {core, plain, _EDGES.sub("", _unit(plain))} & COMMONEST:
        message = "This password is too common. Use several unrelated words."
        raise _refused("too_common", message)
    near = {word.casefold().strip() for text in known if text for word in _words_of(text)}
    if {plain, core} & near:
        message = (
            "This is easy to guess: your email, your name or the product’s name. Choose another."
        )
        raise _refused("too_close", message)


def _words_of(text: str) -> list[str]:
    """The text, and for an address the part before the @."""
    return [text, text.replace(" ", ""), text.partition("@")[0]]


def _is_repeated(text: str) -> bool:
    return any(
        text == (text[:unit] * len(text))[: len(text)] for unit in range(1, LONGEST_UNIT + 1)
    )


def _unit(text: str) -> str:
    """What the text repeats whole; the text itself where it repeats nothing."""
    return text[: (text + text).index(text, 1)]


def _is_a_run(text: str) -> bool:
    """Whether it goes along the alphabet, the figures or a row of keys and back to its begin."""
    for row in _ROWS:
        for line in (row, row[::-1]):
            if text in line * (len(text) // len(line) + 2):
                return True
    return False


def _refused(code: str, message: str) -> ValidationFailed:
    return ValidationFailed.on("password", code, message)
