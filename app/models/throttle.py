"""Counters: of failed attempts, of refusals that the history sums up, of the events of a day."""

from datetime import date
from typing import Any

from sqlalchemy import Float
from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Base, Hash, Json, PartnerId, Short, Time


class ThrottleCounter(Base):
    """Failed attempts of an account, a client, a network or the installation.

    ``failures`` is the number at ``counted_at``; it falls with time.
    """

    __tablename__ = "throttle_counters"

    key: Mapped[Hash] = mapped_column(primary_key=True)
    failures: Mapped[float] = mapped_column(Float, default=0.0)
    counted_at: Mapped[Time] = mapped_column(index=True)


class RefusalCount(Base):
    """Equal refusals within ten minutes. ``written`` of the ``times`` are in the history
    already."""

    __tablename__ = "refusal_counts"

    key: Mapped[Hash] = mapped_column(primary_key=True)
    partner_id: Mapped[PartnerId | None] = mapped_column(index=True)
    since: Mapped[Time] = mapped_column(index=True)
    times: Mapped[int] = mapped_column(default=0)
    written: Mapped[int] = mapped_column(default=0)
    entry: Mapped[dict[str, Any]] = mapped_column(Json, default=dict)
    """The refusal and its subject, as the history stores them."""


class RateLevel(Base):
    """When the bucket of a credential, user or IP address is full again, for all web processes
    together (`app.http.shared_rates`). PostgreSQL loses the rows in a crash, which resets all
    buckets."""

    __tablename__ = "rate_levels"

    key: Mapped[Hash] = mapped_column(primary_key=True)
    full_at: Mapped[Time]


class DailyCount(Base):
    """The number of events of a day; ``subject`` names their kind and the tenant or number."""

    __tablename__ = "daily_counts"

    day: Mapped[date] = mapped_column(primary_key=True)
    subject: Mapped[Short] = mapped_column(primary_key=True)
    count: Mapped[int]
