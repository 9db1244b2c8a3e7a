"""DKIM signatures hold for another implementation, and for no changed mail."""

from base64 import b64encode
from collections.abc import Callable

import dkim
import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from app.gateways.mailers.base import DkimSignature
from app.gateways.mailers.dkim_signature import signature_header

KEY = rsa.generate_private_key(65537, 2048)
PKCS8 = Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
SIGNATURE = DkimSignature("mail.example", "s1", KEY.private_bytes(*PKCS8).decode())
HEAD = b"From: A <a@mail.example>\r\nTo: b@other.example\r\nSubject: Hello"
BODIES = {
    "one line": b"Hello.\r\n",
    "without an end of line": b"Hello.",
    "empty": b"",
    "empty lines": b"\r\n\r\n",
    "spaces at ends and within": b" a \t b  \r\n\t\r\nc\t\r\n \r\n\r\n",
    "not ASCII": "Grüße, 你好\r\n".encode(),
}


@pytest.fixture
def dns_with_key() -> Callable[..., bytes]:
    """The DNS with the key's record."""
    der = KEY.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return lambda name, **_more: {
        b"s1._domainkey.mail.example.": b"v=DKIM1; k=rsa; p=" + b64encode(der)
    }[name]


def signed(octets: bytes, *names: str) -> bytes:
    return signature_header(octets, names or ("From", "To", "Subject"), SIGNATURE) + octets


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_another_implementation_accepts_the_signature(
    body: bytes, dns_with_key: Callable[..., bytes]
) -> None:
    assert dkim.verify(signed(HEAD + b"\r\n\r\n" + body), dnsfunc=dns_with_key)


def test_folded_and_spaced_headers_are_accepted(dns_with_key: Callable[..., bytes]) -> None:
    head = b"FROM:  a@mail.example\r\nSubject:  a\r\n\tlong \t one\r\n two  \r\nTo:b@other.example"
    assert dkim.verify(signed(head + b"\r\n\r\nHello.\r\n"), dnsfunc=dns_with_key)


@pytest.mark.parametrize(
    ("old", "new"), [(b"Hello.", b"Hello!"), (b"a@mail", b"c@mail"), (b"Hello\r\n", b"Hi\r\n")]
)
def test_a_changed_mail_is_not_accepted(
    old: bytes, new: bytes, dns_with_key: Callable[..., bytes]
) -> None:
    mail = signed(HEAD + b"\r\n\r\nHello.\r\n")
    assert dkim.verify(mail.replace(old, new), dnsfunc=dns_with_key) is False


def test_no_line_of_the_header_is_long() -> None:
    header = signature_header(HEAD + b"\r\n\r\n", ("From",), SIGNATURE)
    assert max(len(line) for line in header.split(b"\r\n")) <= 78


def test_only_rsa_keys_sign() -> None:
    other = ed25519.Ed25519PrivateKey.generate().private_bytes(*PKCS8).decode()
    with pytest.raises(TypeError, match="must be an RSA key"):
        signature_header(HEAD, ("From",), DkimSignature("mail.example", "s1", other))
