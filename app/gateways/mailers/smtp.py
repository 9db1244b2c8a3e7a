"""Mail through a server: ``smtp://user:password@host:587``, ``smtps://host``, ``?starttls=1``."""

import smtplib
import socket
import ssl
from contextlib import suppress
from dataclasses import dataclass
from email.message import EmailMessage
from ipaddress import ip_address
from typing import Self
from urllib.parse import parse_qs, unquote, urlsplit

from app.gateways.mailers.base import MailDeferred, MailRefused, OutgoingMail
from app.gateways.mailers.message import to_message, to_octets

TIMEOUT_SECONDS = 30.0
"""Seconds for every single wait: connecting, and each answer of the server."""

PORTS = {"smtp": 25, "smtps": 465}


@dataclass(frozen=True, slots=True)
class MailServer:
    """A mail server and how to reach it."""

    host: str
    port: int
    tls_at_once: bool
    starttls_needed: bool
    user: str | None = None
    password: str | None = None

    @classmethod
    def of_url(cls, url: str) -> Self:
        """Parse the URL. Raises ValueError with a sentence if it isn't one of these."""
        parts = urlsplit(url)
        query = parse_qs(parts.query)
        wrong = parts.path.strip("/") or parts.fragment or query.keys() - {"starttls"}
        if parts.scheme not in PORTS or not parts.hostname or wrong:
            message = "A mail server is written smtp://user:password@host:port or smtps://…"
            raise ValueError(message)
        return cls(
            host=parts.hostname,
            port=parts.port or PORTS[parts.scheme],
            tls_at_once=parts.scheme == "smtps",
            starttls_needed=query.get("starttls", ["0"])[-1] not in ("", "0"),
            user=unquote(parts.username) if parts.username else None,
            password=unquote(parts.password) if parts.password else None,
        )

    @property
    def is_this_machine(self) -> bool:
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


class SmtpMailer:
    """Uses one server, with a connection per mail. TLS is used if the server offers it, and
    certificates are checked; a password is never sent unencrypted to another machine."""

    def __init__(self, url: str, mail_from: str, *, timeout_seconds: float = TIMEOUT_SECONDS):
        self._server = MailServer.of_url(url)
        self._from = mail_from
        self._timeout = timeout_seconds

    def send(self, mail: OutgoingMail) -> None:
        """As `Mailer.send`. Errors after the server has accepted the mail are ignored."""
        message = to_message(mail, self._from)
        try:
            connection = self._connect()
        except (OSError, smtplib.SMTPException) as error:
            raise MailDeferred(_failure_reason("connecting", error)) from error
        try:
            self._introduce(connection)
            _hand_over(connection, mail, message, mail.sender or self._from)
        except smtplib.SMTPNotSupportedError as error:
            raise MailRefused(_failure_reason("sending", error)) from error
        except (OSError, smtplib.SMTPException) as error:
            if _is_final(error):
                raise MailRefused(_failure_reason("sending", error)) from error
            raise MailDeferred(_failure_reason("sending", error)) from error
        finally:
            with suppress(OSError, smtplib.SMTPException):
                connection.quit()
            connection.close()

    def check(self) -> None:
        """Connect and sign in without sending a mail. Raises `MailDeferred`."""
        try:
            connection = self._connect()
            try:
                self._introduce(connection)
                connection.noop()
            finally:
                with suppress(OSError, smtplib.SMTPException):
                    connection.quit()
                connection.close()
        except (OSError, smtplib.SMTPException) as error:
            raise MailDeferred(_failure_reason("connecting", error)) from error

    def _connect(self) -> smtplib.SMTP:
        server = self._server
        if server.tls_at_once:
            return smtplib.SMTP_SSL(
                server.host, server.port, timeout=self._timeout, context=_tls_context()
            )
        return smtplib.SMTP(server.host, server.port, timeout=self._timeout)

    def _introduce(self, connection: smtplib.SMTP) -> None:
        server = self._server
        connection.ehlo()
        encrypted = server.tls_at_once
        if not encrypted and (server.starttls_needed or connection.has_extn("starttls")):
            try:
                connection.starttls(context=_tls_context())
            except smtplib.SMTPNotSupportedError as error:
                message = "the mail server offers no encryption, which the configuration asks for"
                raise MailDeferred(message) from error
            connection.ehlo()
            encrypted = True
        if server.user is None:
            return
        if not encrypted and not server.is_this_machine:
            message = "the mail server offers no encryption, so the password was not sent to it"
            raise MailDeferred(message)
        try:
            connection.login(server.user, server.password or "")
        except smtplib.SMTPNotSupportedError as error:
            message = "the mail server takes no password"
            raise MailDeferred(message) from error


def _hand_over(
    connection: smtplib.SMTP, mail: OutgoingMail, message: EmailMessage, sender: str
) -> None:
    """Send the message; a signed one exactly as it was signed."""
    to = [str(message["To"].addresses[0].addr_spec)]
    if mail.signature is None:
        connection.send_message(message, sender, to)
        return
    options = []
    if not all(map(str.isascii, (sender, *to))):
        if not connection.has_extn("smtputf8"):
            reason = "the mail server takes no such address"
            raise smtplib.SMTPNotSupportedError(reason)
        options = ["SMTPUTF8", "BODY=8BITMIME"]
    connection.sendmail(sender, to, to_octets(mail, message), options)


def _tls_context() -> ssl.SSLContext:
    return ssl.create_default_context()


def _is_final(error: Exception) -> bool:
    """Return whether the server refused this mail for good. A refused password or greeting is an
    error of the configuration, which can be fixed."""
    match error:
        case smtplib.SMTPRecipientsRefused():
            codes = [code for code, _words in error.recipients.values()]
        case smtplib.SMTPSenderRefused() | smtplib.SMTPDataError():
            codes = [error.smtp_code]
        case _:
            return False
    return bool(codes) and all(500 <= code < 600 for code in codes)


def _failure_reason(doing: str, error: Exception) -> str:
    """Return what happened, without the server's own text, which often repeats the address."""
    match error:
        case smtplib.SMTPRecipientsRefused():
            code = next(iter(error.recipients.values()))[0]
            return f"the mail server does not take mail for this address (status {code})"
        case smtplib.SMTPResponseException():
            return f"{doing}: the mail server answered with status {error.smtp_code}"
        case ssl.SSLCertVerificationError():
            return f"{doing}: the mail server's certificate was refused: {error.verify_message}"
        case socket.gaierror():
            return f"{doing}: the mail server's name is not known"
        case TimeoutError() | smtplib.SMTPServerDisconnected():
            return f"{doing}: the mail server did not answer in time, or ended the connection"
        case _:
            return f"{doing}: {type(error).__name__}"
