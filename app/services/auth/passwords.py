"""Passwords: argon2id, checked in the same time whether or not the account exists."""

import secrets

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

MAX_LENGTH = 1000

_hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
"""19 MiB and two passes (OWASP's password storage sheet): many threads may hash at once."""

_DUMMY_HASH = _hasher.hash(secrets.token_bytes(16))


def hash_password(password: str) -> str:
    """The encoded argon2id hash. Costs some 30 ms: never inside a transaction."""
    return _hasher.hash(password.encode("utf-8", "surrogatepass"))


def verify(password_hash: str | None, password: str) -> bool:
    """Whether the password fits. Without a hash (unknown address, no password set) it works as
    long as with one and says no. Costs some 30 ms: never inside a transaction."""
    if len(password) > MAX_LENGTH:
        return False
    try:
        _hasher.verify(password_hash or _DUMMY_HASH, password.encode("utf-8", "surrogatepass"))
    except (VerificationError, InvalidHashError):
        return False
    return password_hash is not None


def needs_rehash(password_hash: str) -> bool:
    """Whether the hash was made with other costs than today's."""
    return _hasher.check_needs_rehash(password_hash)
