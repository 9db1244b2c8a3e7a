"""The HTTP status of each domain error, and of failures that pass."""

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
"""After a failure that passes."""


def status_of(error: DomainError) -> int:
    return next(status for kind, status in STATUS.items() if isinstance(error, kind))


def may_pass(failure: BaseException | None) -> bool:
    """Whether the database, the disk, memory or file handles were lacking: an answer of 503."""
    if isinstance(failure, OSError):
        return failure.errno in _LACKS
    return isinstance(failure, OperationalError | InterfaceError | PoolTimeout | MemoryError)
