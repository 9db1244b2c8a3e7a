"""Webhooks and the deliveries of their events."""

from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.enums import DeliveryStatus, PauseReason
from app.models.base import (
    Base,
    Created,
    Id,
    Json,
    Line,
    Name,
    PartnerId,
    Short,
    Time,
    Url,
    enum_column,
    partial_index,
    tenant_key,
)


class Webhook(Base):
    """A URL that receives the events of one organization, or of all organizations of a partner and
    of the portal itself. Its secrets are encrypted."""

    __tablename__ = "webhook_endpoints"
    __table_args__ = (
        tenant_key("organizations", "partner_id", "organization_id"),
        Index("ix_webhook_endpoints_organization", "organization_id", "id"),
        Index("ix_webhook_endpoints_partner", "partner_id", "created_at"),
        Index("ix_webhook_endpoints_failing", "partner_id", "failing_since", "id"),
        Index("ix_webhook_endpoints_partner_url", "partner_id", "url", "id"),
        partial_index(
            "ix_webhook_endpoints_portal", "partner_id", "id", where="organization_id IS NULL"
        ),
    )

    id: Mapped[Id]
    partner_id: Mapped[PartnerId]
    organization_id: Mapped[UUID | None]
    """None for the whole portal."""
    url: Mapped[Url]
    events: Mapped[list[str]] = mapped_column(Json)
    secret: Mapped[str] = mapped_column(Text)
    previous_secret: Mapped[str | None] = mapped_column(Text)
    previous_until: Mapped[Time | None]
    """Until this time, messages carry the signature of the previous secret as well."""
    created_by: Mapped[Name]
    responsible_id: Mapped[UUID | None] = mapped_column(index=True)
    """The user who created it or took it over."""
    created_at: Mapped[Created]
    failing_since: Mapped[Time | None]
    """The first failure since the last accepted delivery."""
    paused_at: Mapped[Time | None]
    pause_reason: Mapped[PauseReason | None] = mapped_column(enum_column(PauseReason))


class WebhookDelivery(Base):
    """One event for one webhook. ``payload`` is exactly the text that is signed and sent.

    ``attempt_number`` names the attempt that was enqueued last, so that an earlier one does
    nothing; ``retries`` counts the attempts of the current series, ``attempts`` all of them.
    ``attempt_log`` has the latest ones (`app.services.webhooks.attempts`), None for those of an
    earlier version.
    """

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        Index("ix_webhook_deliveries_endpoint", "endpoint_id", "id"),
        Index("ix_webhook_deliveries_state", "endpoint_id", "state", "id"),
        Index("ix_webhook_deliveries_created", "created_at"),
    )

    id: Mapped[Id]
    webhook_id: Mapped[UUID] = mapped_column(
        "endpoint_id", ForeignKey("webhook_endpoints.id", ondelete="CASCADE")
    )
    event_id: Mapped[UUID]
    type: Mapped[Short]
    payload: Mapped[str] = mapped_column(Text)
    status: Mapped[DeliveryStatus] = mapped_column(
        "state", enum_column(DeliveryStatus, "deliverystate")
    )
    attempt_number: Mapped[int] = mapped_column("turn", default=1)
    retries: Mapped[int] = mapped_column(default=0)
    attempts: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[Created]
    next_attempt_at: Mapped[Time | None]
    last_attempt_at: Mapped[Time | None]
    ended_at: Mapped[Time | None]
    last_status: Mapped[int | None]
    last_answer: Mapped[Line | None]
    """The beginning of the last response, or the reason why there was none."""
    attempt_log: Mapped[list[dict[str, Any]] | None] = mapped_column(Json, deferred=True)

    @property
    def message_id(self) -> str:
        """Return the id that a receiver sees, the same with every attempt."""
        return f"msg_{self.event_id.hex}"
