"""Domain errors, in the business's own words.

Services raise them, each face maps them once to its own answer. Nothing here knows HTTP.
``code`` is a stable machine word, ``message`` a sentence for a person, ``problems`` name the
fields concerned in the words of the contract (camelCase, dotted: ``contact.phoneNumber``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with one field of the input."""

    field: str
    code: str
    message: str


@dataclass(eq=False)
class DomainError(Exception):
    """Base of everything a service refuses. ``extra`` is added to the error body's details."""

    message: str
    code: str
    problems: Sequence[Problem] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.message


class ValidationFailed(DomainError):
    """The input is wrong: something in it must be changed before it can be accepted."""

    @classmethod
    def of(cls, *problems: Problem) -> "ValidationFailed":
        """One error for all problems; its code is that of the first."""
        if len(problems) == 1:
            return cls(problems[0].message, problems[0].code, problems)
        return cls(f"{len(problems)} fields need changing.", "validation_failed", problems)

    @classmethod
    def on(cls, field: str, code: str, message: str) -> "ValidationFailed":
        """Shorthand for a single problem."""
        return cls.of(Problem(field, code, message))


class Unauthenticated(DomainError):
    """No valid credential came with the request."""


class Forbidden(DomainError):
    """The credential is valid, its role or scope is too low."""


class NotFound(DomainError):
    """Absent, or another tenant's: both are answered in the same way."""

    def __init__(
        self, message: str = "Nothing was found at this address.", code: str = "not_found"
    ):
        super().__init__(message, code)


class Conflict(DomainError):
    """Correct input that the present state refuses."""


class Gone(DomainError):
    """The operation has been retired."""


class TooLarge(DomainError):
    """More bytes, rows or characters than the published limit."""


class UnsupportedMedia(DomainError):
    """A content type or encoding that the operation does not read."""


class RateLimited(DomainError):
    """Too many requests; ``retry_after`` is in whole seconds."""

    def __init__(self, message: str, retry_after: int, code: str = "rate_limited"):
        super().__init__(message, code)
        self.retry_after = retry_after


def in_minutes(seconds: int) -> str:
    """When to try again, in words: "in 1 minute", never too early."""
    minutes = max(1, -(-seconds // 60))
    return f"in {minutes} minute{'s' if minutes > 1 else ''}"


CHANGED_MEANWHILE = "changed_meanwhile"


def refuse_stale(seen: int | None, stored: int, what: str) -> None:
    """Raise `Conflict` (``changed_meanwhile``) where another version is stored than the user has
    seen; None checks nothing."""
    if seen is not None and seen != stored:
        message = f"Someone else changed the {what}. Nothing was saved."
        raise Conflict(message, CHANGED_MEANWHILE)
