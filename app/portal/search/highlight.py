"""The parts of a result that match the searched words, as ``<mark>``."""

from itertools import groupby

from markupsafe import Markup, escape

from app.models.folding import fold

MIN_DIGITS = 3


def highlighted(text: str, words: str) -> Markup:
    """Return the text with the words marked, whatever their accents and case: as one phrase or, if
    the phrase doesn't occur, each of them. Separators between the digits of a number don't
    matter."""
    wanted = _plain(words).strip()
    is_number = not any(map(str.isalpha, wanted))
    if is_number:
        wanted = "".join(filter(str.isdecimal, wanted))
        if len(wanted) < MIN_DIGITS:
            return escape(text)
    plain, places = [], []
    for place, character in enumerate(text):
        if is_number and not character.isdecimal():
            continue
        for letter in _plain(character):
            plain.append(letter)
            places.append(place)
    plain_text = "".join(plain)
    marked: set[int] = set()
    for part in [wanted] if wanted in plain_text else wanted.split():
        start = plain_text.find(part)
        while start >= 0:
            end = start + len(part)
            marked.update(range(places[start], places[end - 1] + 1))
            start = plain_text.find(part, end)
    shown = Markup()
    for is_marked, run in groupby(enumerate(text), key=lambda item: item[0] in marked):
        part = "".join(character for _, character in run)
        shown += Markup("<mark>{}</mark>").format(part) if is_marked else part
    return shown


def _plain(text: str) -> str:
    return fold(text).replace("-", " ")
