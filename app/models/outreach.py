"""Outreach: how the contacts of a campaign are called, and each contact's state."""

from datetime import date, time
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, Text
from sqlalchemy import Time as ClockTime
from sqlalchemy.orm import Mapped, mapped_column

from app.enums import OutreachStatus
from app.models.base import Base, Line, Short, Time, enum_column, tenant_key


class Outreach(Base):
    """The plan by which the contacts of a campaign are called, and its progress.

    ``weekdays`` are the digits of ISO weekdays, hours those of the called person; the first and the
    last day, if there are any, are days in the assistant's time zone. The row is the lock for
    queueing the campaign's calls and for starting or pausing it.

    ``position`` is the contact up to which all have been decided, as of ``seen_revision`` of the
    campaign; the largest possible ID once all are. ``held_reason`` says why calling waits until
    ``next_at``.
    """

    __tablename__ = "outreaches"
    __table_args__ = (
        tenant_key("campaigns", "organization_id", "campaign_id"),
        tenant_key("agents", "organization_id", "agent_id"),
        CheckConstraint("calls_per_hour IS NULL OR calls_per_hour > 0", name="calls_per_hour"),
        CheckConstraint("calls_at_once IS NULL OR calls_at_once > 0", name="calls_at_once"),
        Index("ix_outreaches_agent", "organization_id", "agent_id"),
    )

    campaign_id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    assistant_id: Mapped[UUID] = mapped_column("agent_id")
    weekdays: Mapped[Short]
    hours_start: Mapped[time] = mapped_column(ClockTime)
    hours_end: Mapped[time] = mapped_column(ClockTime)
    starts_on: Mapped[date | None]
    ends_on: Mapped[date | None]
    calls_per_hour: Mapped[int | None]
    calls_at_once: Mapped[int | None]
    intro_message: Mapped[str | None] = mapped_column(Text)
    voicemail_message: Mapped[str | None] = mapped_column(Text)
    call_instructions: Mapped[str | None] = mapped_column(Text)
    round: Mapped[int] = mapped_column(default=1)
    started_at: Mapped[Time | None]
    resumed_at: Mapped[Time | None]
    next_at: Mapped[Time | None]
    held_reason: Mapped[Line | None]
    seen_revision: Mapped[int | None]
    position: Mapped[UUID | None]


class OutreachContact(Base):
    """The decision of one round of outreach about a contact: only one, by the primary key.

    ``due_at`` is when a waiting contact is checked again; ``reason`` says why it waits or is left
    out.
    """

    __tablename__ = "outreach_contacts"
    __table_args__ = (
        Index(
            "ix_outreach_contacts_campaign",
            "campaign_id",
            "round",
            "state",
            "due_at",
        ),
        Index("ix_outreach_contacts_decided", "campaign_id", "round", "state", "decided_at"),
    )

    contact_id: Mapped[UUID] = mapped_column(
        ForeignKey("contacts.id", ondelete="CASCADE"), primary_key=True
    )
    campaign_id: Mapped[UUID] = mapped_column(
        ForeignKey("outreaches.campaign_id", ondelete="CASCADE"), primary_key=True
    )
    round: Mapped[int] = mapped_column(primary_key=True)
    status: Mapped[OutreachStatus] = mapped_column(
        "state", enum_column(OutreachStatus, "outreachstate")
    )
    reason: Mapped[Short | None]
    due_at: Mapped[Time | None]
    decided_at: Mapped[Time]
    call_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("calls.id", ondelete="CASCADE"), unique=True
    )
