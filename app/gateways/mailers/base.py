"""The protocol of every mailer, and the mail that it sends."""

from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID


@dataclass(frozen=True, slots=True)
class DkimSignature:
    """The DKIM signature of a mail (RFC 6376): ``key`` is a private RSA key as PEM."""

    domain: str
    selector: str
    key: str = field(repr=False)


MAX_OCTETS = 5_000_000
"""Maximum bytes of a mail's attachments: many servers refuse mails of more than 10 MB, and base64
adds a third."""


@dataclass(frozen=True, slots=True)
class MailAttachment:
    """A file that a mail carries; ``content_type`` is like ``application/pdf``."""

    name: str
    content_type: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class OutgoingMail:
    """A mail to one address, ready to be sent. ``id`` is that of the record that requested it.
    Without a ``sender`` it comes from the installation's address.
    """

    id: UUID
    partner_id: UUID | None
    to: str
    to_name: str | None
    sender_name: str
    reply_to: str | None
    subject: str
    text: str
    html: str
    sender: str | None = None
    signature: DkimSignature | None = None
    attachments: tuple[MailAttachment, ...] = ()


class MailDeferred(Exception):
    """The mail was not accepted for a temporary reason: try again later."""


class MailRefused(Exception):
    """The mail was refused for good; another attempt would be refused too."""


class Mailer(Protocol):
    def send(self, mail: OutgoingMail) -> None:
        """Return once the mail is accepted. Raises `MailDeferred` and `MailRefused`, each with
        a reason that holds no address."""
        ...
