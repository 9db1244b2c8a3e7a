"""What became of the contacts of a request: the answer of Area C, and what an upload keeps."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from app.errors import Problem
from app.services.contacts.stored import Said

CREATED, UPDATED, DELETED, IGNORED, FAILED = "created", "updated", "deleted", "ignored", "failed"


class Success(TypedDict):
    """``phone`` and ``email`` as they were sent; ``id`` is None for what a dry run would create."""

    phone: Any
    email: Any
    action: str
    id: str | None


class Ignored(TypedDict):
    index: int
    phone: Any
    email: Any
    code: str


class Failure(TypedDict):
    index: int
    phone: Any
    email: Any
    code: str
    field: str | None
    message: str
    retryable: bool


@dataclass(slots=True)
class Change:
    """One step of the undo log. ``before`` and ``after`` are states (see `Stored.state`)."""

    row_number: int
    contact_id: str
    action: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None


@dataclass(slots=True)
class BulkResult:
    """created + updated + deleted + ignored + failed = contacts sent, always.

    ``outcomes`` has one word for each contact in the order sent, ``problems`` everything that is
    wrong with those that failed, by the same index as ``errors``. ``changes`` is filled where it
    was asked for, and so is ``again``: for each row about the contact of an earlier one, what the
    last of those said and what the row itself says.
    """

    success: list[Success]
    errors: list[Failure]
    ignored: list[Ignored]
    created: int
    updated: int
    deleted: int
    outcomes: list[str]
    problems: dict[int, Sequence[Problem]] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    again: dict[int, tuple[Said, Said]] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        return {
            CREATED: self.created,
            UPDATED: self.updated,
            DELETED: self.deleted,
            IGNORED: len(self.ignored),
            FAILED: len(self.errors),
        }

    @property
    def message(self) -> str:
        """The counts in words."""
        sent = len(self.outcomes)
        counts = ", ".join(f"{number:,} {word}" for word, number in self.counts.items())
        return f"{sent:,} {'contact was' if sent == 1 else 'contacts were'} sent: {counts}."

    def body(self) -> dict[str, Any]:
        """The answer on the wire."""
        return {
            "message": self.message,
            "success": self.success,
            "errors": self.errors,
            "ignored": self.ignored,
        }
