"""The built-in message writer: composes from facts, without any outside service.

A note selects the subject of the call from a closed list. It is never spoken, since it is written
for the assistant and not for the contact. If the contact's metadata holds the number of the
subject, the message includes it.
"""

import re
from collections.abc import Mapping
from typing import Any

from app.gateways.writers import phrases
from app.gateways.writers.base import MessageBrief, WrittenMessages, quotes

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
_NUMBERED = {
    "about your order": {"order", "delivery", "shipment", "package", "tracking"},
    "about your appointment": {"appointment", "booking", "reservation"},
    "about your application": {"application"},
}
"""Subjects that have a number, with the words of the metadata keys that may hold it."""
_KINDS_OF_NUMBER = {"number", "no", "nr", "id", "reference", "ref", "code"}
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+")
_SPEAKABLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9/-]{0,19}")
"""A number that may be spoken: its pattern can't match a sentence."""


class TemplateWriter:
    """Returns the same message for the same facts."""

    def compose(self, brief: MessageBrief) -> WrittenMessages:
        messages = _build_messages(brief, _find_subject(brief.notes, brief.metadata))
        if quotes(messages.intro, brief.notes) or quotes(messages.voicemail, brief.notes):
            return _build_messages(brief, _OTHER_SUBJECT)
        return messages


def _build_messages(brief: MessageBrief, subject: str) -> WrittenMessages:
    introduction = phrases.introduction(brief)
    return WrittenMessages(
        intro=f"{introduction} I am calling {subject}. {phrases.intro_ending(brief)}",
        voicemail=(
            f"{introduction} I called {subject} and am sorry to have missed you. "
            f"{phrases.reach(brief)} Thank you, and goodbye."
        ),
    )


def _find_subject(notes: str, metadata: Mapping[str, Any]) -> str:
    for pattern, subject in _SUBJECTS:
        if re.search(pattern, notes, re.IGNORECASE):
            return subject + _number_of_subject(subject, metadata)
    return _OTHER_SUBJECT


def _number_of_subject(subject: str, metadata: Mapping[str, Any]) -> str:
    """Return the number of the subject, if the contact has one: " number A-1017"."""
    for name, value in metadata.items():
        words = {word.lower() for word in _WORDS.findall(name)}
        is_its = words & _NUMBERED.get(subject, set()) and words & _KINDS_OF_NUMBER
        if is_its and not isinstance(value, bool) and _SPEAKABLE.fullmatch(str(value)):
            return f" number {value}"
    return ""
