"""The last requests of API keys and clients, without their contents."""

from uuid import UUID

from sqlalchemy import Float, Index
from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Base, Id, Line, Short, Time


class ApiRequest(Base):
    """One answered request of a credential.

    ``route`` is the template of the path, ``operation`` the operation's name in the API
    description: no ids, parameters or body values are stored. Rows are written after the answer, so
    they may name a credential that no longer exists: nothing refers to them, and they expire.

    ``credential_kind`` and ``response_bytes`` are neither written nor read: a later version drops
    them.
    """

    __tablename__ = "api_requests"
    __table_args__ = (Index("ix_api_requests_credential", "credential_id", "id"),)

    id: Mapped[Id]
    credential_kind: Mapped[Short | None] = mapped_column(deferred=True)
    credential_id: Mapped[UUID]
    partner_id: Mapped[UUID | None]
    organization_id: Mapped[UUID | None]
    at: Mapped[Time] = mapped_column(index=True)
    method: Mapped[Short]
    route: Mapped[Line]
    operation: Mapped[Short]
    status: Mapped[int]
    code: Mapped[Short | None]
    duration_ms: Mapped[float] = mapped_column(Float)
    response_bytes: Mapped[int | None] = mapped_column(deferred=True)
    request_id: Mapped[Short]
