"""How people write numbers: which characters only format, and what else a cell may hold."""

import re
import unicodedata

from app.errors import Sentence, ValidationFailed

# ASCII marks and their typographic relatives: spaces that do not break, hyphens, dashes, minus.
_FORMATTING = dict.fromkeys(
    map(ord, " .()-/\u00a0\u2007\u2009\u202f\u2010\u2011\u2012\u2013\u2014\u2212")
) | {ord(kept): kept for kept in "+0123456789"}  # else each costs `translate` an exception
_MAX_NUMBER_LENGTH = len("+123456789012345")
MAX_SEARCHED = 200
"""Maximum characters that are searched for extensions and several numbers, because the time grows
with more than their square."""
_PLAIN = re.compile(r"\+?[0-9]+", re.ASCII)

_ANNOUNCED = r"(?<![a-z])(?:extension|extn|ext|x|anexo|poste|durchwahl|dw)[\s.:]*"
_PAUSES = r"(?<=\d)(?:,{2,}|p+|w+)"
"""Characters at which telephones pause before they dial on; a single comma may also separate two
numbers."""
_EXTENSION = re.compile(
    rf"(?P<number>.*\d.*?)(?:[\s,;(]*(?:;ext=|{_ANNOUNCED}|\#\s*)|{_PAUSES})"
    r"(?P<extension>[0-9]{1,7})\#?\)?",
    re.ASCII | re.IGNORECASE,
)
_AN_EXTENSION = re.compile(rf"\d.*{_ANNOUNCED}\d", re.ASCII | re.IGNORECASE)
_BETWEEN_NUMBERS = re.compile(
    r"[;,|\n\r\t]|\s(?:&|or|oder|ou|o|and|und|et|y|e|od\.?|bzw\.?|o\.|u\.)\s", re.IGNORECASE
)
_TWO_PLUSES = re.compile(r"\+[^+]*[0-9][^+]*\+")
_TWO_AREA_CODES = re.compile(r"(?:\([0-9]{2,5}\)[^()]*[0-9]{4}\W*){2}", re.ASCII)
_LETTERS = re.compile(r"[^\W\d_]+")
_NOT_DIGITS = re.compile(r"[^0-9]+", re.ASCII)

_SEVERAL = Sentence.gettext("Several numbers in one field. Enter only one.")
_EXTENSION_TOO = Sentence.gettext("Has an extension. Enter only the number.")
_EMPTY = Sentence.gettext("Enter a phone number.")
_PLUS_MISPLACED = Sentence.gettext("Write + once, in front of the number.")
_INVISIBLE = Sentence.gettext("Has an invisible character (%(character)s). Type the number again.")
_OTHER_DIGIT = Sentence.gettext("The digit %(digit)s is not 0 to 9. Type the number again.")
_HAS_LETTERS = Sentence.gettext("Has letters. Write the number in digits.")
_NO_PART = Sentence.gettext("Has %(character)s, which is not part of a phone number.")


class PhoneError(ValidationFailed):
    """A number that cannot be stored or called; ``message`` says what would be right.

    Make the message by a `Sentence`: what is wrong with the rows of contact files is stored.
    """

    def __init__(self, code: str, message: str):
        super().__init__(message, code)


def digits_of(raw: str) -> str:
    """Return the ASCII digits of a written number, with ``+`` in front if it was written.

    Raises PhoneError: ``empty``, ``several_phones``, ``extension``, ``letters``,
    ``unreadable_characters``, ``plus_misplaced``.
    """
    text = raw.strip()
    digits = text.translate(_FORMATTING)
    if _PLAIN.fullmatch(digits):
        doubtful = "/" in text or len(digits) > _MAX_NUMBER_LENGTH
        if not (doubtful and holds_several_numbers(text)):
            return digits
    raise _refusal(text, digits)


def _refusal(text: str, digits: str) -> PhoneError:
    if holds_several_numbers(text):
        return PhoneError("several_phones", _SEVERAL())
    if split_extension(text)[1]:
        return PhoneError("extension", _EXTENSION_TOO())
    for character in digits:
        if not (character.isascii() and character.isdigit()) and character != "+":
            return _strange_character(character)
    if not digits.strip("+"):
        return PhoneError("empty", _EMPTY())
    return PhoneError("plus_misplaced", _PLUS_MISPLACED())


def _strange_character(character: str) -> PhoneError:
    if unicodedata.category(character) in {"Cf", "Cc", "Mn"}:
        message = _INVISIBLE(character=f"U+{ord(character):04X}")
        return PhoneError("unreadable_characters", message)
    if character.isdigit():
        message = _OTHER_DIGIT(digit=character)
        return PhoneError("unreadable_characters", message)
    if character.isalpha():
        return PhoneError("letters", _HAS_LETTERS())
    message = _NO_PART(character=character)
    return PhoneError("unreadable_characters", message)


def split_extension(raw: str) -> tuple[str, str | None]:
    """Split a number from its extension: ``("020 7946 0000", "45")``; without one, or if the text
    is too long for a number, return the text and None."""
    text = raw.strip()
    match = _EXTENSION.fullmatch(text) if len(text) <= MAX_SEARCHED else None
    if match is None:
        return raw, None
    return match["number"].strip(), match["extension"]


def holds_several_numbers(raw: str) -> bool:
    """Return whether a cell names more than one number, also in the short form ``030
    1234567/8``."""
    text = raw.strip()[:MAX_SEARCHED]
    if _TWO_PLUSES.search(text) or _TWO_AREA_CODES.search(text):
        return True
    digit_counts = [len(_NOT_DIGITS.sub("", section)) for section in _BETWEEN_NUMBERS.split(text)]
    if sum(length >= 6 for length in digit_counts) > 1:
        return True
    if "/" in text and _slash_parts_numbers(text):
        return True
    word_digit_counts = [len(_NOT_DIGITS.sub("", word)) for word in text.split()]
    if sum(length >= 9 for length in word_digit_counts) > 1:
        return True
    labelled = [len(_NOT_DIGITS.sub("", section)) for section in _LETTERS.split(text)]
    return sum(length >= 7 for length in labelled) > 1 and not _AN_EXTENSION.search(text)


def _slash_parts_numbers(text: str) -> bool:
    """A slash after an area code only formats; later it separates numbers or their last digits."""
    lengths = [len(_NOT_DIGITS.sub("", section)) for section in text.split("/")]
    lead = text.lstrip("( ")
    area_code = 10 if lead.startswith("00") else 8 if lead[0] == "+" else 6 if lead[0] == "0" else 4
    return any(length > area_code for length in lengths[:-1]) or lengths[-1] < 2
