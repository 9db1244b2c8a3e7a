"""Messages with placeholders for the contact's data: of a campaign, and an assistant's own."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

NAMES = ("firstName", "lastName")
"""Names of the placeholders that every contact has."""
_PLACE = re.compile(r"\{([^{}|]*)(?:\|([^{}]*))?\}")


def fill(
    text: str, first_name: str | None, last_name: str | None, metadata: Mapping[str, Any]
) -> str:
    """Return the text for one contact: ``{firstName|there}`` becomes the first name, or "there".

    Names of metadata are placeholders, too. One without a value is removed, together with the space
    before it.
    """
    values = {name: str(metadata[name]) for name in fillable(metadata)}
    values |= {"firstName": first_name or "", "lastName": last_name or ""}

    def value_of(match: re.Match[str]) -> str:
        value = values.get(match[1].strip(), "").strip()
        return value or (match[2] or "").strip() or "\0"

    filled = _PLACE.sub(value_of, text)
    return re.sub(r" ?\0", "", filled).strip()


def names_in(texts: Iterable[str | None]) -> set[str]:
    """Return the names of the placeholders in the texts."""
    return {match[1].strip() for text in texts for match in _PLACE.finditer(text or "")}


def fillable(metadata: Mapping[str, Any]) -> set[str]:
    """Return the names of the metadata that can fill a placeholder."""
    return {name for name, value in metadata.items() if not isinstance(value, bool)}
