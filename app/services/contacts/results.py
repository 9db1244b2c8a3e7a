"""The result of a request that changes contacts, and the steps of its undo log."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from app.errors import Problem
from app.services.contacts.contact_index import (
    RowIdentity,
)

CREATED, UPDATED, DELETED, IGNORED, FAILED = "created", "updated", "deleted", "ignored", "failed"
COUNTS = (CREATED, UPDATED, DELETED, IGNORED, FAILED)


class ContactSuccess(TypedDict):
    """``phone`` and ``email`` as they were sent; ``id`` is None for a contact that a dry run would
    create."""

    phone: Any
    email: Any
    action: str
    id: str | None


class ContactIgnored(TypedDict):
    index: int
    phone: Any
    email: Any
    code: str


class ContactFailure(TypedDict):
    index: int
    phone: Any
    email: Any
    code: str
    field: str | None
    message: str
    retryable: bool


@dataclass(slots=True)
class UndoStep:
    """A step of the undo log. ``before`` and ``after`` are states (`CurrentContact.state`)."""

    row_number: int
    contact_id: str
    action: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None


@dataclass(slots=True)
class BulkResult:
    """The result for each contact; created + updated + deleted + ignored + failed = contacts sent,
    always.

    ``outcomes`` has one word for each contact in the order sent, ``problems`` everything that is
    wrong with the failed ones, by the index of ``errors``. ``changes`` is filled on request, and so
    is ``again``: for each row about the contact of an earlier row, the identifiers of both. A dry
    run also fills ``equal``, the rows whose contact has their values already, and ``listed``, the
    rows with a number on the do-not-call list.
    """

    success: list[ContactSuccess]
    errors: list[ContactFailure]
    ignored: list[ContactIgnored]
    created: int
    updated: int
    deleted: int
    outcomes: list[str]
    problems: dict[int, Sequence[Problem]] = field(default_factory=dict)
    changes: list[UndoStep] = field(default_factory=list)
    again: dict[int, tuple[RowIdentity, RowIdentity]] = field(default_factory=dict)
    equal: set[int] = field(default_factory=set)
    listed: set[int] = field(default_factory=set)

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
        total = len(self.outcomes)
        counts = ", ".join(f"{number:,} {word}" for word, number in self.counts.items())
        return f"{total:,} {'contact was' if total == 1 else 'contacts were'} sent: {counts}."

    def body(self) -> dict[str, Any]:
        return {
            "message": self.message,
            "success": self.success,
            "errors": self.errors,
            "ignored": self.ignored,
        }
