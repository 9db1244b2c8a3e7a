"""Secrets that must be read again: stored encrypted (A256GCM) under the application's secret.

Each purpose has its own key. When the application's secret changes, the previous one is configured
in addition until everything is re-encrypted.
"""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass

from joserfc import jwe
from joserfc.errors import JoseError
from joserfc.jwk import OctKey


class SealBroken(Exception):
    """No known key decrypts it, or it isn't encrypted at all."""


@dataclass(frozen=True, slots=True)
class DecryptedText:
    """``is_current``: it was encrypted with the first key."""

    text: str
    is_current: bool


def seal(text: str, purpose: str, keys: Sequence[str]) -> str:
    """Return the text, encrypted with the first key."""
    return jwe.encrypt_compact(
        {"alg": "dir", "enc": "A256GCM"}, text, _derive_key(purpose, keys[0])
    )


def unseal(sealed: str, purpose: str, keys: Sequence[str]) -> DecryptedText:
    """Decrypt a text. Raises `SealBroken`."""
    for position, key in enumerate(keys):
        try:
            plain = jwe.decrypt_compact(sealed, _derive_key(purpose, key)).plaintext
        except (JoseError, ValueError):  # the library's errors for another key and invalid text
            continue
        return DecryptedText((plain or b"").decode(), is_current=position == 0)
    raise SealBroken


def try_unseal(sealed: str, purpose: str, keys: Sequence[str]) -> str | None:
    """Return the decrypted text; None if no known key decrypts it."""
    try:
        return unseal(sealed, purpose, keys).text
    except SealBroken:
        return None


def reseal(sealed: str, purpose: str, keys: Sequence[str]) -> str:
    """Return the text, encrypted with the first key; unchanged if no known key decrypts it."""
    try:
        unsealed = unseal(sealed, purpose, keys)
    except SealBroken:
        return sealed
    return sealed if unsealed.is_current else seal(unsealed.text, purpose, keys)


def _derive_key(purpose: str, key: str) -> OctKey:
    return OctKey.import_key(hmac.digest(key.encode(), purpose.encode(), "sha256"))
