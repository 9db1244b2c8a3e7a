"""Sending mail: through a mail server, or into a folder if none is configured."""

from app.config import Settings
from app.gateways.mailers.base import (
    MAX_OCTETS,
    DkimSignature,
    MailAttachment,
    MailDeferred,
    Mailer,
    MailRefused,
    OutgoingMail,
)
from app.gateways.mailers.outbox import KeptMail, Outbox
from app.gateways.mailers.smtp import SmtpMailer


def open_mailer(settings: Settings) -> Mailer:
    if settings.smtp_url:
        return SmtpMailer(settings.smtp_url, settings.effective_mail_from)
    return open_outbox(settings)


def open_outbox(settings: Settings) -> Outbox:
    """Return the folder with the mails of an installation without a mail server."""
    return Outbox(settings.instance_dir / "outbox", settings.effective_mail_from)
