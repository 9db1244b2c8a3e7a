"""The built-in message writer: composes from facts, without any outside service.

A note chooses the subject of the call from a closed list and is never spoken itself, since it is
written for the assistant and not for the person called.
"""

import re

from app.gateways.writers.base import Brief, Messages

_SUBJECTS = (
    (r"appointment|reschedul|booking|reservation|visit", "about your appointment"),
    (r"invoice|payment|billing|overdue|balance", "about your account"),
    (r"deliver|shipping|shipment|package|order", "about your order"),
    (r"quote|estimate|proposal|pricing", "about the quote you asked for"),
    (r"demo|trial|product tour", "about the demonstration you asked for"),
    (r"renew|expire|subscription|membership", "about your renewal"),
    (r"survey|feedback|review|rating", "to hear how your experience was"),
    (r"interview|application|candidate|resume", "about your application"),
    (r"form|inquiry|enquiry|request|interested|follow", "about the request you sent us"),
)
_OTHER_SUBJECT = "with a short message for you"


class TemplateWriter:
    """Plain, friendly and always the same for the same facts."""

    def compose(self, brief: Brief) -> Messages:
        subject = _subject(brief.notes)
        greeting = f"Hello {brief.contact_name}," if brief.contact_name else "Hello,"
        # Somebody who is called by a machine is told so in the first sentence.
        introduction = (
            f"{greeting} this is {brief.agent_name}, the {_kind(brief.product_name)} "
            f"of {brief.organization_name}."
        )
        reach = (
            f"You can reach us at {_spoken_number(brief.callback_number)}."
            if brief.callback_number
            else f"You can reach {brief.organization_name} at any time."
        )
        purpose = f"I am calling {subject}."
        closing = "Is this a good moment to talk?" if brief.converses else f"{reach} Goodbye."
        return Messages(
            intro=f"{introduction} {purpose} {closing}",
            voicemail=(
                f"{introduction} I called {subject} and am sorry to have missed you. "
                f"{reach} Thank you, and goodbye."
            ),
        )


def _subject(notes: str) -> str:
    for pattern, subject in _SUBJECTS:
        if re.search(pattern, notes, re.IGNORECASE):
            return subject
    return _OTHER_SUBJECT


def _kind(product_name: str) -> str:
    return product_name if "AI" in product_name.split() else f"AI assistant ({product_name})"


def _spoken_number(number: str) -> str:
    """Digits one by one, in groups of three, as a voice should read them."""
    digits = number.lstrip("+")
    groups = [digits[max(0, end - 3) : end] for end in range(len(digits), 0, -3)][::-1]
    return ", ".join(" ".join(group) for group in groups)
