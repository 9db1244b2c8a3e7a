"""What a call's worker is to look at at once: a cancellation, a carrier's own report."""

from collections.abc import Collection
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.models import CallNews, new_id, utcnow


def tell(session: Session, attempt_id: UUID) -> None:
    """Whoever stays with the attempt looks at it once this is committed."""
    session.add(CallNews(id=new_id(), attempt_id=attempt_id, told_at=utcnow()))


def told_of(session: Session) -> set[UUID]:
    """The attempts of which something was told."""
    return set(session.scalars(select(CallNews.attempt_id)))


def forget(session: Session, attempt_ids: Collection[UUID]) -> None:
    """Call it before the attempts are looked at: what is told from then on is told anew."""
    session.execute(delete(CallNews).where(CallNews.attempt_id.in_(attempt_ids)))
