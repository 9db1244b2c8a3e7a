"""A server whose certificate has ended gets nothing, and the sentence says why."""

import socket
import ssl
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from app.gateways import certificates, openid, outside_http, webhook_client
from app.gateways.carriers.base import PlacementDelayed
from app.gateways.carriers.twilio.wire import TwilioHttpClient
from app.gateways.mailers.base import MailDeferred
from app.gateways.mailers.smtp import SmtpMailer
from tests.fixtures.certificate import write_certificate

ENDED = "certificate has expired"


@pytest.fixture
def port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """That of a TLS server with a certificate of a trusted authority that ended an hour ago."""
    pem = write_certificate(tmp_path, ends_in=timedelta(hours=-1))
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(pem))
    outside_http._tls.cache_clear()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pem)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_serve, args=(listener, context), daemon=True).start()
        yield listener.getsockname()[1]
    outside_http._tls.cache_clear()


def _serve(listener: socket.socket, context: ssl.SSLContext) -> None:
    while True:
        try:
            connection, _ = listener.accept()
            with context.wrap_socket(connection, server_side=True) as encrypted:
                encrypted.recv(1)
        except ssl.SSLError:
            continue  # the client has refused the certificate
        except OSError:
            return


def test_a_webhook_isnt_sent(port: int) -> None:
    answer = webhook_client.post(f"https://localhost:{port}/", {}, "{}", allow_private=True)
    assert answer == webhook_client.WebhookAnswer(None, f"the certificate was refused: {ENDED}")


def test_a_company_account_isnt_asked(port: int) -> None:
    with pytest.raises(openid.ProviderDown, match=ENDED):
        openid.discover(f"https://localhost:{port}", allow_private=True)


def test_a_mail_waits(port: int) -> None:
    with pytest.raises(MailDeferred, match=f"the mail server's certificate was refused: {ENDED}"):
        SmtpMailer(f"smtps://localhost:{port}", "a@mail.example").check()


def test_a_call_waits_and_is_certainly_not_placed(port: int) -> None:
    wire = TwilioHttpClient(f"https://localhost:{port}", 5.0, keeps_connections=False)
    with pytest.raises(PlacementDelayed, match=r"The carrier’s certificate was refused\."):
        wire.request("POST", "https://api.twilio.com/calls")


def test_doctor_reports_it(port: int) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match=ENDED):
        certificates.valid_until("localhost", port)
