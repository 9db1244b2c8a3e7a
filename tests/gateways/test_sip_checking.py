"""Testing the connection to a trunk: what is asked, and the sentence that comes of it."""

import secrets
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from app.gateways.carriers.partner_accounts import AccountTestResult
from app.gateways.carriers.sip import checking, probe
from app.gateways.carriers.sip.account import SipAccount
from app.gateways.carriers.sip.digest import proof
from app.gateways.carriers.sip.program import UNCHECKED
from tests.fixtures.certificate import write_certificate
from tests.fixtures.sip_trunk import Trunk, sip_trunk

OWN, FOREIGN = "+12025550199", "+12025550100"
ANSWERS = "The trunk answers."
ACCEPTS = "The trunk answers and accepts the password."
UNPROVED = (
    "The trunk answers, but didn't require a password yet. The first call shows whether the "
    "password is right."
)
REFUSES = "The trunk does not accept this user and password."


@pytest.fixture
def trunk() -> Iterator[Trunk]:
    with sip_trunk() as running:
        running.password = "right"
        yield running


@pytest.fixture
def check_trunk(trunk: Trunk, tmp_path: Path) -> Callable[..., AccountTestResult]:
    def check(*numbers: str, **changes: Any) -> AccountTestResult:
        own: dict[str, Any] = {"trunk": trunk.address, "is_pinned": True, "may_be_private": True}
        return checking.check_trunk(SipAccount(folder=tmp_path, **own | changes), numbers or (OWN,))

    return check


def test_the_password_is_sent_where_the_trunk_asks_for_it(
    trunk: Trunk, check_trunk: Callable[..., AccountTestResult]
) -> None:
    right = {"user": "portal", "password": "right"}
    wrong = right | {"password": "wrong"}
    assert check_trunk() == AccountTestResult(True, ANSWERS)
    assert check_trunk(**right) == AccountTestResult(True, UNPROVED)
    assert check_trunk(**right, registers=True) == AccountTestResult(True, ACCEPTS)
    assert check_trunk(**wrong, registers=True) == AccountTestResult(False, REFUSES)
    trunk.guarded = {"OPTIONS"}
    assert check_trunk(**right) == AccountTestResult(True, ACCEPTS)
    assert check_trunk(**wrong) == AccountTestResult(False, REFUSES)
    assert check_trunk() == AccountTestResult(False, "The trunk asks for a user and a password.")
    assert (trunk.registered, trunk.invites) == ([""], [])  # asked, without a contact


def test_a_refused_caller_is_named(
    trunk: Trunk, check_trunk: Callable[..., AccountTestResult]
) -> None:
    trunk.barred = {FOREIGN}
    not_own = f"The trunk does not let this number call: {FOREIGN}."
    assert check_trunk(OWN, FOREIGN) == AccountTestResult(False, not_own)
    user = {"user": "portal", "password": "right"}
    assert check_trunk(FOREIGN, **user, shows_number=False) == AccountTestResult(True, UNPROVED)
    trunk.barred = {"portal"}
    words = (
        "The trunk refuses us: 403 Forbidden. If it checks IP addresses, give the provider "
        "this platform’s address."
    )
    assert check_trunk() == AccountTestResult(False, words)


def test_a_missing_trunk_is_distinguished_from_a_silent_one(
    trunk: Trunk, check_trunk: Callable[..., AccountTestResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(socket.socket()) as closed:
        closed.bind(("127.0.0.1", 0))
        away = "127.0.0.1:{1}".format(*closed.getsockname())
        nothing = "{} over {} refused the connection.".format
        assert check_trunk(trunk=away) == AccountTestResult(False, nothing(away, "UDP"))
        assert check_trunk(trunk=away, transport="tcp") == AccountTestResult(
            False, nothing(away, "TCP")
        )
    monkeypatch.setattr(probe, "GAPS", (0.02, 0.02))
    trunk.out_of_order = True
    silent = f"No answer from {trunk.address} over UDP within 4 seconds."
    assert check_trunk() == AccountTestResult(False, silent)


def test_a_host_name_must_lead_to_the_internet(
    check_trunk: Callable[..., AccountTestResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    private = (
        "The address of 127.0.0.1 is not public. Calls go out only to trunks "
        "that are on the internet."
    )
    assert check_trunk(may_be_private=False) == AccountTestResult(False, private)

    def unknown(*_: Any, **__: Any) -> None:
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    words = "DNS lookup failed for sip.example.com. Compare it with what the provider wrote."
    assert check_trunk(trunk="sip.example.com") == AccountTestResult(False, words)


def test_answers_over_tcp_come_in_pieces_and_tls_needs_a_tls_server(
    check_trunk: Callable[..., AccountTestResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        threading.Thread(target=_answer_in_pieces, args=(server,), daemon=True).start()
        address = "127.0.0.1:{1}".format(*server.getsockname())
        assert check_trunk(trunk=address, transport="tcp") == AccountTestResult(True, ANSWERS)
        assert check_trunk(trunk=address, transport="tls", baresip="") == AccountTestResult(
            False, UNCHECKED
        )
        monkeypatch.setattr(checking, "checks_certificates", lambda _: True)
        reported = check_trunk(trunk=address, transport="tls")
    assert not reported.works
    assert reported.message.startswith(f"No encrypted connection to {address} over TLS: ")


def test_an_untrusted_certificate_is_reported(
    check_trunk: Callable[..., AccountTestResult], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(checking, "checks_certificates", lambda _: True)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(write_certificate(tmp_path))
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        threading.Thread(target=_greet, args=(server, context), daemon=True).start()
        port = server.getsockname()[1]
        reported = check_trunk(trunk=f"localhost:{port}", transport="tls")
    words = f"No encrypted connection to 127.0.0.1:{port} over TLS: certificate verify failed."
    assert reported == AccountTestResult(False, words)


def _greet(server: socket.socket, context: ssl.SSLContext) -> None:
    connection, _address = server.accept()
    with connection, suppress(OSError):
        context.wrap_socket(connection, server_side=True).recv(1)


def _answer_in_pieces(server: socket.socket) -> None:
    """Like a trunk that answers 100 first, adds a body, and sends a request in between."""
    for _ in range(2):
        connection, _address = server.accept()
        with connection:
            while b"\r\n\r\n" in (inquiry := connection.recv(4096)):
                _, _, rest = inquiry.decode().partition("\r\n")
                own = b"OPTIONS sip:portal SIP/2.0\r\nCSeq: 1 OPTIONS\r\n\r\n"
                trying = f"SIP/2.0 100 Trying\r\n{rest}".encode()
                final = f"SIP/2.0 200 OK\r\n{rest}".replace("Length: 0", "Length: 3").encode()
                for piece in (own + trying[:-9], trying[-9:] + final[:30], final[30:], b"abc"):
                    connection.sendall(piece)
            connection.sendall(b"no TLS here")


@pytest.mark.parametrize(
    ("algorithm", "response"),
    [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ],
)
def test_the_answer_to_a_challenge_is_that_of_the_standard(
    monkeypatch: pytest.MonkeyPatch, algorithm: str, response: str
) -> None:
    """The example of RFC 7616, 3.9.1."""
    chance = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
    monkeypatch.setattr(secrets, "token_hex", lambda _: chance)
    asked = (
        'Digest realm="http-auth@example.org", qop="auth, auth-int", '
        f"algorithm={algorithm}, "
        'nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", '
        'opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"'
    )
    given = "GET", "/dir/index.html", "Mufasa", "Circle of Life"
    assert proof(["Basic x", f"{asked.replace(algorithm, 'MD9')}", asked], *given) == (
        'Digest username="Mufasa", realm="http-auth@example.org", '
        'nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", uri="/dir/index.html", qop=auth, '
        f'nc=00000001, cnonce="{chance}", response="{response}", '
        f'opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS", algorithm={algorithm}'
    )
    assert proof(["Basic x"], *given) is None
