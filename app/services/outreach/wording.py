"""What a campaign says to each of its contacts: a text with places for what is known of them."""

import re
from collections.abc import Iterator, Mapping

from app.models import Contact

_PLACE = re.compile(r"\{([^{}|]*)(?:\|([^{}]*))?\}")
OWN_FIELDS = ("firstName", "lastName")


def places_of(text: str) -> Iterator[str]:
    """The names that stand in curly brackets."""
    for name, _fallback in _PLACE.findall(text):
        yield name.strip()


def fill(text: str, contact: Contact) -> str:
    """The text for one contact: ``{firstName|there}`` becomes the first name, or "there".

    What is known of nobody's like leaves nothing behind, not even the blank in front of it.
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
