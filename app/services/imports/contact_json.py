"""The last columns of an exported file: JSON for what its other cells can't express.

An object of ``firstName lastName email phone status`` (texts), ``contactMetadata`` (texts, numbers
and booleans) and ``externalIds`` (key -> value, or ``{"value", "identifies"}``). The column is
``contactJson``; a contact that is too large for one cell continues in ``contactJson2``.
"""

import re
from collections.abc import Mapping
from typing import Any

import orjson

from app.errors import Sentence
from app.schemas.checks import MAX_METADATA_KEY
from app.services.imports.cells import CellNote

COLUMN = "contactJson"
_COLUMNS = re.compile(rf"{COLUMN}(?:[2-9]|[1-9][0-9])?")
FULL = 40 * 1024
"""Characters after which a cell is full. The longest part of a contact, a metadata value of
characters that JSON escapes with six, is 6,400: no cell reaches the reader's limit."""
TEXTS = ("firstName", "lastName", "email", "phone", "status")
_KNOWN = frozenset({*TEXTS, "contactMetadata", "externalIds"})


def is_json_column(name: str) -> bool:
    return _COLUMNS.fullmatch(name) is not None


def columns_for(size: int) -> list[str]:
    """Return the columns that hold this many characters of JSON (see `write_exact`)."""
    numbers = range(2, size // FULL + 2)
    return [COLUMN, *(f"{COLUMN}{number}" for number in numbers)]


def size_of(value: Any) -> int:
    return len(orjson.dumps(value).decode())


def write_exact(values: Mapping[tuple[str, str], Any], columns: int) -> list[str]:
    """Return the cells of this many columns for ``values``, each under its name (and its key, for
    metadata and external ids); the cells that are not needed are empty."""
    cells: list[dict[str, Any]] = [{}]
    size = 0
    for (name, key), value in values.items():
        if size >= FULL and len(cells) < columns:
            cells.append({})
            size = 0
        if name in ("contactMetadata", "externalIds"):
            cells[-1].setdefault(name, {})[key] = value
        else:
            cells[-1][name] = value
        size += size_of([key or name, value])
    texts = [orjson.dumps(cell).decode() if cell else "" for cell in cells]
    return texts + [""] * (columns - len(texts))


_NO_OBJECT = Sentence.gettext("This isn't a JSON object like those in an export.")
_METADATA_WRONG = Sentence.gettext("Metadata are texts, numbers, true or false under their names.")
_NAME_TOO_LONG = Sentence.gettext("The name “%(name)s” has more than %(most)s characters.")
_NO_PART = Sentence.gettext("“%(name)s” is no part of a contact.")
_NO_TEXT = Sentence.gettext("“%(name)s” is a text.")
_IDS_WRONG = Sentence.gettext("External ids are texts under their names.")


def read_exact(text: str, column: int) -> tuple[dict[str, Any], CellNote | None]:
    """Return the object in a cell; an empty one and a note if it can't be used."""
    try:
        contact = orjson.loads(text)
    except orjson.JSONDecodeError:
        contact = None
    if not isinstance(contact, dict) or _holds_nul(text):
        return {}, _invalid_cell(column, _NO_OBJECT())
    problem = (
        _unknown_name_message(contact)
        or _unusable_texts(contact)
        or _unusable_ids(contact.get("externalIds"))
    )
    if problem:
        return {}, _invalid_cell(column, problem)
    metadata = contact.get("contactMetadata", {})
    if not isinstance(metadata, dict) or not all(map(_is_plain, metadata.values())):
        return {}, _invalid_cell(column, _METADATA_WRONG())
    if long := next((key for key in metadata if len(key) > MAX_METADATA_KEY), None):
        message = _NAME_TOO_LONG(name=f"{long[:20]}…", most=MAX_METADATA_KEY)
        return {}, CellNote(column, "key_too_long", message)
    return contact, None


def _holds_nul(text: str) -> bool:
    """Return whether a name or a text in the JSON has NUL, which PostgreSQL refuses."""
    return r"\u0000" in text.replace(r"\\", "")


def _unknown_name_message(contact: dict[str, Any]) -> str | None:
    name = next((name for name in contact if name not in _KNOWN), None)
    return _NO_PART(name=name[:100]) if name is not None else None


def _unusable_texts(contact: dict[str, Any]) -> str | None:
    name = next((n for n in TEXTS if n in contact and not _is_text(contact[n])), None)
    return _NO_TEXT(name=name) if name else None


def _unusable_ids(ids: Any) -> str | None:
    is_valid = ids is None or (isinstance(ids, dict) and all(map(_is_id, ids.values())))
    return None if is_valid else _IDS_WRONG()


def _is_id(value: Any) -> bool:
    if isinstance(value, dict):
        return (
            value.keys() == {"value", "identifies"}
            and _is_text(value["value"])
            and isinstance(value["identifies"], bool)
        )
    return _is_text(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_plain(value: Any) -> bool:
    return isinstance(value, bool | int | float) or _is_text(value)


def _invalid_cell(column: int, message: str) -> CellNote:
    return CellNote(column, "invalid_metadata", message)
