"""Browsers in which an account has signed in before, known by a signed cookie.

The cookie holds the random id of the browser and a signature for each of the last accounts. A
signature covers the account's password hash, so a new password makes every browser unknown. It
grants no access: it only separates the owner from strangers who guess the password.
"""

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from uuid import UUID

MAX_ACCOUNTS = 5
_COOKIE = re.compile(rf"([\w-]{{22}})((?:\.[\w-]{{22}}){{1,{MAX_ACCOUNTS}}})", re.ASCII)


def remember(
    cookie: str | None, user_id: UUID, password_hash: str | None, secret_keys: Sequence[str]
) -> str:
    """Return the cookie with this account added; beyond `MAX_ACCOUNTS` the oldest is dropped."""
    device, signatures = _read_cookie(cookie) or (secrets.token_urlsafe(16), [])
    signature = _sign(device, user_id, password_hash, secret_keys[0])
    # nosemgrep: secret-compared-with-equals - they were verified; this only drops a repeated one
    remaining = [each for each in signatures if each != signature]
    return ".".join([device, signature, *remaining][: MAX_ACCOUNTS + 1])


def known_device_id(
    cookie: str | None,
    accounts: Sequence[tuple[UUID, str | None]],
    secret_keys: Sequence[str],
) -> str | None:
    """The id of the browser if it has signed in to each of the accounts, else None."""
    device_cookie = _read_cookie(cookie)
    if device_cookie is None or not accounts:
        return None
    device, signatures = device_cookie
    for user_id, password_hash in accounts:
        expected = [_sign(device, user_id, password_hash, key) for key in secret_keys]
        if not any(hmac.compare_digest(a, b) for a in expected for b in signatures):
            return None
    return device


def _read_cookie(cookie: str | None) -> tuple[str, list[str]] | None:
    match = _COOKIE.fullmatch(cookie or "")
    return (match[1], match[2].split(".")[1:]) if match else None


def _sign(device: str, user_id: UUID, password_hash: str | None, key: str) -> str:
    content = f"known device\0{device}\0{user_id}\0{password_hash}".encode()
    digest = hmac.digest(key.encode(), content, hashlib.sha256)
    return base64.urlsafe_b64encode(digest[:16]).rstrip(b"=").decode()
