"""State of the workers: heartbeats, each carrier's pace, prices fetched from processors."""

from decimal import Decimal
from uuid import UUID

from sqlalchemy import Numeric
from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Base, Created, Id, Json, Name, PartnerId, Short, Time, Updated


class WorkerHeartbeat(Base):
    """One row per worker process; a worker whose row is old is dead and its work is taken over."""

    __tablename__ = "worker_heartbeats"

    executor_id: Mapped[Short] = mapped_column(primary_key=True)
    hostname: Mapped[Name]
    pid: Mapped[int]
    started_at: Mapped[Created]
    beat_at: Mapped[Created] = mapped_column(index=True)
    stopped_at: Mapped[Time | None]
    queues: Mapped[list[str] | None] = mapped_column(Json)
    """The queues that it serves; None means all."""


class RetentionRun(Base):
    """When expired data was last deleted, and how much."""

    __tablename__ = "retention_runs"

    kind: Mapped[Short] = mapped_column(primary_key=True)
    ran_at: Mapped[Time]
    removed: Mapped[int]


class CarrierPace(Base):
    """The earliest moment at which the next call may be requested from a carrier."""

    __tablename__ = "carrier_paces"

    carrier: Mapped[Name] = mapped_column(primary_key=True)
    next_at: Mapped[Time]


class CallSignal(Base):
    """A signal to the worker that follows an attempt, which removes the row."""

    __tablename__ = "call_news"

    id: Mapped[Id]
    attempt_id: Mapped[UUID]
    sent_at: Mapped[Time] = mapped_column("told_at")


class ProcessorPrice(Base):
    """The last known price at the partner's payment processor, refreshed by the worker."""

    __tablename__ = "partner_processor_prices"

    partner_id: Mapped[PartnerId] = mapped_column(primary_key=True)
    price_id: Mapped[Name] = mapped_column(primary_key=True)
    product_id: Mapped[Name | None]
    name: Mapped[Name]
    cost: Mapped[Decimal] = mapped_column(Numeric(12, 4))
    currency: Mapped[Short]
    interval: Mapped[Short | None]
    """month or year; None for a price of another kind, such as a single payment."""
    fetched_at: Mapped[Updated]


class ProcessorCheck(Base):
    """The last answer of the partner's payment processor about a price id, also about an unknown
    one."""

    __tablename__ = "partner_processor_checks"

    partner_id: Mapped[PartnerId] = mapped_column(primary_key=True)
    price_id: Mapped[Name] = mapped_column(primary_key=True)
    found: Mapped[bool]
    asked_at: Mapped[Time]
