"""Versions of a partner's plans, the account at the payment processor that sells them, and the
checkouts of customers there."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, Integer, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from app.enums import Tier
from app.models.base import (
    Base,
    Created,
    Id,
    Json,
    Name,
    Short,
    Url,
    UtcDateTime,
    enum_column,
    tenant_key,
)


class PlanVersion(Base):
    """All plans of a partner, in their order. The one without ``published_at`` is the draft.

    With a connected processor, ``sent_at`` is when its products and prices were made to match, and
    ``send_problem`` is why they could not be.
    """

    __tablename__ = "plan_versions"
    __table_args__ = (
        UniqueConstraint("partner_id", "number"),
        Index(
            "uq_plan_versions_draft",
            "partner_id",
            unique=True,
            sqlite_where=text("published_at IS NULL"),
            postgresql_where=text("published_at IS NULL"),
        ),
    )

    id: Mapped[Id]
    partner_id: Mapped[UUID] = mapped_column(ForeignKey("partners.id", ondelete="CASCADE"))
    number: Mapped[int] = mapped_column(Integer)
    plans: Mapped[list[dict[str, Any]]] = mapped_column(Json)
    author: Mapped[Name]
    created_at: Mapped[Created]
    published_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    sent_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    send_problem: Mapped[str] = mapped_column(Text, default="")


class ProcessorAccount(Base):
    """A partner's own Stripe account: a secret key, or an account connected to the installation's.

    Both secrets are encrypted. The last test of the connection runs while ``tested_at`` is None and
    ``test_asked_at`` is not.
    """

    __tablename__ = "processor_accounts"

    partner_id: Mapped[UUID] = mapped_column(
        ForeignKey("partners.id", ondelete="CASCADE"), primary_key=True
    )
    account_id: Mapped[Short] = mapped_column(default="")
    secret: Mapped[str] = mapped_column(Text, default="")
    webhook_secret: Mapped[str] = mapped_column(Text, default="")
    version: Mapped[int] = mapped_column(Integer, default=1)
    created_at: Mapped[Created]
    test_asked_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    tested_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    works: Mapped[bool | None]
    words: Mapped[str] = mapped_column(Text, default="")


class Checkout(Base):
    """A customer's change to another plan, paid at the payment processor.

    ``url`` is blank until the worker has it; ``problem`` is why there is none. ``paid_at`` is when
    the processor reported that it was completed.
    """

    __tablename__ = "checkouts"
    __table_args__ = (tenant_key("organizations", "partner_id", "organization_id"),)

    id: Mapped[Id]
    partner_id: Mapped[UUID] = mapped_column(
        ForeignKey("partners.id", ondelete="CASCADE"), index=True
    )
    organization_id: Mapped[UUID]
    tier: Mapped[Tier] = mapped_column(enum_column(Tier))
    back_url: Mapped[Url]
    url: Mapped[Url] = mapped_column(default="")
    problem: Mapped[str] = mapped_column(Text, default="")
    created_at: Mapped[Created]
    paid_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
