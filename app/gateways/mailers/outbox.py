"""The local replacement of a mail server: one file per mail, readable by the operator."""

import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from email import message_from_string
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from app.gateways.mailers.base import OutgoingMail
from app.gateways.mailers.message import to_message, to_octets
from app.models.base import new_id

_NAME = re.compile(
    r"(?P<id>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})_(?P<whose>[0-9a-f-]+)\.eml"
)
NO_PARTNER = "0"


class KeptMail(NamedTuple):
    """A mail in the outbox. ``partner_id`` is None for the operator's own."""

    id: UUID
    partner_id: UUID | None
    kept_at: datetime
    path: Path

    def read(self) -> EmailMessage:
        """Return the message, whose headers may be in UTF-8 (RFC 6532). Raises FileNotFoundError if
        the file was removed."""
        head, blank_line, body = self.path.read_bytes().partition(b"\r\n\r\n")
        text = f"{head.decode()}{blank_line.decode()}{body.decode('ascii', 'surrogateescape')}"
        return message_from_string(text, policy=default)


class Outbox:
    """Files that only their owner may read (mode 600), written atomically."""

    def __init__(self, folder: Path, mail_from: str):
        self._folder = folder
        self._from = mail_from

    def send(self, mail: OutgoingMail) -> None:
        """Store the mail. Never raises `MailDeferred` or `MailRefused`."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        owner = str(mail.partner_id) if mail.partner_id else NO_PARTNER
        path = self._folder / f"{new_id()}_{owner}.eml"
        unfinished = path.with_suffix(".new")
        octets = to_octets(mail, to_message(mail, self._from))
        with os.fdopen(
            os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
        ) as file:
            file.write(octets)
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(path)

    def mails(self) -> list[KeptMail]:
        """Return every stored mail, newest first."""
        return sorted(self._all(), key=lambda mail: mail.path.name, reverse=True)

    def purge(self, before: datetime, partner_id: UUID | None = None) -> int:
        """Remove the mails, of all partners or of one, stored before that time; return how many."""
        old = [
            mail
            for mail in self._all()
            if mail.kept_at < before and partner_id in (None, mail.partner_id)
        ]
        for mail in old:
            mail.path.unlink(missing_ok=True)
        return len(old)

    def _all(self) -> Iterator[KeptMail]:
        if not self._folder.is_dir():
            return
        for path in self._folder.iterdir():
            match = _NAME.fullmatch(path.name)
            if match is None:
                continue
            identifier = UUID(match["id"])
            partner_id = None if match["whose"] == NO_PARTNER else UUID(match["whose"])
            # The first 48 bits of such an id are its milliseconds (RFC 9562, section 5.7).
            sent_at = datetime.fromtimestamp((identifier.int >> 80) / 1000, UTC)
            yield KeptMail(identifier, partner_id, sent_at, path)
