"""What organizations are billed for: the usage of each day, and the statements of closed months."""

from datetime import date
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Date, Index, Integer, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.enums import Tier
from app.models.base import Base, Id, Json, Short, Time, enum_column, tenant_key

NO_CAMPAIGN = UUID(int=0)


class BillingDay(Base):
    """The usage and costs of a campaign on a UTC day; `NO_CAMPAIGN` is for calls without one.

    ``calls`` are answered live calls, ``minutes`` their lengths, each rounded up to full minutes.
    They are in the row of the call rates' currency. Costs are in millionths: those that carriers
    reported, and estimates by the call rates for those that they have not reported yet.
    """

    __tablename__ = "billing_days"
    __table_args__ = (
        tenant_key("organizations", "partner_id", "organization_id"),
        Index("ix_billing_days_partner", "partner_id", "day"),
    )

    organization_id: Mapped[UUID] = mapped_column(primary_key=True)
    day: Mapped[date] = mapped_column(Date, primary_key=True)
    campaign_id: Mapped[UUID] = mapped_column(primary_key=True)
    currency: Mapped[Short] = mapped_column(primary_key=True)
    partner_id: Mapped[UUID]
    calls: Mapped[int] = mapped_column(Integer, default=0)
    minutes: Mapped[int] = mapped_column(Integer, default=0)
    reported_micros: Mapped[int] = mapped_column(BigInteger, default=0)
    estimated_micros: Mapped[int] = mapped_column(BigInteger, default=0)


class Statement(Base):
    """What an organization pays for a closed month, as it was rated then.

    ``total`` is in the smallest unit of the currency. ``number`` is the invoice number, which runs
    without gaps per partner; a statement of 0 has none. Only ``settled`` changes: what was charged
    for the usage of this month, with corrections in later statements.
    """

    __tablename__ = "statements"
    __table_args__ = (
        tenant_key("organizations", "partner_id", "organization_id"),
        UniqueConstraint("organization_id", "month"),
        UniqueConstraint("partner_id", "number"),
        Index("ix_statements_partner", "partner_id", "month"),
    )

    id: Mapped[Id]
    partner_id: Mapped[UUID]
    organization_id: Mapped[UUID]
    month: Mapped[date] = mapped_column(Date)
    tier: Mapped[Tier] = mapped_column(enum_column(Tier))
    plan_name: Mapped[Short]
    currency: Mapped[Short]
    lines: Mapped[list[dict[str, Any]]] = mapped_column(Json)
    total: Mapped[int] = mapped_column(BigInteger)
    settled: Mapped[int] = mapped_column(BigInteger)
    charged_from: Mapped[date] = mapped_column(Date)
    number: Mapped[int | None] = mapped_column(Integer)
    closed_at: Mapped[Time]
