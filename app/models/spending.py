"""The estimated cost of calls before the carrier reports it, the limits of spending, and their use.

Amounts are millionths of the currency of the call rates, so that sums are exact on both databases.
A ``scope`` is ``partner:``, ``organization:`` or ``key:`` and an id.
"""

from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Base, Json, PartnerId, Short, Time, tenant_key


class CallRate(Base):
    """The price of calls to numbers that begin with ``prefix``; ``default`` is for all others.

    No row is stored until the operator imports a file. All rows have the same currency.
    """

    __tablename__ = "call_rates"
    __table_args__ = (
        CheckConstraint(
            "micros_per_minute >= 0 AND setup_micros >= 0 AND minimum_seconds >= 0"
            " AND increment_seconds > 0",
            name="amounts",
        ),
    )

    prefix: Mapped[Short] = mapped_column(primary_key=True)
    micros_per_minute: Mapped[int] = mapped_column(BigInteger)
    setup_micros: Mapped[int] = mapped_column(BigInteger)
    minimum_seconds: Mapped[int]
    increment_seconds: Mapped[int]
    currency: Mapped[Short]


class SpendingLimit(Base):
    """The maximum cost and duration of calls in a day and in a month (UTC); None means no limit.

    Only that of an organization ``waits``: its direct calls wait for the next day or month, instead
    of being refused. An organization ``is_watched`` for unusual calls, except until
    ``left_alone_until``. A budget stops nothing: it is an amount a month with alerts, of which
    ``budget_alert`` is the last one, like ``2026-11:80``. ``budget_levels`` are its percentages,
    None the default ones; ``budget_recipients`` get the mails in addition to the partner admins.
    """

    __tablename__ = "spending_limits"
    __table_args__ = (tenant_key("organizations", "partner_id", "organization_id"),)

    scope: Mapped[Short] = mapped_column(primary_key=True)
    partner_id: Mapped[PartnerId] = mapped_column(index=True)
    organization_id: Mapped[UUID | None]
    api_key_id: Mapped[UUID | None] = mapped_column(ForeignKey("api_keys.id", ondelete="CASCADE"))
    day_micros: Mapped[int | None] = mapped_column(BigInteger)
    month_micros: Mapped[int | None] = mapped_column(BigInteger)
    day_minutes: Mapped[int | None]
    month_minutes: Mapped[int | None]
    waits: Mapped[bool] = mapped_column(default=False)
    is_watched: Mapped[bool] = mapped_column(default=True)
    left_alone_until: Mapped[Time | None]
    budget_micros: Mapped[int | None] = mapped_column(BigInteger)
    budget_alert: Mapped[Short | None]
    budget_levels: Mapped[list[int] | None] = mapped_column(Json)
    budget_recipients: Mapped[list[str] | None] = mapped_column(Json)
    version: Mapped[int] = mapped_column(default=1)


class SpendingTotal(Base):
    """The cost of a scope's calls in a UTC day (``2026-11-23``) or month (``2026-11``), and the
    amount reserved for those that have not ended."""

    __tablename__ = "spending_totals"
    __table_args__ = (
        tenant_key("organizations", "partner_id", "organization_id"),
        Index("ix_spending_totals_partner", "partner_id", "period"),
    )

    scope: Mapped[Short] = mapped_column(primary_key=True)
    period: Mapped[Short] = mapped_column(primary_key=True)
    partner_id: Mapped[PartnerId]
    organization_id: Mapped[UUID | None]
    spent_micros: Mapped[int] = mapped_column(BigInteger, default=0)
    spent_seconds: Mapped[int] = mapped_column(BigInteger, default=0)
    reserved_micros: Mapped[int] = mapped_column(BigInteger, default=0)
    reserved_seconds: Mapped[int] = mapped_column(BigInteger, default=0)
