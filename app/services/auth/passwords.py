"""Passwords: argon2id, checked in the same time whether or not the account exists."""

import unicodedata

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

MAX_LENGTH = 1000

_hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
"""19 MiB and two passes (OWASP's password storage sheet): many threads may hash at once."""

_DUMMY_HASH = (
    "$argon2id$v=19$m=19456,t=2,p=1$sEqvl/WehD+FyTi6xwj/QQ"
    "$RN+yRul0/uUyGjjnrzYWiugxIXkvwBnQDhqzXM1q8EE"
)
"""A hash of discarded random bytes, with the costs of `_hasher`: hashing here would delay the
start."""


def hash_password(password: str) -> str:
    """Return the encoded argon2id hash. Takes some 30 ms: never inside a transaction."""
    return _hasher.hash(_encode(normalized(password)))


def normalized(password: str) -> str:
    """Return the password in NFKC: keyboards write the same letter in different code points."""
    return unicodedata.normalize("NFKC", password)


def verify(password_hash: str | None, password: str) -> bool:
    """Return whether the password fits. Without a hash (unknown address, no password set) it takes
    as long and returns False. Takes some 30 ms: never inside a transaction."""
    if len(password) > MAX_LENGTH:
        return False
    checked_hash = password_hash or _DUMMY_HASH
    # Hashes from before passwords were normalized are of the password as typed.
    fits = [_fits(checked_hash, form) for form in {normalized(password), password}]
    return password_hash is not None and any(fits)


def needs_rehash(password_hash: str) -> bool:
    """Return whether the hash was made with other costs than the current ones."""
    return _hasher.check_needs_rehash(password_hash)


def _fits(password_hash: str, password: str) -> bool:
    try:
        return _hasher.verify(password_hash, _encode(password))
    except (VerificationError, InvalidHashError):
        return False


def _encode(password: str) -> bytes:
    return password.encode("utf-8", "surrogatepass")
