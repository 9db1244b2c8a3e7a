"""Sending the audit log to a syslog server: each entry at least once, in the order of its chain."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.models import AuditForwarding, AuditLink, Partner
from app.services.audit.chain import WITHOUT_PARTNER
from app.services.audit.verification import export


def due(session: Session, limit: int) -> Sequence[dict[str, Any]]:
    """Return the next unsent entries of one chain, at most ``limit``; empty when all chains are
    sent."""
    sent_numbers = {row.chain: row.number for row in session.scalars(select(AuditForwarding))}
    for chain in (WITHOUT_PARTNER, *_grown_chains(session)):
        waiting = export(
            session,
            AuditLink.chain == chain,
            AuditLink.number > sent_numbers.get(chain, 0),
            AuditLink.number <= sent_numbers.get(chain, 0) + limit,
        )
        entries = list(waiting)
        if entries:
            return entries
    return []


def mark_sent(session: Session, entries: Sequence[dict[str, Any]]) -> None:
    """Mark entries of one chain, as `due` returned them, as received."""
    chain, number = UUID(entries[-1]["chain"]), entries[-1]["number"]
    stored = session.get(AuditForwarding, chain, with_for_update=True)
    if stored is None:
        session.add(AuditForwarding(chain=chain, number=number))
    else:
        stored.number = max(stored.number, number)


def _grown_chains(session: Session) -> Sequence[UUID]:
    """Return the partners whose chain has grown: one look-up of each chain's end."""
    end = (
        select(func.max(AuditLink.number))
        .where(AuditLink.chain == Partner.id)
        .correlate(Partner)
        .scalar_subquery()
    )
    query = (
        select(Partner.id)
        .outerjoin(AuditForwarding, AuditForwarding.chain == Partner.id)
        .where(end > func.coalesce(AuditForwarding.number, 0))
    )
    return session.scalars(query).all()
