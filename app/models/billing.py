"""Billing of organizations: the usage of each day, and the statements of closed months."""

from datetime import date
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Index, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from app.enums import Tier
from app.models.base import Base, Id, Json, Short, Time, enum_column, partial_index, tenant_key

NO_CAMPAIGN = UUID(int=0)
UNCHARGED = text("extra <> 0 AND invoice_item = ''")


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
    day: Mapped[date] = mapped_column(primary_key=True)
    campaign_id: Mapped[UUID] = mapped_column(primary_key=True)
    currency: Mapped[Short] = mapped_column(primary_key=True)
    partner_id: Mapped[UUID]
    calls: Mapped[int] = mapped_column(default=0)
    minutes: Mapped[int] = mapped_column(default=0)
    reported_micros: Mapped[int] = mapped_column(BigInteger, default=0)
    estimated_micros: Mapped[int] = mapped_column(BigInteger, default=0)


class Statement(Base):
    """The statement of an organization for a closed month, as it was rated then.

    ``total`` is in the smallest unit of the currency. ``number`` is the invoice number, which runs
    without gaps per partner; a statement of 0 has none. Only the last two fields and ``settled``
    change, which is the total charge for the usage of this month, including corrections in later
    statements.

    ``extra`` is the part of ``total`` beyond the plan that the payment processor is to add to the
    next invoice of the customer's subscription; None without one. ``invoice_item`` is its id there,
    and ``charge_problem`` why it has none yet.

    ``parties`` are the seller, with its payment terms, and the buyer as they were then; None if
    that wasn't stored yet.
    """

    __tablename__ = "statements"
    __table_args__ = (
        tenant_key("organizations", "partner_id", "organization_id"),
        UniqueConstraint("organization_id", "month"),
        UniqueConstraint("partner_id", "number"),
        Index("ix_statements_partner", "partner_id", "month"),
        partial_index("ix_statements_uncharged", "closed_at", where=UNCHARGED),
    )

    id: Mapped[Id]
    partner_id: Mapped[UUID]
    organization_id: Mapped[UUID]
    month: Mapped[date]
    tier: Mapped[Tier] = mapped_column(enum_column(Tier))
    plan_name: Mapped[Short]
    currency: Mapped[Short]
    lines: Mapped[list[dict[str, Any]]] = mapped_column(Json)
    total: Mapped[int] = mapped_column(BigInteger)
    settled: Mapped[int] = mapped_column(BigInteger)
    charged_from: Mapped[date]
    number: Mapped[int | None]
    closed_at: Mapped[Time]
    extra: Mapped[int | None] = mapped_column(BigInteger)
    invoice_item: Mapped[Short] = mapped_column(default="", server_default="")
    charge_problem: Mapped[str] = mapped_column(Text, default="", server_default="")
    parties: Mapped[dict[str, Any] | None] = mapped_column(Json)
