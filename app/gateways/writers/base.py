"""Writing what an assistant says first: from facts and a note, never from the note's words."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Brief:
    """The facts a message may use. ``notes`` says what the call is for and is never quoted."""

    notes: str
    contact_name: str | None
    agent_name: str
    organization_name: str
    product_name: str
    callback_number: str | None
    converses: bool
    """Whether a conversation follows the intro, or the call ends politely after it."""


@dataclass(frozen=True, slots=True)
class Messages:
    intro: str
    voicemail: str


class MessageWriter(Protocol):
    def compose(self, brief: Brief) -> Messages:
        """An intro for a person and a message for voicemail."""
        ...
