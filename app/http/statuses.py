"""The HTTP status of each domain error."""

from app.errors import (
    Conflict,
    DomainError,
    Forbidden,
    Gone,
    NotFound,
    RateLimited,
    TooLarge,
    Unauthenticated,
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
}


def status_of(error: DomainError) -> int:
    return next(status for kind, status in STATUS.items() if isinstance(error, kind))
