"""Versions of a partner's plans, the account at the payment processor that sells them, and the
checkouts and subscriptions of customers there."""

from typing import Any
from uuid import UUID

from sqlalchemy import Index, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.enums import SubscriptionStatus, Tier
from app.models.base import (
    Base,
    Created,
    Id,
    Json,
    Name,
    PartnerId,
    Short,
    Time,
    Url,
    enum_column,
    partial_index,
    tenant_key,
)
from app.models.requested_check import RequestedCheck


class PlanVersion(Base):
    """All plans of a partner, in their order. The one without ``published_at`` is the draft.

    With a connected processor, ``sent_at`` is when its products and prices were updated to match,
    and ``send_problem`` is why they could not be.
    """

    __tablename__ = "plan_versions"
    __table_args__ = (
        UniqueConstraint("partner_id", "number"),
        partial_index(
            "uq_plan_versions_draft", "partner_id", unique=True, where="published_at IS NULL"
        ),
    )

    id: Mapped[Id]
    partner_id: Mapped[PartnerId]
    number: Mapped[int]
    plans: Mapped[list[dict[str, Any]]] = mapped_column(Json)
    texts: Mapped[dict[str, Any] | None] = mapped_column(Json)
    """By plan and language, the ``name`` and ``features`` that replace those of ``plans``."""
    author: Mapped[Name]
    created_at: Mapped[Created]
    published_at: Mapped[Time | None]
    sent_at: Mapped[Time | None]
    send_problem: Mapped[str] = mapped_column(Text, default="")


class ProcessorAccount(RequestedCheck, Base):
    """A partner's own Stripe account: a secret key, or an account connected to the installation's.
    Both secrets are encrypted. The check is the last test of its connection.
    """

    __tablename__ = "processor_accounts"

    partner_id: Mapped[PartnerId] = mapped_column(primary_key=True)
    account_id: Mapped[Short] = mapped_column(default="")
    secret: Mapped[str] = mapped_column(Text, default="")
    webhook_secret: Mapped[str] = mapped_column(Text, default="")
    version: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[Created]
    requested_at: Mapped[Time | None] = mapped_column("test_asked_at")
    checked_at: Mapped[Time | None] = mapped_column("tested_at")


class Checkout(Base):
    """A customer's visit to the payment processor: to pay for a plan, or, with its id there as
    ``customer``, to see its invoices and means of payment.

    ``url`` is blank until the worker has it; ``problem`` is why there is none. ``paid_at`` is when
    the processor reported that it was completed.
    """

    __tablename__ = "checkouts"
    __table_args__ = (tenant_key("organizations", "partner_id", "organization_id"),)

    id: Mapped[Id]
    partner_id: Mapped[PartnerId] = mapped_column(index=True)
    organization_id: Mapped[UUID]
    tier: Mapped[Tier] = mapped_column(enum_column(Tier))
    customer: Mapped[Short] = mapped_column(default="", server_default="")
    back_url: Mapped[Url]
    url: Mapped[Url] = mapped_column(default="")
    problem: Mapped[str] = mapped_column(Text, default="")
    created_at: Mapped[Created]
    paid_at: Mapped[Time | None]


class Subscription(Base):
    """A customer's regular payment at the payment processor, as last seen there.

    ``reference`` and ``customer`` are the processor's ids. ``ends_at`` is when it ends if it was
    cancelled, ``ended_at`` when its end was seen.
    """

    __tablename__ = "subscriptions"
    __table_args__ = (
        tenant_key("organizations", "partner_id", "organization_id"),
        UniqueConstraint("partner_id", "reference"),
        Index("ix_subscriptions_organization", "organization_id", "state"),
        Index("ix_subscriptions_seen", "seen_at"),
    )

    id: Mapped[Id]
    partner_id: Mapped[UUID]
    organization_id: Mapped[UUID]
    reference: Mapped[Short]
    customer: Mapped[Short] = mapped_column(default="")
    tier: Mapped[Tier] = mapped_column(enum_column(Tier))
    status: Mapped[SubscriptionStatus] = mapped_column(
        "state", enum_column(SubscriptionStatus, "subscriptionstate")
    )
    ends_at: Mapped[Time | None]
    ended_at: Mapped[Time | None]
    created_at: Mapped[Created]
    seen_at: Mapped[Time]
