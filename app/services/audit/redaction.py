"""Removing personal data from entries of the history, which stays verifiable.

A redaction is recorded before the entry changes, with the digest that the entry has afterwards. An
entry of the same chain certifies these digests by a hash over all of them, and is itself part of
the chain. So an entry may differ from its link only as an entry of the chain says.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from app.models import AuditEntry, AuditRedaction
from app.policy.caller import system_caller
from app.services.audit import log
from app.services.audit.chain import FIELDS, SALT, chain_of, content_of, digest_of

REDACTED = "history.redacted"
CHANGEABLE = ("actor", "ip", "target_id", "target", "before", "after")
"""The columns that a redaction can change; the database refuses changes of others."""


class ForgedRedaction(NamedTuple):
    """The entry ``recorded_by`` certifies other redactions than there are, or can't certify any."""

    chain: UUID
    recorded_by: UUID


def redact(
    session: Session,
    partner_id: UUID | None,
    changed: Sequence[tuple[AuditEntry, Mapping[str, Any]]],
) -> None:
    """Write these values (see `CHANGEABLE`) into entries of one chain. Their salts are deleted
    too."""
    rows = []
    for entry, values in changed:
        content = {name: getattr(entry, name) for name in FIELDS} | dict(values)
        rows.append(
            {
                "entry_id": entry.id,
                "number": entry.redacted + 1,
                "chain": chain_of(partner_id),
                "digest": digest_of(content_of(content)),
            }
        )
    recorded = log.record(
        session,
        system_caller("system", partner_id),
        action=REDACTED,
        target_type="history",
        target_id=chain_of(partner_id),
        after={"entries": len(rows), "digest": _digest(rows)},
    )
    session.flush()
    session.execute(insert(AuditRedaction), [row | {"recorded_by": recorded.id} for row in rows])
    for entry, values in changed:
        session.execute(
            update(AuditEntry)
            .where(AuditEntry.id == entry.id)
            .values({**values, SALT: None, "redacted": entry.redacted + 1})
            .execution_options(synchronize_session=False)
        )
        session.expire(entry)


def first_forged(session: Session) -> ForgedRedaction | None:
    """Return the first record of redactions that was changed; None if there is none."""
    promised = {
        entry.id: (chain_of(entry.partner_id), (entry.after or {}).get("digest"))
        for entry in session.execute(
            select(AuditEntry.id, AuditEntry.partner_id, AuditEntry.after).where(
                AuditEntry.action == REDACTED
            )
        )
    }
    redactions: dict[UUID, list[dict[str, Any]]] = {identifier: [] for identifier in promised}
    for row in session.scalars(select(AuditRedaction)):
        if row.recorded_by not in promised or promised[row.recorded_by][0] != row.chain:
            return ForgedRedaction(row.chain, row.recorded_by)
        redactions[row.recorded_by].append(
            {"entry_id": row.entry_id, "number": row.number, "digest": row.digest}
        )
    for recorded_by, (chain, digest) in promised.items():
        if _digest(redactions[recorded_by]) != digest:
            return ForgedRedaction(chain, recorded_by)
    return None


def _digest(rows: Iterable[Mapping[str, Any]]) -> str:
    lines = sorted(f"{row['entry_id']} {row['number']} {row['digest']}\n" for row in rows)
    return hashlib.sha256("".join(lines).encode()).hexdigest()
