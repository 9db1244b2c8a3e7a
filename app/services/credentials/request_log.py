"""The last requests of keys and clients, and how they were answered.

The latest of each credential are kept for a few days: enough to see what a script does wrong. No
ids, parameters or bodies are stored.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import TypedDict
from uuid import UUID

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from app.enums import CallerKind
from app.models import ApiRequest, Base, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services.tenancy import of_tenant

MAX_ROWS = 200
"""Requests that are kept of one credential; a busy process may exceed it by as many until it
trims."""
RETENTION = timedelta(days=7)
_INSERT = insert(Base.metadata.tables[ApiRequest.__tablename__])
KINDS = frozenset(
    {CallerKind.API_KEY, CallerKind.CLIENT, CallerKind.LEGACY_CLIENT, CallerKind.DIRECTORY}
)


class AnsweredRequest(TypedDict):
    """One answered request; the fields are those of `ApiRequest`."""

    id: UUID
    credential_id: UUID
    partner_id: UUID | None
    organization_id: UUID | None
    at: datetime
    method: str
    route: str
    operation: str
    status: int
    code: str | None
    duration_ms: float
    request_id: str


def write(session: Session, requests: Sequence[AnsweredRequest]) -> None:
    """Store requests, in one statement."""
    if requests:
        session.connection().execute(_INSERT, requests)


def trim(session: Session, credential_ids: Collection[UUID]) -> None:
    """Keep only the last `MAX_ROWS` requests of each credential."""
    for credential_id in credential_ids:
        request_ids = select(ApiRequest.id).where(ApiRequest.credential_id == credential_id)
        oldest = session.scalar(
            request_ids.order_by(ApiRequest.id.desc()).offset(MAX_ROWS - 1).limit(1)
        )
        if oldest is not None:
            session.execute(
                delete(ApiRequest).where(
                    ApiRequest.credential_id == credential_id, ApiRequest.id < oldest
                )
            )


def latest(
    session: Session, caller: Caller, credential_id: UUID, limit: int
) -> Sequence[ApiRequest]:
    """Return the last requests of a credential that came from its loader, newest first.

    Raises `Forbidden`.
    """
    caller.require(Permission.CREDENTIALS_MANAGE)
    query = select(ApiRequest).where(ApiRequest.credential_id == credential_id)
    query = of_tenant(query, caller, ApiRequest.partner_id)
    return session.scalars(query.order_by(ApiRequest.id.desc()).limit(limit)).all()


def purge(session: Session) -> None:
    """Remove expired requests."""
    session.execute(delete(ApiRequest).where(ApiRequest.at < utcnow() - RETENTION))
