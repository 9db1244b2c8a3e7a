"""A mail as an internet message (RFC 5322), with text, HTML and attached files."""

from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, make_msgid

from app.gateways.mailers.base import OutgoingMail
from app.gateways.mailers.dkim_signature import signature_header
from app.models.base import utcnow

MAX_NAME_LENGTH = 100
SIGNED = (
    "From",
    "To",
    "Reply-To",
    "Subject",
    "Date",
    "Message-ID",
    "Auto-Submitted",
    "MIME-Version",
    "Content-Type",
)
"""The headers that a signature covers (RFC 6376, section 5.4.1)."""


def to_message(mail: OutgoingMail, mail_from: str) -> EmailMessage:
    """Return the message; no value of the mail can add a header. Each call sets a new id."""
    addresses = (mail.to, mail.reply_to or "")
    # RFC 6532, only if the part before the @ can't be written in ASCII.
    needs_utf8 = not all(address.rpartition("@")[0].isascii() for address in addresses)
    # A server that converts 8-bit text would break the signature.
    cte_type = "8bit" if mail.signature is None else "7bit"
    message = EmailMessage(SMTP.clone(utf8=needs_utf8, cte_type=cte_type))
    mail_from = mail.sender or mail_from
    message["From"] = _to_address(mail.sender_name, mail_from)
    message["To"] = _to_address(mail.to_name, mail.to)
    if mail.reply_to:
        message["Reply-To"] = _to_address(None, mail.reply_to)
    message["Subject"] = one_line(mail.subject)
    message["Date"] = format_datetime(utcnow())
    message["Message-ID"] = make_msgid(domain=ascii_domain(mail_from))
    # Sent by a program, so that no out-of-office replies come (RFC 3834).
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(mail.text)
    message.add_alternative(mail.html, subtype="html")
    for each in mail.attachments:
        kind, _, subtype = each.content_type.partition("/")
        message.add_attachment(each.content, kind, subtype, filename=one_line(each.name))
    return message


def to_octets(mail: OutgoingMail, message: EmailMessage) -> bytes:
    """Return the message as it is sent, signed if the mail has a signature."""
    octets = message.as_bytes()
    if mail.signature is None:
        return octets
    covered = [name for name in SIGNED if name in message]
    return signature_header(octets, covered, mail.signature) + octets


def one_line(text: str) -> str:
    """Return the text with every line break and control character as a space."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def ascii_domain(address: str) -> str:
    host = address.rpartition("@")[2]
    return host if host.isascii() else host.encode("idna").decode("ascii")


def _to_address(name: str | None, address: str) -> Address:
    local = address.rpartition("@")[0]
    display_name = one_line(name or "")[:MAX_NAME_LENGTH]
    return Address(display_name, username=one_line(local), domain=ascii_domain(address))
