"""Writing what an assistant says first: from facts and a note, never from the note's words."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

FEWEST_WORDS, FEWEST_CHARACTERS = 3, 20
"""The shortest note: anything less can't be told from words of any message."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Brief:
    """The facts a message may use. ``notes`` says what the call is for and is never quoted."""

    notes: str
    contact_name: str | None
    assistant_name: str
    organization_name: str
    product_name: str
    callback_number: str | None
    converses: bool
    """Whether a conversation follows the intro, or the call ends politely after it."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """What is known of the contact."""


@dataclass(frozen=True, slots=True)
class Messages:
    intro: str
    voicemail: str


class MessageWriter(Protocol):
    def compose(self, brief: Brief) -> Messages:
        """An intro for a person and a message for voicemail."""
        ...


def quotes(text: str, notes: str) -> bool:
    """Whether the text speaks the note, or a sentence of it, word for word: whatever the case
    and the marks between the words."""
    spoken = _plain(text)
    sentences = [notes, *re.split(r"[.!?;\n]+", notes)]
    quotable = [_plain(sentence) for sentence in sentences]
    return any(
        each in spoken
        for each in quotable
        if each.count(" ") > FEWEST_WORDS or len(each) >= FEWEST_CHARACTERS
    )


def _plain(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "
