"""Checks of a server's certificate, as clients do them."""

import socket
import ssl
from datetime import UTC, datetime

CONNECT_SECONDS = 5.0


def valid_until(host: str, port: int) -> datetime:
    """Return when the certificate of a server expires.

    Raises `OSError` if there is no connection, and its subclass `ssl.SSLCertVerificationError` if
    the certificate has expired, names another host or comes from an unknown authority.
    """
    with (
        socket.create_connection((host, port), CONNECT_SECONDS) as connection,
        ssl.create_default_context().wrap_socket(connection, server_hostname=host) as encrypted,
    ):
        certificate = encrypted.getpeercert() or {}
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(str(certificate["notAfter"])), UTC)
