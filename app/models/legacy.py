"""Current requests of clients of the retired calling API, so that they can be migrated."""

from datetime import date
from typing import Any
from uuid import UUID

from sqlalchemy import JSON, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Base, Time


class LegacyDay(Base):
    """A UTC day of a client: accepted and refused requests with a valid token.

    ``differing`` counts those that Area C would have answered with another status.
    """

    __tablename__ = "legacy_days"

    client_id: Mapped[UUID] = mapped_column(
        ForeignKey("oauth_clients.id", ondelete="CASCADE"), primary_key=True
    )
    day: Mapped[date] = mapped_column(primary_key=True)
    accepted: Mapped[int] = mapped_column(default=0)
    refused: Mapped[int] = mapped_column(default=0)
    differing: Mapped[int] = mapped_column(default=0)


class LegacyExchange(Base):
    """A client's last request with a counterpart in Area C, and both answers to it.

    ``request`` is the body for Area C; ``shadow_status`` and ``shadow_answer`` are the response of
    Area C at that moment. Plain JSON keeps the order of names on PostgreSQL too.
    """

    __tablename__ = "legacy_exchanges"

    client_id: Mapped[UUID] = mapped_column(
        ForeignKey("oauth_clients.id", ondelete="CASCADE"), primary_key=True
    )
    at: Mapped[Time] = mapped_column(index=True)
    request: Mapped[dict[str, Any]] = mapped_column(JSON)
    status: Mapped[int]
    answer: Mapped[dict[str, Any]] = mapped_column(JSON)
    shadow_status: Mapped[int]
    shadow_answer: Mapped[dict[str, Any]] = mapped_column(JSON)
