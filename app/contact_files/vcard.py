"""Read vCard 2.1, 3.0 and 4.0: every card is a row, numbered in the order of the file.

RFC 2426 and RFC 6350, and what phones and address books write: folded lines, quoted-printable with
its own character set, groups with labels. Pictures, sounds and keys are left out.
"""

import re
from collections.abc import Iterator
from quopri import decodestring
from typing import BinaryIO, NamedTuple

from app.contact_files.encodings import TextEncoding, detect, text_of
from app.contact_files.errors import UnreadableFile
from app.contact_files.full_names import read_name
from app.contact_files.table import FileHeader, FileRow, ReadOptions, RowSource

_LINE = re.compile(r'(?:([\w-]+)\.)?([\w-]+)((?:;(?:"[^"]*"|[^":;])*)*):(.*)', re.DOTALL)
_PARAMETER = re.compile(r';((?:"[^"]*"|[^";])*)')
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_PARTS = re.compile(r"(?<!\\);")
_OF_APPLE = re.compile(r"_\$!<(.*)>!\$_")
_BINARY = frozenset({"PHOTO", "LOGO", "SOUND", "KEY"})
_SILENT = frozenset({"VERSION", "PRODID", "REV", "X-ABLABEL", "X-ABADR", "X-ABUID", "SOURCE"})
_NO_PHONE = ("fax", "pager", "modem", "bbs", "video")
_TYPES = ("cell", "iphone", "mobile", "home", "work", "main", "other")
_NAMES = {
    "ORG": "Organization",
    "TITLE": "Job title",
    "ROLE": "Role",
    "NOTE": "Note",
    "BDAY": "Birthday",
    "URL": "Website",
    "ADR": "Address",
    "NICKNAME": "Nickname",
    "CATEGORIES": "Categories",
    "UID": "UID",
    "GENDER": "Gender",
    "ANNIVERSARY": "Anniversary",
    "LABEL": "Address label",
}
_FIRST = ("First name", "Last name", "Name prefix", "Middle name", "Name suffix")


class _VcardProperty(NamedTuple):
    """A property: its name in upper case, parameters in lower case, its text, and the label of its
    group."""

    name: str
    parameters: dict[str, str]
    text: str
    group: str


class VCards(RowSource):
    kind = "vcard"

    def __init__(self, stream: BinaryIO, options: ReadOptions):
        super().__init__(stream, options)
        self._encoding: TextEncoding = detect(stream, options.encoding)
        self.encoding = self._encoding.name
        self.notes = ("encoding_guessed",) if self._encoding.guessed else ()
        names = dict.fromkeys(_FIRST[:2])
        for number, card in enumerate(self._cards(), 1):
            names.update(dict.fromkeys(card))
            if len(names) > self._limits.columns:
                raise UnreadableFile("too_many_columns", row=number, limit=self._limits.columns)
        if len(names) == 2 and not any(self._cards()):
            raise UnreadableFile("no_rows")
        ordered = sorted(names, key=_column_order)
        self.header = FileHeader(ordered, None, ())

    def records(self) -> Iterator[FileRow]:
        """Yield one row for each card."""
        names = self.header.names if self.header else []
        for number, card in enumerate(self._cards(), 1):
            yield FileRow(number, [card.get(name, "") for name in names])

    def _cards(self) -> Iterator[dict[str, str]]:
        """Yield each card by the names of its columns, also a card without an end."""
        values: list[_VcardProperty] | None = None
        depth = number = 0
        for line in self._lines():
            value = _parse_line(line)
            boundary = (value.name, value.text.strip().upper()) if value else ("", "")
            if boundary == ("BEGIN", "VCARD"):
                if values and values[-1].name == "AGENT":  # a card within a card
                    depth += 1
                    continue
                if values:
                    yield _cells_of_card(values)
                values, depth = [], 1
                number += 1
            elif boundary == ("END", "VCARD") and values is not None:
                depth -= 1
                if not depth:
                    yield _cells_of_card(values)
                    values = None
            elif value and values is not None and depth == 1:
                values.append(value)
                self._check(values, number)
        if values:
            yield _cells_of_card(values)

    def _check(self, values: list[_VcardProperty], number: int) -> None:
        limits, last = self._limits, values[-1]
        if len(last.text) > limits.cell and last.name not in _BINARY:
            raise UnreadableFile("field_too_long", row=number, limit=limits.cell)
        if len(values) > limits.columns:
            raise UnreadableFile("too_many_columns", row=number, limit=limits.columns)

    def _lines(self) -> Iterator[str]:
        """Yield unfolded lines. Of a line that is too long for a value only the beginning
        is kept."""
        text = text_of(self._stream, self._encoding)
        longest = self._limits.cell * 2
        try:
            whole: list[str] = []
            size = 0
            soft = False
            while line := text.readline(longest):
                bare = line.rstrip("\r\n")
                if soft or line[0] in " \t":
                    segment = bare if soft else bare[1:]
                    if size < longest:
                        whole.append(segment)
                    size += len(segment)
                else:
                    yield "".join(whole)
                    whole, size = [bare], len(bare)
                soft = _is_soft(whole, bare)
                if soft:
                    whole.append("\n")
            yield "".join(whole)
        finally:
            text.detach()


def _is_soft(whole: list[str], line: str) -> bool:
    """Return whether a quoted-printable value continues on the next line."""
    return line.endswith("=") and "QUOTED-PRINTABLE" in whole[0][:200].upper()


def _parse_line(line: str) -> _VcardProperty | None:
    match = _LINE.fullmatch(line)
    if match is None:
        return None
    name, text = match[2].upper(), match[4]
    parameters: dict[str, str] = {}
    for parameter in _PARAMETER.findall(match[3]):
        key, equals, value = parameter.partition("=")
        if not equals:  # version 2.1 writes TEL;CELL for TEL;TYPE=CELL
            key, value = "type", parameter
            if parameter.upper() in {"QUOTED-PRINTABLE", "BASE64"}:
                key = "encoding"
        key = key.lower()
        value = value.strip('"').lower()
        parameters[key] = f"{parameters[key]},{value}" if key in parameters else value
    if name not in _BINARY and parameters.get("encoding") == "quoted-printable":
        text = _decode_quoted_printable(text, parameters.get("charset", "utf-8"))
    return _VcardProperty(name, parameters, text, match[1] or "")


def _decode_quoted_printable(text: str, charset: str) -> str:
    data = decodestring(text.replace("=\n", "").encode("utf-8", "surrogateescape"))
    for name in (charset, "utf-8", "cp1252"):
        try:
            return data.decode(name)
        except (LookupError, UnicodeDecodeError):
            continue
    return data.decode("latin-1")


def _cells_of_card(values: list[_VcardProperty]) -> dict[str, str]:
    """Return a card's values by column; among equals, the preferred one comes first."""
    cells: dict[str, str] = {}
    whole = ""
    labels = {
        value.group: _plain_label(value.text) for value in values if value.name == "X-ABLABEL"
    }
    for value in sorted(values, key=_preference_key):
        if value.name in _BINARY or value.name in _SILENT:
            continue
        if value.name == "N":
            last, first, middle, prefix, suffix = (_split_components(value.text) + [""] * 5)[:5]
            name_cells = {"First name": first, "Last name": last, "Name prefix": prefix}
            name_cells |= {"Middle name": middle, "Name suffix": suffix}
            cells.update({name: text for name, text in name_cells.items() if text})
        elif value.name == "FN":
            whole = whole or _unescape(value.text)
        elif value.name == "TEL":
            _add_phone(cells, value, labels.get(value.group, "") if value.group else "")
        elif value.name == "EMAIL":
            _add_cell(cells, "E-mail", _unescape(value.text))
        else:
            text = ", ".join(component for component in _split_components(value.text) if component)
            _add_cell(
                cells, _NAMES.get(value.name, value.name.removeprefix("X-").capitalize()), text
            )
    if whole and "First name" not in cells and "Last name" not in cells:
        first, last, title = read_name(whole)
        name_cells = {"First name": first, "Last name": last, "Name prefix": title}
        cells.update({name: text for name, text in name_cells.items() if text})
    return {name: text for name, text in cells.items() if text}


def _preference_key(value: _VcardProperty) -> int:
    """Return the sort key: preference, then mobile numbers, then the order of the card."""
    types = value.parameters.get("type", "").split(",")
    preference = value.parameters.get("pref", "")
    if "pref" in types or preference:
        return int(preference[:3]) if preference.isdecimal() else 0
    return 101 if {"cell", "iphone"}.intersection(types) else 102


def _plain_label(text: str) -> str:
    """Return the label that a user, or Apple, gives a number: ``_$!<Assistant>!$_``."""
    plain = _unescape(text)
    match = _OF_APPLE.fullmatch(plain)
    return match[1] if match else plain


def _add_phone(cells: dict[str, str], value: _VcardProperty, label: str) -> None:
    types = value.parameters.get("type", "").split(",")
    text = re.sub(r"(?i)^tel:", "", _unescape(value.text))
    no_voice = label.casefold().split() + (types if "voice" not in types else [])
    other_kind = next((kind for kind in _NO_PHONE if kind in no_voice), None)
    if other_kind:
        _add_cell(cells, other_kind.capitalize(), text)
        return
    name = _add_cell(cells, "Phone", text)
    kind = label or next((kind for kind in _TYPES if kind in types), "")
    if name and kind:
        cells[f"{name} type"] = kind


def _add_cell(cells: dict[str, str], name: str, text: str) -> str:
    """Put a text under the name, or the name with a number; return that."""
    if not text:
        return ""
    unique, count = name, 1
    while unique in cells:
        count += 1
        unique = f"{name} {count}"
    cells[unique] = text
    return unique


def _split_components(text: str) -> list[str]:
    return [_unescape(component) for component in _PARTS.split(text)]


def _unescape(text: str) -> str:
    """Return a value without the backslashes that escape commas, semicolons and line breaks."""
    return _ESCAPED.sub(lambda m: "\n" if m[1] in "nN" else m[1], text).strip()


def _column_order(name: str) -> tuple[int, str]:
    """Order the columns: names first, then phones, e-mail addresses, and the rest by name."""
    if name in _FIRST:
        return 0, str(_FIRST.index(name))
    for rank, kind in enumerate(("Phone", "E-mail"), 1):
        if re.fullmatch(rf"{kind}(?: \d+)?", name):
            return rank, f"{name.removeprefix(kind).strip() or '1':0>4}"
    return 3, name
