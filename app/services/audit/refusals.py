"""Refused attempts in the history: few rows for any number of attempts.

Equal refusals of ten minutes are counted in one place. The history gets a row for the 1st, 10th,
100th and so on, and one with the sum when the ten minutes are over.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from operator import itemgetter
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CallerKind, Role
from app.models import RefusalCount, utcnow
from app.policy.caller import Caller
from app.services.audit import log
from app.services.uniqueness import insert_into

WINDOW = timedelta(minutes=10)
BATCH_SIZE = 500
SIGN_IN, PASSWORD, RECOVERY, CLIENT, KEY, REQUEST = log.REFUSED
SIGN_INS = (log.SIGNED_IN, SIGN_IN, PASSWORD, RECOVERY, CLIENT, KEY)
"""The entries of the filter for sign-ins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A refused attempt and its reason. ``network`` is None for many networks together."""

    action: str
    reason: str
    target_type: str
    target_id: UUID | str
    target: str | None = None
    partner_id: UUID | None = None
    organization_id: UUID | None = None
    network: str | None = None

    def key(self, actor: Caller) -> str:
        values = (
            self.action,
            self.reason,
            self.target_type,
            str(self.target_id),
            str(self.partner_id),
            str(self.network),
            str(actor.subject_id),
        )
        return hashlib.sha256("\0".join(values).encode("utf-8", "replace")).hexdigest()


def anonymous_caller(request_id: str | None = None) -> Caller:
    """Return the caller of an unauthenticated attempt."""
    return Caller(
        kind=CallerKind.VISITOR,
        role=Role.STANDARD,
        subject_id=None,
        label="Visitor",
        request_id=request_id,
    )


def record_refusals(session: Session, actor: Caller, refusals: Sequence[Refusal]) -> None:
    """Count refused attempts; the first, tenth, hundredth … of each kind becomes a row at once."""
    now = utcnow()
    by_key = {refusal.key(actor): refusal for refusal in refusals}
    for key, refusal in sorted(
        by_key.items(), key=itemgetter(0)
    ):  # one order, so that no two wait for each other
        row = _lock_count(session, key, refusal)
        if row.since + WINDOW <= now:
            _write_unwritten(session, row)
            row.since, row.times, row.written = now, 0, 0
        row.times += 1
        row.entry = _entry_values(actor, refusal)
        if _is_power_of_ten(row.times):
            _write_entry(session, row, actor.request_id)
    session.flush()


def close(session: Session) -> bool:
    """Write the sums of counts whose ten minutes are over and remove them, at most `BATCH_SIZE`;
    return whether there may be more."""
    query = (
        select(RefusalCount)
        .where(RefusalCount.since <= utcnow() - WINDOW)
        .order_by(RefusalCount.key)
        .limit(BATCH_SIZE)
        .with_for_update(skip_locked=True)
        .execution_options(populate_existing=True)
    )
    rows = session.scalars(query).all()
    for row in rows:
        _write_unwritten(session, row)
        session.delete(row)
    session.flush()
    return len(rows) == BATCH_SIZE


def _lock_count(session: Session, key: str, refusal: Refusal) -> RefusalCount:
    """Return the count, created if it is missing, locked by one statement."""
    first: dict[str, Any] = {
        "key": key,
        "partner_id": refusal.partner_id,
        "since": utcnow(),
        "times": 0,
        "written": 0,
        "entry": {},
    }
    locking = (
        insert_into(session, RefusalCount)
        .values(**first)
        .on_conflict_do_update(index_elements=["key"], set_={"times": RefusalCount.times})
        .returning(RefusalCount)
    )
    return session.scalars(locking, execution_options={"populate_existing": True}).one()


def _entry_values(actor: Caller, refusal: Refusal) -> dict[str, Any]:
    return {
        "actorKind": actor.kind.value,
        "actorId": str(actor.subject_id) if actor.subject_id else None,
        "actor": actor.label,
        "ip": refusal.network,
        "organizationId": str(refusal.organization_id) if refusal.organization_id else None,
        "action": refusal.action,
        "reason": refusal.reason,
        "targetType": refusal.target_type,
        "targetId": str(refusal.target_id),
        "target": refusal.target,
    }


def _write_unwritten(session: Session, row: RefusalCount) -> None:
    if row.times > row.written:
        _write_entry(session, row, None)


def _write_entry(session: Session, row: RefusalCount, request_id: str | None) -> None:
    entry = row.entry
    actor = Caller(
        kind=CallerKind(entry["actorKind"]),
        role=Role.STANDARD,
        subject_id=UUID(entry["actorId"]) if entry["actorId"] else None,
        label=entry["actor"],
        ip=entry["ip"],
        request_id=request_id,
    )
    log.record(
        session,
        actor,
        action=entry["action"],
        target_type=entry["targetType"],
        target_id=entry["targetId"],
        partner_id=row.partner_id,
        organization_id=UUID(entry["organizationId"]) if entry["organizationId"] else None,
        target=entry["target"],
        after={"reason": entry["reason"], "times": row.times, "since": row.since},
    )
    row.written = row.times


def _is_power_of_ten(number: int) -> bool:
    return str(number).strip("0") == "1"
