"""DKIM signatures of mails (RFC 6376): ``rsa-sha256``, ``relaxed/relaxed``."""

import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from time import time

from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from app.gateways.mailers.base import DkimSignature

_LINE = 70
_SPACES = re.compile(rb"[ \t]+")


def signature_header(octets: bytes, names: Sequence[str], signature: DkimSignature) -> bytes:
    """Return the header that signs these headers and the body of a message."""
    head, _, body = octets.partition(b"\r\n\r\n")
    headers = dict(_split_headers(head))
    unsigned = (
        "DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed;\r\n"
        f" d={signature.domain}; s={signature.selector}; t={int(time())};\r\n"
        f" h={':'.join(names)};\r\n"
        f" bh={b64encode(sha256(relaxed_body(body)).digest()).decode()};\r\n"
        " b="
    ).encode()
    signed = [headers[name.lower().encode()] for name in names]
    (_, unsigned_header), *_ = _split_headers(unsigned)
    key = load_pem_private_key(signature.key.encode(), None)
    if not isinstance(key, RSAPrivateKey):
        message = "a DKIM key must be an RSA key"
        raise TypeError(message)
    encoded = b64encode(key.sign(b"\r\n".join([*signed, unsigned_header]), PKCS1v15(), SHA256()))
    folded = [encoded[start : start + _LINE] for start in range(0, len(encoded), _LINE)]
    return unsigned + b"\r\n ".join(folded) + b"\r\n"


def relaxed_body(body: bytes) -> bytes:
    """Return the body as it is hashed: without spaces at ends of lines, and empty lines at its end
    (section 3.4.4)."""
    lines = [_SPACES.sub(b" ", line).rstrip(b" ") for line in body.split(b"\r\n")]
    while lines and not lines[-1]:
        lines.pop()
    return b"".join(line + b"\r\n" for line in lines)


def _split_headers(head: bytes) -> list[tuple[bytes, bytes]]:
    """Return name and relaxed text of each header, from the top (section 3.4.2)."""
    unfolded = re.sub(rb"\r\n(?=[ \t])", b"", head)
    headers = []
    for line in unfolded.split(b"\r\n"):
        name, _, value = line.partition(b":")
        name = name.strip().lower()
        headers.append((name, name + b":" + _SPACES.sub(b" ", value).strip(b" ")))
    return headers
