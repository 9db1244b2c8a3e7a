"""Sums of a whole partner, kept beside what they count: they cost the same at any size.

`app.services.rollup` writes them, in the transaction of what they count.
"""

from datetime import date, datetime
from uuid import UUID

from sqlalchemy import Date, ForeignKey, Integer
from sqlalchemy.orm import Mapped, mapped_column

from app.enums import Tier
from app.models.base import Base, UtcDateTime, enum_column


class PartnerDay(Base):
    """A UTC day of a partner: its conversations, and the standard users who began on it.

    ``updated_at`` is when its conversations last changed; None where there were none.
    """

    __tablename__ = "partner_days"

    partner_id: Mapped[UUID] = mapped_column(
        ForeignKey("partners.id", ondelete="CASCADE"), primary_key=True
    )
    day: Mapped[date] = mapped_column(Date, primary_key=True)
    conversations: Mapped[int] = mapped_column(Integer, default=0)
    by_person: Mapped[int] = mapped_column(Integer, default=0)
    by_voicemail: Mapped[int] = mapped_column(Integer, default=0)
    seconds: Mapped[int] = mapped_column(Integer, default=0)
    sign_ups: Mapped[int] = mapped_column(Integer, default=0)
    updated_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class PartnerTier(Base):
    """How many organizations of a partner are on a plan, and how many standard users they have."""

    __tablename__ = "partner_tiers"

    partner_id: Mapped[UUID] = mapped_column(
        ForeignKey("partners.id", ondelete="CASCADE"), primary_key=True
    )
    tier: Mapped[Tier] = mapped_column(enum_column(Tier), primary_key=True)
    organizations: Mapped[int] = mapped_column(Integer, default=0)
    users: Mapped[int] = mapped_column(Integer, default=0)
