"""Mail through a real server in this process, and into the folder that replaces one."""

import socket
import ssl
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from aiosmtpd.smtp import AuthResult, LoginPassword

from app.config import Settings
from app.gateways.mailers import (
    MailAttachment,
    MailDeferred,
    MailRefused,
    OutgoingMail,
    open_outbox,
)
from app.gateways.mailers.message import to_message
from app.gateways.mailers.smtp import MailServer, SmtpMailer
from tests.fixtures.certificate import write_certificate
from tests.fixtures.mail_server import SmtpServer, read
from tests.fixtures.ports import free_port

FROM = "no-reply@mail.example"
PARTNER = UUID("0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c01")


def letter(**changes: Any) -> OutgoingMail:
    values: dict[str, Any] = {
        "id": uuid4(),
        "partner_id": PARTNER,
        "to": "ada@hillside.example",
        "to_name": "Ada Łódź",
        "sender_name": "Northwind Voice",
        "reply_to": "help@northwind.example",
        "subject": "You are invited to Northwind Voice",
        "text": "Hello — Ünal\n",
        "html": "<p>Hello — Ünal</p>",
    }
    return OutgoingMail(**(values | changes))


StartServer = Callable[..., int]


@pytest.fixture
def smtp_server() -> SmtpServer:
    return SmtpServer()


@pytest.fixture
def start_server(smtp_server: SmtpServer) -> Iterator[StartServer]:
    """``start_server(…options of aiosmtpd)`` starts one on a free port, which is returned."""
    with ExitStack() as running:
        yield lambda **options: running.enter_context(smtp_server.open(**options))


@pytest.fixture
def own_certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """A certificate for localhost that this process trusts."""
    pem = write_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pem)
    return context


def test_a_server_is_given_text_and_html_with_every_header(
    smtp_server: SmtpServer, start_server: StartServer
) -> None:
    port = start_server()
    SmtpMailer(f"smtp://127.0.0.1:{port}", FROM).send(letter())
    envelope = smtp_server.kept[0]
    message = read(envelope)
    assert (envelope.mail_from, envelope.rcpt_tos) == (FROM, ["ada@hillside.example"])
    assert {name: message[name] for name in message if name not in ("Date", "Message-ID")} == {
        "From": "Northwind Voice <no-reply@mail.example>",
        "To": "Ada Łódź <ada@hillside.example>",
        "Reply-To": "help@northwind.example",
        "Subject": "You are invited to Northwind Voice",
        "Auto-Submitted": "auto-generated",
        "MIME-Version": "1.0",
        "Content-Type": message["Content-Type"],
    }
    assert str(message["Message-ID"]).endswith("@mail.example>")
    plain, html = (message.get_body((kind,)) for kind in ("plain", "html"))
    assert plain is not None
    assert html is not None
    answer_text = [part.get_content().strip() for part in (plain, html)]
    assert answer_text == ["Hello — Ünal", "<p>Hello — Ünal</p>"]


def test_a_server_is_given_the_attached_files_beside_text_and_html(
    smtp_server: SmtpServer, start_server: StartServer
) -> None:
    content = bytes(range(256)) * 40
    file = MailAttachment("report-2026-09.pdf", "application/pdf", content)
    port = start_server()
    SmtpMailer(f"smtp://127.0.0.1:{port}", FROM).send(letter(attachments=(file,)))
    message = read(smtp_server.kept[0])
    (part,) = message.iter_attachments()
    assert (part.get_filename(), part.get_content_type()) == (file.name, file.content_type)
    assert part.get_content() == content
    plain = message.get_body(("plain",))
    assert plain is not None
    assert plain.get_content().strip() == "Hello — Ünal"


@pytest.mark.parametrize(
    "words",
    [
        'Ada" <eve@evil.example>, "',
        "Ada\r\nBcc: eve@evil.example",
        "Ada\nBcc: eve@evil.example",
        "Ada\u2028Bcc: x",
        "A\0da\x85",
    ],
)
def test_no_name_or_subject_can_add_a_header(words: str) -> None:
    message = to_message(letter(to_name=words, sender_name=words, subject=words), FROM)
    assert sorted(message.keys()) == sorted(
        [
            *("From", "To", "Reply-To", "Subject", "Date", "Message-ID", "Auto-Submitted"),
            *("MIME-Version", "Content-Type"),
        ]
    )
    head = message.as_bytes().split(b"\r\n\r\n")[0]
    assert b"\nbcc:" not in head.lower()
    assert [a.addr_spec for a in message["To"].addresses] == ["ada@hillside.example"]


def test_addresses_beyond_ascii_are_written_as_their_standards_say(
    smtp_server: SmtpServer, start_server: StartServer
) -> None:
    port = start_server(enable_SMTPUTF8=True)
    mailer = SmtpMailer(f"smtp://127.0.0.1:{port}", FROM)
    mailer.send(letter(to="jo@müller.example"))
    mailer.send(letter(to="jürgen@müller.example"))
    assert [envelope.rcpt_tos for envelope in smtp_server.kept] == [
        ["jo@xn--mller-kva.example"],
        ["jürgen@xn--mller-kva.example"],
    ]


@pytest.mark.parametrize(
    ("answers", "answer", "expected"),
    [
        ("rcpt_answers", "450 mailbox busy", MailDeferred),
        ("rcpt_answers", "550 no such mailbox", MailRefused),
        ("data_answers", "451 try later", MailDeferred),
        ("data_answers", "554 looks like junk", MailRefused),
    ],
)
def test_a_refusal_is_final_exactly_where_the_server_says_so(
    smtp_server: SmtpServer,
    start_server: StartServer,
    answers: str,
    answer: str,
    expected: type[Exception],
) -> None:
    port = start_server()
    getattr(smtp_server, answers).append(answer)
    with pytest.raises(expected) as refusal:
        SmtpMailer(f"smtp://127.0.0.1:{port}", FROM).send(letter())
    assert answer[:3] in str(refusal.value)
    assert "hillside" not in str(refusal.value)
    assert smtp_server.kept == []


def test_a_server_that_is_away_is_no_refusal() -> None:
    with pytest.raises(MailDeferred):
        SmtpMailer(f"smtp://127.0.0.1:{free_port()}", FROM).send(letter())


def test_a_silent_server_is_given_up_in_time() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        mailer = SmtpMailer(
            f"smtp://127.0.0.1:{silent.getsockname()[1]}", FROM, timeout_seconds=0.2
        )
        with pytest.raises(MailDeferred) as late:
            mailer.send(letter())
    expected = "connecting: the mail server did not answer in time, or ended the connection"
    assert str(late.value) == expected


def test_encryption_is_used_where_the_server_offers_it(
    smtp_server: SmtpServer, start_server: StartServer, own_certificate: ssl.SSLContext
) -> None:
    port = start_server(tls_context=own_certificate, require_starttls=True)
    SmtpMailer(f"smtp://localhost:{port}", FROM).send(letter())
    assert len(smtp_server.kept) == 1


def test_encryption_from_the_first_octet(
    smtp_server: SmtpServer, start_server: StartServer, own_certificate: ssl.SSLContext
) -> None:
    port = start_server(ssl_context=own_certificate)
    SmtpMailer(f"smtps://localhost:{port}", FROM).send(letter())
    assert len(smtp_server.kept) == 1


def test_a_certificate_for_another_name_is_not_believed(
    smtp_server: SmtpServer, start_server: StartServer, own_certificate: ssl.SSLContext
) -> None:
    port = start_server(tls_context=own_certificate)
    with pytest.raises(MailDeferred):
        SmtpMailer(f"smtp://127.0.0.1:{port}", FROM).send(letter())
    assert smtp_server.kept == []


def test_nothing_is_sent_unencrypted_where_encryption_is_required(
    smtp_server: SmtpServer, start_server: StartServer
) -> None:
    port = start_server()
    with pytest.raises(MailDeferred):
        SmtpMailer(f"smtp://127.0.0.1:{port}?starttls=1", FROM).send(letter())
    assert smtp_server.kept == []


@pytest.mark.parametrize(("password", "kept"), [("p%40ss", 1), ("wrong", 0)])
def test_user_and_password_are_sent_to_the_server(
    smtp_server: SmtpServer,
    start_server: StartServer,
    own_certificate: ssl.SSLContext,
    password: str,
    kept: int,
) -> None:
    def check(
        _server: Any, _session: Any, _envelope: Any, _how: str, answer_text: Any
    ) -> AuthResult:
        assert isinstance(answer_text, LoginPassword)
        return AuthResult(success=answer_text == LoginPassword(b"portal", b"p@ss"), handled=False)

    port = start_server(tls_context=own_certificate, authenticator=check, auth_required=True)
    mailer = SmtpMailer(f"smtp://portal:{password}@localhost:{port}", FROM)
    if kept:
        mailer.send(letter())
    else:
        with pytest.raises(MailDeferred):  # an operator may fix the configuration
            mailer.send(letter())
    assert len(smtp_server.kept) == kept


@pytest.mark.parametrize(
    "url",
    ["http://mail.example", "smtp://", "mail.example:25", "smtp://h/?tls=1", "smtp://h/path"],
)
def test_a_server_that_speaks_no_smtp_is_named(url: str) -> None:
    with pytest.raises(ValueError, match="A mail server is written"):
        MailServer.of_url(url)


@pytest.mark.parametrize(
    ("name", "value"),
    [("smtp_url", "http://x"), ("smtp_url", "smtp://"), ("mail_from", "Portal <a@b.example>")],
)
def test_settings_refuse_what_no_mail_could_be_sent_with(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"PORTAL_{name.upper()}"):
        Settings.model_validate({name: value})


def test_the_outbox_keeps_one_file_a_mail_for_its_owner_alone(tmp_path: Path) -> None:
    outbox = open_outbox(Settings(instance_dir=tmp_path, mail_from=FROM))
    assert outbox.mails() == []
    outbox.send(letter(subject="First"))
    outbox.send(letter(subject="Second", partner_id=None))
    folder = tmp_path / "outbox"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    kept = outbox.mails()
    assert [(mail.read()["Subject"], mail.partner_id) for mail in kept] == [
        ("Second", None),
        ("First", PARTNER),
    ]
    assert datetime.now(UTC) - kept[0].kept_at < timedelta(minutes=1)


def test_the_outbox_ignores_files_that_are_no_mails(tmp_path: Path) -> None:
    outbox = open_outbox(Settings(instance_dir=tmp_path))
    outbox.send(letter())
    for name in ("notes.txt", "x.eml", f"{uuid4()}_0.new", "../up.eml"):
        (tmp_path / "outbox" / name).write_text("x")
    assert len(outbox.mails()) == 1


def test_the_outbox_deletes_old_mails(tmp_path: Path) -> None:
    outbox = open_outbox(Settings(instance_dir=tmp_path))
    outbox.send(letter(subject="Old"))
    (old,) = outbox.mails()
    time.sleep(0.01)
    outbox.send(letter(subject="New"))
    assert outbox.purge(old.kept_at + timedelta(milliseconds=5)) == 1
    assert [mail.read()["Subject"] for mail in outbox.mails()] == ["New"]
