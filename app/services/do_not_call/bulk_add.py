"""Add many numbers with one statement per chunk and one history entry for all of them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import insert
from sqlalchemy.orm import Session

from app.models import DoNotCallEntry, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit, organizations
from app.services.do_not_call.entries import listed_among, waiting_to
from app.services.do_not_call.parsing import SheetLine
from app.validation.texts import trim

NUMBERS_A_STATEMENT = 500


@dataclass(frozen=True, slots=True)
class AddedNumbers:
    """How many numbers were new, how many were on the list before, and the waiting calls that they
    stop."""

    added: int
    known: int
    calls: int


def add_many(
    session: Session,
    caller: Caller,
    organization_id: UUID,
    lines: Sequence[SheetLine],
    *,
    reason: str | None = None,
    source: str = "portal",
) -> AddedNumbers:
    """Add numbers to the list; those already on it keep their entries.

    A line's own reason replaces ``reason``. Waiting calls are stopped when their turn comes; they
    are only counted here. The history names each number. Raises `Forbidden` and `NotFound`.
    """
    caller.require(Permission.CONTACTS_WRITE)
    organization = organizations.get(session, caller, organization_id, for_change=True)
    phones = {line.phone: line for line in lines if line.phone is not None}
    existing = listed_among(session, organization.id, phones)
    now = utcnow()
    default_reason = trim(reason)[:500] or None
    rows: list[dict[str, Any]] = [
        {
            "organization_id": organization.id,
            "phone": phone,
            "partner_id": organization.partner_id,
            "reason": line.reason or default_reason,
            "source": source,
            "added_by": caller.label[:200],
            "created_at": now,
        }
        for phone, line in phones.items()
        if phone not in existing
    ]
    for start in range(0, len(rows), NUMBERS_A_STATEMENT):
        chunk = rows[start : start + NUMBERS_A_STATEMENT]
        session.execute(insert(DoNotCallEntry), chunk)
        is_one = len(chunk) == 1
        reasons = {row["phone"]: row["reason"] for row in chunk}
        audit.record(
            session,
            caller,
            action=audit.NUMBER_LISTED,
            target_type="do_not_call",
            target_id=organization.id,
            partner_id=organization.partner_id,
            organization_id=organization.id,
            target=chunk[0]["phone"] if is_one else f"{len(chunk):,} numbers",
            after={
                "numbers": len(chunk),
                "source": source,
                **({"reason": chunk[0]["reason"]} if is_one else {"reasons": reasons}),
            },
        )
    calls = waiting_calls_to(session, organization.id, {row["phone"] for row in rows})
    return AddedNumbers(len(rows), len(existing), calls)


def waiting_calls_to(session: Session, organization_id: UUID, phones: Collection[str]) -> int:
    """Return the organization's calls to these numbers (E.164) that are not placed yet."""
    ordered = sorted(phones)
    waiting = 0
    for start in range(0, len(ordered), NUMBERS_A_STATEMENT):
        chunk = ordered[start : start + NUMBERS_A_STATEMENT]
        waiting += session.scalar(waiting_to(organization_id, chunk)) or 0
    return waiting
