"""Check the chains of the audit log, and read them in order."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, select
from sqlalchemy.orm import Session

from app.models import AuditEntry, AuditLink, AuditRedaction
from app.services.audit import redaction
from app.services.audit.chain import FIELDS, SALT, content_of, digest_of, hash_of

_BATCH_SIZE = 1000
_NAMES = (*FIELDS, SALT, "redacted")
_COLUMNS = tuple(getattr(AuditEntry, name) for name in _NAMES)
_REDACTED = "redacted digest"


@dataclass(frozen=True, slots=True)
class BrokenChain:
    """The first changed row. ``entry_id`` is None if it isn't known."""

    reason: str
    chain: UUID | None
    number: int | None
    entry_id: UUID | None


@dataclass(frozen=True, slots=True)
class AuditVerification:
    """``broken`` is None if every entry is unchanged."""

    chains: int
    entries: int
    broken: BrokenChain | None


@dataclass(slots=True)
class _ChainPosition:
    chain: UUID
    number: int = 0
    hash: str = ""


def verify(
    session: Session, known: Mapping[UUID, tuple[int, str]] | None = None
) -> AuditVerification:
    """Check every chain from its first link. ``known`` is the number and hash of an earlier link of
    each chain: they reveal that a chain was cut off or rewritten since."""
    ends = dict(known or {})
    position: _ChainPosition | None = None
    chains = entries = 0
    for link, entry in _linked_entries(session):
        if position is None or position.chain != link.chain:
            position = _ChainPosition(link.chain)
            chains += 1
        broken = _find_problem(position, link, entry)
        if broken is None and ends.get(link.chain, (0, ""))[0] == link.number:
            _, expected = ends.pop(link.chain)
            if link.hash != expected:
                broken = "The history was written again since the known state"
        if broken is not None:
            return AuditVerification(
                chains, entries, BrokenChain(broken, link.chain, link.number, link.entry_id)
            )
        position.number, position.hash = link.number, link.hash
        entries += 1
    for chain, (number, _hash) in ends.items():
        reason = "The end of the known history is missing"
        return AuditVerification(chains, entries, BrokenChain(reason, chain, number, None))
    unlinked = session.execute(_unlinked_entry()).first()
    if unlinked is not None:
        broken_entry = BrokenChain(
            "The entry has no place in a chain", unlinked.partner_id, None, unlinked.id
        )
        return AuditVerification(chains, entries, broken_entry)
    forged = redaction.first_forged(session)
    if forged is not None:
        reason = "The record of a redaction was changed"
        return AuditVerification(
            chains, entries, BrokenChain(reason, forged.chain, None, forged.recorded_by)
        )
    return AuditVerification(chains, entries, None)


def export(session: Session, *conditions: ColumnElement[bool]) -> Iterator[dict[str, Any]]:
    """Return every link in the order of its chain, with its entry, as JSON values. Of an entry from
    which personal data was removed, ``redactedDigest`` is the digest now."""
    for link, entry in _linked_entries(session, *conditions):
        exported = {
            **content_of(entry or dict.fromkeys(FIELDS)),
            "chain": str(link.chain),
            "number": link.number,
            "digest": link.digest,
            "hash": link.hash,
        }
        if entry is not None and entry["redacted"]:
            exported["redactedDigest"] = entry[_REDACTED]
        yield exported


def _linked_entries(
    session: Session, *conditions: ColumnElement[bool]
) -> Iterator[tuple[AuditLink, dict[str, Any] | None]]:
    latest = and_(
        AuditRedaction.entry_id == AuditEntry.id, AuditRedaction.number == AuditEntry.redacted
    )
    query = (
        select(AuditLink, *_COLUMNS, AuditRedaction.digest)
        .outerjoin(AuditEntry, AuditEntry.id == AuditLink.entry_id)
        .outerjoin(AuditRedaction, latest)
        .where(*conditions)
        .order_by(AuditLink.chain, AuditLink.number)
        .execution_options(yield_per=_BATCH_SIZE)
    )
    for link, *values in session.execute(query):
        entry = dict(zip((*_NAMES, _REDACTED), values, strict=True))
        yield link, entry if entry["id"] is not None else None


def _find_problem(
    position: _ChainPosition, link: AuditLink, entry: dict[str, Any] | None
) -> str | None:
    if link.number != position.number + 1:
        return f"Number {position.number + 1} of the chain is missing"
    if entry is None:
        return "The entry was deleted"
    expected = entry[_REDACTED] if entry["redacted"] else link.digest
    if digest_of(content_of(entry)) != expected:
        return "The entry was changed"
    if hash_of(position.hash, link.chain, link.number, link.digest) != link.hash:
        return "The link was changed"
    return None


def _unlinked_entry() -> Any:
    return (
        select(AuditEntry.id, AuditEntry.partner_id)
        .outerjoin(AuditLink, AuditLink.entry_id == AuditEntry.id)
        .where(AuditLink.entry_id.is_(None))
        .order_by(AuditEntry.id)
        .limit(1)
    )
