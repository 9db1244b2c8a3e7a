"""Parts of every message, for every writer: the caller's name and how to reach them."""

import re

from app.gateways.writers.base import MessageBrief
from app.phone import format_international


def introduction(brief: MessageBrief) -> str:
    """Return the first sentence, which says that an assistant is calling."""
    greeting = f"Hello {brief.contact_name}," if brief.contact_name else "Hello,"
    return (
        f"{greeting} this is {brief.assistant_name}, the {_assistant_kind(brief.product_name)} "
        f"of {brief.organization_name}."
    )


def reach(brief: MessageBrief) -> str:
    if brief.callback_number:
        return f"You can reach us at {spoken_number(brief.callback_number)}."
    return f"You can reach {brief.organization_name} at any time."


def intro_ending(brief: MessageBrief) -> str:
    """Return the end of an intro: a question if a conversation follows."""
    if brief.converses:
        return "Is this a good moment to talk?"
    return f"{reach(brief)} Goodbye."


def spoken_number(number: str) -> str:
    """Return the digits one by one, in the groups of the number's country, as a voice should read
    them."""
    groups = re.findall(r"\d+", format_international(number))
    return ", ".join(" ".join(group) for group in groups)


def _assistant_kind(product_name: str) -> str:
    return product_name if "AI" in product_name.split() else f"AI assistant ({product_name})"
