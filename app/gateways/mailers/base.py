"""What every way of sending mail can do, and what it is given to send."""

from dataclasses import dataclass
from typing import Protocol
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Letter:
    """One mail to one person, ready to be sent. ``id`` is that of what asked for it."""

    id: UUID
    partner_id: UUID | None
    to: str
    to_name: str | None
    sender_name: str
    reply_to: str | None
    subject: str
    text: str
    html: str


class NotNow(Exception):
    """The mail was not accepted, and the reason may pass: try again later."""


class Refused(Exception):
    """The mail was refused for good; trying again would be refused again."""


class Mailer(Protocol):
    def send(self, letter: Letter) -> None:
        """Returns once the mail is accepted. Raises `NotNow` and `Refused`, each with the reason
        in words that hold no address."""
        ...
