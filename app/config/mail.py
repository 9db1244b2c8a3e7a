"""The mail server and the sender address."""

from typing import Self
from urllib.parse import urlsplit

from pydantic import model_validator

from app.config.base import CommonSettings
from app.validation.emails import is_email


class MailSettings(CommonSettings):
    """Without a server, mails are kept in the outbox folder."""

    smtp_url: str = ""
    """Mail server: ``smtp://user:password@host:587`` or ``smtps://…``; add ``?starttls=1`` to
    require encryption. Without it: each mail is a file in ``outbox`` in the instance folder."""
    mail_from: str = ""
    """Sender address; the product name is shown next to it. Without it: ``no-reply@`` and the
    public host."""

    @model_validator(mode="after")
    def _refuse_unusable_mail(self) -> Self:
        parts = urlsplit(self.smtp_url)
        if self.smtp_url and (parts.scheme not in ("smtp", "smtps") or not parts.hostname):
            message = "PORTAL_SMTP_URL is written smtp://user:password@host:587 or smtps://host."
            raise ValueError(message)
        if self.mail_from and not is_email(self.mail_from):
            message = "PORTAL_MAIL_FROM must be an email address alone: name@example.com."
            raise ValueError(message)
        return self

    @property
    def effective_mail_from(self) -> str:
        """Return the sender address: the configured one, else one at the public host."""
        host = urlsplit(self.public_url).hostname or ""
        named = any(c.isalpha() for c in host) and ":" not in host
        return self.mail_from or f"no-reply@{host if named else 'localhost'}"
