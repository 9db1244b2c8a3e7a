"""The parts of a result that match the searched words, as ``<mark>``."""

from itertools import groupby

from markupsafe import Markup, escape

from app.models.folding import fold

MIN_DIGITS = 3


def highlighted(text: str, query: str) -> Markup:
    """Return the text with the words marked, whatever their accents and case: as one phrase or, if
    the phrase doesn't occur, each of them. Separators between the digits of a number don't
    matter."""
    needle = _normalize(query).strip()
    is_number = not any(map(str.isalpha, needle))
    if is_number:
        needle = "".join(filter(str.isdecimal, needle))
        if len(needle) < MIN_DIGITS:
            return escape(text)
    plain, indexes = [], []
    for index, character in enumerate(text):
        if is_number and not character.isdecimal():
            continue
        for letter in _normalize(character):
            plain.append(letter)
            indexes.append(index)
    plain_text = "".join(plain)
    marked: set[int] = set()
    for segment in [needle] if needle in plain_text else needle.split():
        start = plain_text.find(segment)
        while start >= 0:
            end = start + len(segment)
            marked.update(range(indexes[start], indexes[end - 1] + 1))
            start = plain_text.find(segment, end)
    html = Markup()
    for is_marked, run in groupby(enumerate(text), key=lambda item: item[0] in marked):
        segment = "".join(character for _, character in run)
        html += Markup("<mark>{}</mark>").format(segment) if is_marked else segment
    return html


def _normalize(text: str) -> str:
    return fold(text).replace("-", " ")
