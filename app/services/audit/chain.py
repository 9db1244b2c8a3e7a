"""The hash chain over the audit log: a changed entry is detected.

Each partner has a chain of its own, and so have the entries without a partner. Writers of two
partners never wait for each other, and a partner's chain can be checked without the others.

An entry joins its chain just before its transaction commits. Two writers of one partner wait for
each other only there, and the waiting one takes no further lock: a deadlock can't arise.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import event, func, insert, inspect, select
from sqlalchemy.orm import Session

from app.models import AuditEntry, AuditLink

WITHOUT_PARTNER = UUID(int=0)
"""The chain of entries that belong to no partner."""
FIELDS = {
    "id": "id",
    "at": "at",
    "partner_id": "partnerId",
    "organization_id": "organizationId",
    "actor_kind": "actorKind",
    "actor_id": "actorId",
    "actor": "actor",
    "ip": "ip",
    "request_id": "requestId",
    "action": "action",
    "target_type": "targetType",
    "target_id": "targetId",
    "target": "target",
    "before": "before",
    "after": "after",
}
"""The columns of an entry, and their names in the JSON that is hashed and exported."""
SALT = "salt"
"""The column, and the name in the JSON, of the salt that keeps a hash from revealing redacted
values."""
_WAITING = "audit entries to link"


def chain_of(partner_id: UUID | None) -> UUID:
    return partner_id or WITHOUT_PARTNER


def content_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry as JSON values, the same before and after it is stored, on both
    databases. Entries of earlier versions and redacted ones have no salt."""
    content = {name: _to_canonical(entry[column]) for column, name in FIELDS.items()}
    salt = entry.get(SALT)
    return content | {SALT: salt} if salt else content


def digest_of(content: Mapping[str, Any]) -> str:
    """Return SHA-256 over the JSON with sorted keys, without spaces, in UTF-8."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def hash_of(previous: str, chain: UUID, number: int, digest: str) -> str:
    """Return SHA-256 over the previous hash (empty for the first entry), the place and the
    digest."""
    return hashlib.sha256(f"{previous} {chain} {number} {digest}".encode()).hexdigest()


def link_at_commit(session: Session, entry: AuditEntry) -> None:
    """Link the entry to its chain when the session commits, if it still exists then."""
    if _WAITING not in session.info:
        session.info[_WAITING] = []
        event.listen(session, "before_commit", _link_entries)
    session.info[_WAITING].append(entry)


def _link_entries(session: Session) -> None:
    if session.in_nested_transaction():
        return
    session.flush()
    waiting = session.info[_WAITING]
    persistent = [
        entry for entry in waiting if inspect(entry).persistent
    ]  # not rolled back meanwhile
    waiting.clear()
    by_chain: dict[UUID, list[AuditEntry]] = {}
    for entry in persistent:
        by_chain.setdefault(chain_of(entry.partner_id), []).append(entry)
    for chain in sorted(by_chain, key=_lock_key):  # a fixed order, so that writers can't deadlock
        number, previous = _last_link(session, chain)
        rows = []
        for entry in by_chain[chain]:
            number += 1
            digest = digest_of(content_of({name: getattr(entry, name) for name in (*FIELDS, SALT)}))
            previous = hash_of(previous, chain, number, digest)
            rows.append(
                {
                    "chain": chain,
                    "number": number,
                    "entry_id": entry.id,
                    "digest": digest,
                    "hash": previous,
                }
            )
        session.execute(insert(AuditLink), rows)


def _last_link(session: Session, chain: UUID) -> tuple[int, str]:
    """Return the number and hash of the last link, locked until the transaction ends. SQLite has
    one writer at a time anyway."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(select(func.pg_advisory_xact_lock(_lock_key(chain))))
    last = (
        select(AuditLink.number, AuditLink.hash)
        .where(AuditLink.chain == chain)
        .order_by(AuditLink.number.desc())
        .limit(1)
    )
    newest = session.execute(last).one_or_none()
    return (newest.number, newest.hash) if newest else (0, "")


def _lock_key(chain: UUID) -> int:
    digest = hashlib.sha256(b"audit chain " + chain.bytes).digest()
    return int.from_bytes(digest[:8], signed=True)


def _to_canonical(value: Any) -> Any:
    match value:
        case UUID():
            return str(value)
        case datetime():
            return value.astimezone(UTC).isoformat(timespec="microseconds")
        case float() if value.is_integer():
            return int(value)  # PostgreSQL stores 1.0 and 1e20 as whole numbers
        case Mapping():
            return {str(key): _to_canonical(item) for key, item in value.items()}
        case list() | tuple():
            return [_to_canonical(item) for item in value]
        case _:
            return value
