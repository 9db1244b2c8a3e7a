"""A campaign's messages: texts with placeholders for the contact's data."""

import re
from collections.abc import Mapping

from app.models import Contact

_PLACE = re.compile(r"\{([^{}|]*)(?:\|([^{}]*))?\}")


def fill(text: str, contact: Contact) -> str:
    """The text for one contact: ``{firstName|there}`` becomes the first name, or "there".

    A placeholder without a value is removed, together with the space before it.
    """
    facts = facts_of(contact)

    def known(match: re.Match[str]) -> str:
        value = facts.get(match[1].strip(), "").strip()
        return value or (match[2] or "").strip() or "\0"

    filled = _PLACE.sub(known, text)
    return re.sub(r" ?\0", "", filled).strip()


def facts_of(contact: Contact) -> Mapping[str, str]:
    """The contact's names and metadata as text."""
    facts = {
        name: str(value)
        for name, value in (contact.contact_metadata or {}).items()
        if not isinstance(value, bool)
    }
    facts["firstName"] = contact.first_name or ""
    facts["lastName"] = contact.last_name or ""
    return facts
