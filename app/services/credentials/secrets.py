"""Secrets of scripts: how they are created and what is stored of them.

They have 256 random bits, so one round of SHA-256 is enough.
"""

import hashlib
import hmac
import re
import secrets
import zlib
from datetime import timedelta
from string import ascii_letters, digits

ALPHABET = digits + ascii_letters
SECRET_LENGTH = 43
"""62 ** 43 is a little over 2 ** 256."""

MAX_OVERLAP = timedelta(days=7)
"""How long the previous secret may be accepted after a new one is created."""

CHECKSUM_LENGTH = 6
"""62 ** 6 is over 2 ** 32: room for a CRC-32."""
PUBLIC_ID_LENGTH = 16

PATTERN = r"\b(?:ppk_(?:live|test)_[0-9A-Za-z]{16}_|pps_[0-9A-Za-z]{16}_|ppcs_)[0-9A-Za-z]{49}\b"
"""Finds API keys, SCIM tokens and client secrets that leaked; published in docs/security.md."""


def random_text(length: int) -> str:
    """Return letters and digits, each from the system's random source."""
    return "".join(secrets.choice(ALPHABET) for _ in range(length))


def new_secret(start: str) -> str:
    """Return a secret that begins with ``start`` and ends with its checksum."""
    body = start + random_text(SECRET_LENGTH)
    return body + checksum(body)


def pattern_of(kind: str) -> re.Pattern[str]:
    """Return the spelling of secrets with a public id; ``kind`` is a pattern itself."""
    return re.compile(
        rf"({kind}[0-9A-Za-z]{{{PUBLIC_ID_LENGTH}}})_"
        rf"[0-9A-Za-z]{{{SECRET_LENGTH}}}([0-9A-Za-z]{{{CHECKSUM_LENGTH}}})"
    )


def public_id_of(secret: str | None, pattern: re.Pattern[str]) -> str | None:
    """Return the public id of a secret that is spelt correctly, else None."""
    match = pattern.fullmatch(secret or "")
    is_spelt = match is not None and checksum(match[0][:-CHECKSUM_LENGTH]) == match[2]
    return match[1] if match and is_spelt else None


def checksum(text: str) -> str:
    """Return the CRC-32 of an ASCII text as six letters and digits; it detects a misspelt secret
    offline."""
    number, letters = zlib.crc32(text.encode("ascii")), ""
    for _ in range(CHECKSUM_LENGTH):
        number, digit = divmod(number, len(ALPHABET))
        letters = ALPHABET[digit] + letters
    return letters


def hash_of(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def matches_secret(secret: str, secret_hash: str) -> bool:
    """Return whether the secret is the one that was hashed, compared in constant time."""
    return hmac.compare_digest(hash_of(secret), secret_hash)
