"""Campaigns and the contacts in them."""

from typing import Any
from uuid import UUID

from sqlalchemy import (
    JSON,
    CheckConstraint,
    Computed,
    ForeignKeyConstraint,
    Index,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.enums import CampaignStatus
from app.models.base import (
    Base,
    Created,
    Email,
    Id,
    Name,
    Named,
    Phone,
    Short,
    Time,
    Updated,
    enum_column,
    partial_index,
    tenant_key,
)
from app.models.folding import fold


class Campaign(Named, Base):
    """Contacts that assistants call. ``revision`` grows with every change of its contacts, and
    ``contact_count`` counts them; both are written under the campaign's lock."""

    __tablename__ = "campaigns"
    __table_args__ = (
        tenant_key("organizations", "partner_id", "organization_id"),
        UniqueConstraint("organization_id", "id"),
        Index("ix_campaigns_partner_created", "partner_id", "created_at", "id"),
        Index("ix_campaigns_partner_name", "partner_id", "name_key", "id"),
        Index("ix_campaigns_partner_contacts", "partner_id", "contact_count", "id"),
        Index("ix_campaigns_partner_status", "partner_id", "status", "id"),
        Index(
            "ix_campaigns_organization_created",
            "partner_id",
            "organization_id",
            "created_at",
            "id",
        ),
    )

    id: Mapped[Id]
    partner_id: Mapped[UUID]
    organization_id: Mapped[UUID]
    status: Mapped[CampaignStatus] = mapped_column(
        enum_column(CampaignStatus), default=CampaignStatus.PAUSED
    )
    all_assistants: Mapped[bool] = mapped_column("all_agents", default=False)
    revision: Mapped[int] = mapped_column(default=0)
    contact_count: Mapped[int] = mapped_column(default=0)
    version: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[Created]
    updated_at: Mapped[Updated]


class CampaignAssistant(Base):
    """The assistants of a campaign; ``Campaign.all_assistants`` means all of the organization."""

    __tablename__ = "campaign_agents"
    __table_args__ = (
        tenant_key("campaigns", "organization_id", "campaign_id"),
        tenant_key("agents", "organization_id", "agent_id"),
    )

    campaign_id: Mapped[UUID] = mapped_column(primary_key=True)
    assistant_id: Mapped[UUID] = mapped_column("agent_id", primary_key=True)
    organization_id: Mapped[UUID] = mapped_column(index=True)


def search_name(first: str | None, last: str | None) -> str:
    """Return both names of a contact for the search, each after a space: every name then begins
    after a space."""
    return fold(f" {first or ''} {last or ''}")


def _search_name(context: Any) -> str:
    values = context.get_current_parameters()
    return search_name(values.get("first_name"), values.get("last_name"))


class Contact(Base):
    """A person in a campaign. ``email_key`` is the email address in the form used for comparing.

    Metadata is plain JSON text on PostgreSQL too: it isn't searched, and its numbers and the order
    of its keys stay as they were sent.
    """

    __tablename__ = "contacts"
    __table_args__ = (
        tenant_key("campaigns", "organization_id", "campaign_id"),
        UniqueConstraint("campaign_id", "phone"),
        UniqueConstraint("campaign_id", "email_key"),
        Index("ix_contacts_campaign", "campaign_id", "id"),
        Index("ix_contacts_campaign_name", "campaign_id", "sort_name", "id"),
        partial_index(
            "ix_contacts_campaign_status",
            "campaign_id",
            "status",
            "id",
            where="status IS NOT NULL",
        ),
        CheckConstraint("phone IS NOT NULL OR email_key IS NOT NULL", name="identifier"),
    )

    id: Mapped[Id]
    organization_id: Mapped[UUID]
    campaign_id: Mapped[UUID]
    phone: Mapped[Phone | None]
    email: Mapped[Email | None]
    email_key: Mapped[Email | None]
    first_name: Mapped[Short | None]
    last_name: Mapped[Short | None]
    search_name: Mapped[str] = mapped_column(Text, default=_search_name)
    """Both names, see `search_name`."""
    sort_name: Mapped[str | None] = mapped_column(
        Text, Computed("nullif(ltrim(substr(search_name, 1, 64)), '')")
    )
    """The beginning of both names, maintained by the database; NULL without a name."""
    status: Mapped[Short | None]
    contact_metadata: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    consent: Mapped[Short | None]
    consent_source: Mapped[Name | None]
    consent_at: Mapped[Time | None]
    created_at: Mapped[Created]
    updated_at: Mapped[Created]


class ContactExternalId(Base):
    """A contact's value for an external-id key; one value per key.

    Values of an identifying key are unique in the campaign.
    """

    __tablename__ = "contact_external_ids"
    __table_args__ = (
        ForeignKeyConstraint(["contact_id"], ["contacts.id"], ondelete="CASCADE"),
        partial_index(
            "uq_contact_external_ids_identifying",
            "campaign_id",
            "key",
            "value",
            unique=True,
            where="identifies",
        ),
        Index("ix_contact_external_ids_value", "campaign_id", "value"),
    )

    contact_id: Mapped[UUID] = mapped_column(primary_key=True)
    key: Mapped[Short] = mapped_column(primary_key=True)
    campaign_id: Mapped[UUID]
    value: Mapped[Name]
    identifies: Mapped[bool] = mapped_column(default=False)
