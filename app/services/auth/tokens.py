"""The tokens of cookies and links. Only their hash is stored."""

import hashlib
import secrets


def random_token() -> str:
    return secrets.token_urlsafe(32)


def hash_of(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
