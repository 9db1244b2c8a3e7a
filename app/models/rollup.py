"""Totals of a whole partner, stored with the rows that they count: reading them costs the same at
any size.

`app.services.rollup` writes them, in the transaction of the counted change.
"""

from datetime import date
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Index
from sqlalchemy.orm import Mapped, mapped_column

from app.enums import Tier
from app.models.base import Base, Created, Json, PartnerId, Short, Time, enum_column, tenant_key


class PartnerDay(Base):
    """A UTC day of a partner: its conversations, and the standard users created on it.

    ``updated_at`` is when its conversations last changed; None if there were none.
    """

    __tablename__ = "partner_days"

    partner_id: Mapped[PartnerId] = mapped_column(primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    conversations: Mapped[int] = mapped_column(default=0)
    by_human: Mapped[int] = mapped_column("by_person", default=0)
    by_voicemail: Mapped[int] = mapped_column(default=0)
    seconds: Mapped[int] = mapped_column(default=0)
    sign_ups: Mapped[int] = mapped_column(default=0)
    updated_at: Mapped[Time | None]


class CallDay(Base):
    """The calls of an organization that reached the carrier and ended on a UTC day.

    Only calls that count as usage; ``answered`` and ``failed`` are parts of ``ended``, the rest
    was busy or wasn't answered.
    """

    __tablename__ = "call_days"
    __table_args__ = (
        tenant_key("organizations", "partner_id", "organization_id"),
        Index("ix_call_days_partner", "partner_id", "day"),
    )

    organization_id: Mapped[UUID] = mapped_column(primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    partner_id: Mapped[UUID]
    ended: Mapped[int] = mapped_column(default=0)
    answered: Mapped[int] = mapped_column(default=0)
    failed: Mapped[int] = mapped_column(default=0)


class CostDay(Base):
    """The carriers' charges for the attempts of an organization that began on a UTC day.

    ``micros`` are millionths of the currency, so that sums are exact on both databases.
    """

    __tablename__ = "cost_days"
    __table_args__ = (
        tenant_key("organizations", "partner_id", "organization_id"),
        Index("ix_cost_days_partner", "partner_id", "day"),
    )

    organization_id: Mapped[UUID] = mapped_column(primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    currency: Mapped[Short] = mapped_column(primary_key=True)
    partner_id: Mapped[UUID]
    attempts: Mapped[int] = mapped_column(default=0)
    micros: Mapped[int] = mapped_column(BigInteger, default=0)


class PartnerCostDay(Base):
    """The carrier costs of a whole partner on a UTC day."""

    __tablename__ = "partner_cost_days"

    partner_id: Mapped[PartnerId] = mapped_column(primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    currency: Mapped[Short] = mapped_column(primary_key=True)
    attempts: Mapped[int] = mapped_column(default=0)
    micros: Mapped[int] = mapped_column(BigInteger, default=0)


class FigureCheck(Base):
    """The rows of a UTC day that a kind of total counts, and the total, over the installation.

    ``differing`` organizations or partners have another total than their rows; ``examples`` has the
    ``id``, ``total`` and ``counted`` of the first of them.
    """

    __tablename__ = "figure_checks"

    day: Mapped[date] = mapped_column(primary_key=True)
    figure: Mapped[Short] = mapped_column(primary_key=True)
    counted: Mapped[int] = mapped_column(BigInteger)
    total: Mapped[int] = mapped_column(BigInteger)
    differing: Mapped[int] = mapped_column(default=0, server_default="0")
    examples: Mapped[list[dict[str, Any]] | None] = mapped_column(Json)
    checked_at: Mapped[Created]

    @property
    def differs(self) -> bool:
        """Whether any total differs; days checked by earlier versions have only the sums."""
        return self.differing > 0 or self.counted != self.total


class PartnerTier(Base):
    """How many organizations of a partner are on a plan, and how many standard users they have.

    ``archived`` are those of the organizations that are archived.
    """

    __tablename__ = "partner_tiers"

    partner_id: Mapped[PartnerId] = mapped_column(primary_key=True)
    tier: Mapped[Tier] = mapped_column(enum_column(Tier), primary_key=True)
    organizations: Mapped[int] = mapped_column(default=0)
    archived: Mapped[int] = mapped_column(default=0)
    users: Mapped[int] = mapped_column(default=0)
