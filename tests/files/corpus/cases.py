"""The files of the corpus, and their expected results.

Expectations have the shape of the object that the command prints: outcome, refusal, read, counters,
rows, warnings. Only named parts are compared, but named rows are all rows.
"""

from dataclasses import dataclass, field
from typing import Any

ANN, BOB, CY = "+12025550101", "+12025550102", "+12025550103"


@dataclass(frozen=True, slots=True)
class Case:
    """A file under the name that a person gives it. ``read`` are expectations on how it was read,
    ``warnings`` the kinds about the whole file with their rows."""

    name: str
    data: bytes
    rows: list[dict[str, Any]] = field(default_factory=list)
    read: dict[str, Any] = field(default_factory=dict)
    warnings: dict[str, int] = field(default_factory=dict)
    refusal: tuple[str, int | None] | None = None
    action: str = "upsert"
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def expected(self) -> dict[str, Any]:
        if self.refusal:
            kind, row = self.refusal
            return {"outcome": "refused", "refusal": {"kind": kind, "row": row}}
        return {
            "outcome": "read",
            "counters": self._counters(),
            "read": self.read,
            "rows": self.rows,
            "warnings": self.warnings,
        }

    def _counters(self) -> dict[str, int]:
        counters = dict.fromkeys(
            ("created", "updated", "deleted", "ignored", "skipped", "failed"), 0
        )
        for row in self.rows:
            name = {"error": "failed", "ignored": "ignored", "skipped": "skipped"}.get(row["is"])
            counters[name or row["action"]] += 1
        return counters


def ok(
    number: int, first: str = "", last: str = "", phone: str = "", email: str = "", **more: Any
) -> dict[str, Any]:
    """A row that is applied. ``warnings`` and ``action`` as they are; ``meta`` is metadata."""
    warnings = more.pop("warnings", "").split()
    action = more.pop("action", "created")
    contact = {"firstName": first, "lastName": last, "phone": phone, "email": email, **more}
    contact["contactMetadata"] = contact.pop("meta", None)
    return {
        "row": number,
        "is": "accepted",
        "action": action,
        "contact": {name: value for name, value in contact.items() if value},
        "warnings": sorted(warnings),
    }


def bad(number: int, *errors: tuple[str, str | None]) -> dict[str, Any]:
    """A row in error: kind and column of each."""
    described = [{"kind": kind, "column": column} for kind, column in errors]
    return {"row": number, "is": "error", "errors": described}


def skipped(number: int, kind: str | None = None) -> dict[str, Any]:
    """A blank row, or one of a footer."""
    return {"row": number, "is": "skipped", "kind": kind}
