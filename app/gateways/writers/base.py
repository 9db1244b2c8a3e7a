"""The protocol of every message writer: it composes messages from facts, and a note that is never
quoted."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

MIN_WORDS, MIN_CHARACTERS = 3, 20
"""The shortest note that `quotes` checks: shorter ones occur in any message."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class MessageBrief:
    """The facts that a message may use. ``notes`` describes the purpose of the call and is never
    quoted."""

    notes: str
    contact_name: str | None
    assistant_name: str
    organization_name: str
    product_name: str
    callback_number: str | None
    converses: bool
    """Whether a conversation follows the intro; else the call ends politely after it."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """The known facts about the contact."""


@dataclass(frozen=True, slots=True)
class WrittenMessages:
    intro: str
    voicemail: str


class MessageWriter(Protocol):
    def compose(self, brief: MessageBrief) -> WrittenMessages:
        """Return an intro for a person and a message for voicemail."""
        ...


def quotes(text: str, notes: str) -> bool:
    """Whether the text contains the note, or one of its sentences, word for word, ignoring case and
    punctuation."""
    spoken = _plain_words(text)
    sentences = [notes, *re.split(r"[.!?;\n]+", notes)]
    quotable = [_plain_words(sentence) for sentence in sentences]
    return any(
        each in spoken
        for each in quotable
        if each.count(" ") > MIN_WORDS or len(each) >= MIN_CHARACTERS
    )


def _plain_words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "
