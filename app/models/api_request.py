"""The last requests of keys and clients, without anything that they were about."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Float, Index, Integer
from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Base, Id, Line, Short, UtcDateTime


class ApiRequest(Base):
    """One answered request of a credential.

    ``route`` is the template of the address, ``operation`` its name in the description of the
    interface: neither ids nor parameters nor anything of a body is kept. ``response_bytes`` is
    None where the answer was streamed. Rows are written after the answer, so they may name a
    credential that is gone: nothing refers to them and time removes them.
    """

    __tablename__ = "api_requests"
    __table_args__ = (Index("ix_api_requests_credential", "credential_id", "id"),)

    id: Mapped[Id]
    credential_kind: Mapped[Short]
    credential_id: Mapped[UUID]
    partner_id: Mapped[UUID | None]
    organization_id: Mapped[UUID | None]
    at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)
    method: Mapped[Short]
    route: Mapped[Line]
    operation: Mapped[Short]
    status: Mapped[int] = mapped_column(Integer)
    code: Mapped[Short | None]
    duration_ms: Mapped[float] = mapped_column(Float)
    response_bytes: Mapped[int | None] = mapped_column(Integer)
    request_id: Mapped[Short]
