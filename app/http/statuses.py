"""The HTTP status of each domain error, and of temporary failures."""

import errno

from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from app.errors import (
    Conflict,
    DomainError,
    Forbidden,
    Gone,
    NotFound,
    RateLimited,
    TooLarge,
    Unauthenticated,
    Unavailable,
    UnsupportedMedia,
    ValidationFailed,
)

STATUS: dict[type[DomainError], int] = {
    ValidationFailed: 400,
    Unauthenticated: 401,
    Forbidden: 403,
    NotFound: 404,
    Conflict: 409,
    Gone: 410,
    TooLarge: 413,
    UnsupportedMedia: 415,
    RateLimited: 429,
    Unavailable: 503,
}
_LACKS = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE, errno.ENOMEM}
)
RETRY_SECONDS = 5
"""Seconds to wait after a temporary failure."""


def status_of(error: DomainError) -> int:
    return next(status for kind, status in STATUS.items() if isinstance(error, kind))


def may_pass(failure: BaseException | None) -> bool:
    """Return whether a failure is temporary (503): the database, disk, memory or file handles were
    lacking."""
    if isinstance(failure, OSError):
        return failure.errno in _LACKS
    return isinstance(failure, OperationalError | InterfaceError | PoolTimeout | MemoryError)
