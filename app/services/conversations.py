"""Conversations: one for each answered call, and the daily totals over them."""

from datetime import UTC, datetime
from functools import cache
from uuid import UUID

from sqlalchemy import Executable
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from app.enums import AnsweredBy
from app.models import Conversation, new_id
from app.services import rollup


def record(
    session: Session,
    *,
    partner_id: UUID,
    organization_id: UUID,
    assistant_id: UUID | None,
    call_id: UUID | None,
    answered_by: AnsweredBy,
    started_at: datetime,
    ended_at: datetime,
) -> bool:
    """Count a conversation on the UTC day it began; return False if the call was counted before."""
    seconds = max(0, round((ended_at - started_at).total_seconds()))
    added = session.execute(
        _insertion(is_sqlite=session.get_bind().dialect.name == "sqlite"),
        {
            "id": new_id(),
            "partner_id": partner_id,
            "organization_id": organization_id,
            "assistant_id": assistant_id,
            "call_id": call_id,
            "answered_by": answered_by,
            "started_at": started_at,
            "ended_at": ended_at,
            "seconds": seconds,
        },
    )
    if added.first() is None:
        return False
    rollup.add_conversations(
        session,
        partner_id=partner_id,
        organization_id=organization_id,
        day=started_at.astimezone(UTC).date(),
        seconds={answered_by: [seconds]},
    )
    return True


@cache
def _insertion(*, is_sqlite: bool) -> Executable:
    """Return the statement, cached: building it takes as long as running it."""
    statement = (sqlite.insert if is_sqlite else postgresql.insert)(Conversation)
    return statement.on_conflict_do_nothing(index_elements=["call_id"]).returning(Conversation.id)
