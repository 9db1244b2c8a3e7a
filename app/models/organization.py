"""Organizations (a partner's customers), their assistants and their do-not-call list."""

from datetime import time
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ColumnElement,
    Index,
    Text,
    UniqueConstraint,
    and_,
    case,
    func,
    literal_column,
    text,
)
from sqlalchemy.orm import Mapped, foreign, mapped_column, relationship

from app.enums import OrganizationStatus, Tier
from app.models.base import (
    Base,
    Created,
    Id,
    Json,
    Line,
    Name,
    Named,
    PartnerId,
    Phone,
    Searched,
    Short,
    Time,
    Updated,
    Url,
    enum_column,
    partial_index,
    tenant_key,
)
from app.models.partner import PlanLimit

FIRST_REGION = "US"
"""The country of a new organization, until its settings name another."""
ROOMY = text("(agent_limit > 1 OR user_limit > 1)")
"""Organization types with several users: only these can be close to their limit."""


class Organization(Searched, Named, Base):
    """A customer of a partner, with its plan, limits and rules for calling."""

    searched = ("name", "referral_code", "referred_by_code")

    __tablename__ = "organizations"
    __table_args__ = (
        UniqueConstraint("partner_id", "id"),
        Index("ix_organizations_partner_created", "partner_id", "created_at", "id"),
        Index("ix_organizations_partner_name", "partner_id", "name_key", "id"),
        Index("ix_organizations_partner_status", "partner_id", "status", "id"),
        Index("ix_organizations_partner_agents", "partner_id", "agent_limit", "id"),
        Index("ix_organizations_partner_users", "partner_id", "user_limit", "id"),
        Index("ix_organizations_partner_region", "partner_id", "default_region"),
        Index("ix_organizations_referral", "partner_id", "referral_code"),
        partial_index("ix_organizations_roomy", "partner_id", "created_at", "id", where=ROOMY),
        CheckConstraint("agent_limit >= 0 AND user_limit >= 0", name="limits"),
        CheckConstraint("max_calls_at_once IS NULL OR max_calls_at_once > 0", name="at_once"),
    )

    id: Mapped[Id]
    partner_id: Mapped[PartnerId]
    status: Mapped[OrganizationStatus] = mapped_column(
        enum_column(OrganizationStatus), default=OrganizationStatus.ACTIVE
    )
    status_reason: Mapped[Line | None]
    trial_ended_at: Mapped[Time | None]
    """None while it can call only verified numbers, which is also so while its partner's is
    None."""
    created_at: Mapped[Created]
    updated_at: Mapped[Updated]
    version: Mapped[int] = mapped_column(default=1)

    referral_code: Mapped[Name | None]
    referred_by_code: Mapped[Name | None]
    payment_tier: Mapped[Tier | None] = mapped_column(enum_column(Tier), default=Tier.FREE)
    tier_since: Mapped[Time | None]
    processor_customer_id: Mapped[Name | None]
    referral_promo_used: Mapped[Name | None]
    referral_ui_customization: Mapped[dict[str, Any] | None] = mapped_column(Json)
    admin_owned: Mapped[bool] = mapped_column(default=False)
    temp_demo_org: Mapped[bool] = mapped_column(default=False)
    assistant_limit: Mapped[int] = mapped_column("agent_limit", default=1)
    user_limit: Mapped[int] = mapped_column(default=1)

    storage_limit: Mapped[int | None] = mapped_column(BigInteger)
    """The limit in bytes; None is the installation's limit."""

    default_region: Mapped[Short] = mapped_column(default=FIRST_REGION)
    allowed_regions: Mapped[list[str]] = mapped_column(Json, default=lambda: [FIRST_REGION])
    calling_hours_on: Mapped[bool] = mapped_column(default=False)
    calling_hours_start: Mapped[time] = mapped_column(default=time(8))
    calling_hours_end: Mapped[time] = mapped_column(default=time(21))
    max_calls_at_once: Mapped[int | None]
    max_calls_a_day: Mapped[int | None]
    retry_times: Mapped[int] = mapped_column(default=0)
    retry_minutes: Mapped[int] = mapped_column(default=30)
    number_spacing_minutes: Mapped[int | None]
    number_most_calls: Mapped[int | None]
    number_most_days: Mapped[int | None]
    refuse_do_not_call: Mapped[bool] = mapped_column(default=False)
    consent_required: Mapped[bool] = mapped_column(default=False)
    billing_address: Mapped[dict[str, Any] | None] = mapped_column(Json)

    plan_limit: Mapped[PlanLimit | None] = relationship(
        primaryjoin=lambda: and_(
            foreign(Organization.partner_id) == PlanLimit.partner_id,
            func.coalesce(foreign(Organization.payment_tier), Tier.FREE) == PlanLimit.tier,
        ),
        viewonly=True,
    )
    """The limits of its plan, if its partner has set any for the plan."""


PLAN_ORDER: ColumnElement[Tier] = case(
    # nosemgrep: sql-made-of-values - a constant
    (Organization.payment_tier.is_(None), literal_column(f"'{Tier.FREE}'")),
    else_=Organization.payment_tier,
)
"""The expression by which rows are sorted: PostgreSQL uses an index on it under its policies."""
PLAN: ColumnElement[Tier] = func.coalesce(Organization.payment_tier, Tier.FREE)
"""The plan of an organization: the contract's default if none is set."""


class Assistant(Named, Base):
    """An assistant. Its phone is ready when it is switched on, configured and has a number."""

    __tablename__ = "agents"
    __table_args__ = (
        tenant_key("organizations", "partner_id", "organization_id"),
        UniqueConstraint("organization_id", "id"),
        UniqueConstraint("organization_id", "phone_number"),
        Index("ix_agents_partner_name", "partner_id", "name_key", "id"),
        Index("ix_agents_partner_number", "partner_id", "phone_number", "id"),
        Index("ix_agents_organization_name", "partner_id", "organization_id", "name_key", "id"),
    )

    id: Mapped[Id]
    partner_id: Mapped[UUID]
    organization_id: Mapped[UUID]
    service: Mapped[Name | None]
    timezone: Mapped[Short | None]
    active: Mapped[bool] = mapped_column(default=True)
    phone_number: Mapped[Phone | None]
    phone_enabled: Mapped[bool] = mapped_column(default=False)
    phone_configured: Mapped[bool] = mapped_column(default=False)
    default_intro: Mapped[str | None] = mapped_column(Text)
    default_voicemail: Mapped[str | None] = mapped_column(Text)
    voice_address: Mapped[Url | None]
    version: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[Created]
    updated_at: Mapped[Updated]

    @property
    def phone_ready(self) -> bool:
        return self.phone_enabled and self.phone_configured and self.phone_number is not None


class ExternalIdKey(Base):
    """A key of an assistant's external-id settings; routing only, unless it identifies."""

    __tablename__ = "external_id_keys"
    __table_args__ = (tenant_key("agents", "organization_id", "agent_id"),)

    assistant_id: Mapped[UUID] = mapped_column("agent_id", primary_key=True)
    key: Mapped[Short] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID] = mapped_column(index=True)
    identifies: Mapped[bool] = mapped_column(default=False)


class DoNotCallEntry(Base):
    """A number that an organization never calls, with who added it and why."""

    __tablename__ = "do_not_call"
    __table_args__ = (
        tenant_key("organizations", "partner_id", "organization_id"),
        Index("ix_do_not_call_created", "organization_id", "created_at", "phone"),
        Index("ix_do_not_call_source", "organization_id", "source", "phone"),
        partial_index(
            "ix_do_not_call_reason",
            "organization_id",
            "reason",
            "phone",
            where="reason IS NOT NULL",
        ),
    )

    organization_id: Mapped[UUID] = mapped_column(primary_key=True)
    phone: Mapped[Phone] = mapped_column(primary_key=True)
    partner_id: Mapped[UUID]
    reason: Mapped[Line | None]
    source: Mapped[Short] = mapped_column(default="portal")
    added_by: Mapped[Name]
    created_at: Mapped[Created]
