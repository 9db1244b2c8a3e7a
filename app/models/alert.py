"""Alert rules of a partner, and the alerts that they open."""

from uuid import UUID

from sqlalchemy import ForeignKey, Index, false, text
from sqlalchemy.orm import Mapped, mapped_column

from app.enums import AlertMeasure, AlertPeriod, AlertScope
from app.models.base import (
    Base,
    Created,
    Id,
    Json,
    Name,
    PartnerId,
    Time,
    enum_column,
    partial_index,
    tenant_key,
)

IS_OPEN = text("resolved_at IS NULL")


class AlertRule(Base):
    """A measure with its threshold; ``organization_id`` is set if the scope is one organization.

    While it is muted it opens alerts, but sends nothing. Its mails go to the ``recipients``, or to
    all administrators if that is None, and ``to_owners`` of its one organization.
    """

    __tablename__ = "alert_rules"
    __table_args__ = (tenant_key("organizations", "partner_id", "organization_id"),)

    id: Mapped[Id]
    partner_id: Mapped[PartnerId] = mapped_column(index=True)
    organization_id: Mapped[UUID | None]
    scope: Mapped[AlertScope] = mapped_column(enum_column(AlertScope))
    measure: Mapped[AlertMeasure] = mapped_column(enum_column(AlertMeasure))
    threshold: Mapped[int]
    period: Mapped[AlertPeriod | None] = mapped_column(enum_column(AlertPeriod))
    by_mail: Mapped[bool] = mapped_column(default=True)
    recipients: Mapped[list[str] | None] = mapped_column(Json)
    to_owners: Mapped[bool] = mapped_column(default=False, server_default=false())
    muted_until: Mapped[Time | None]
    version: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[Created]


class Alert(Base):
    """A rule that was met, from ``opened_at`` until ``resolved_at``.

    ``subject_id`` is the organization that met it, or the partner; ``value`` is the value when it
    opened. A rule has at most one open alert for each subject.
    """

    __tablename__ = "alerts"
    __table_args__ = (
        tenant_key("organizations", "partner_id", "organization_id"),
        Index("ix_alerts_partner", "partner_id", "id"),
        partial_index("uq_alerts_open", "rule_id", "subject_id", unique=True, where=IS_OPEN),
    )

    id: Mapped[Id]
    partner_id: Mapped[PartnerId]
    rule_id: Mapped[UUID] = mapped_column(ForeignKey("alert_rules.id", ondelete="CASCADE"))
    organization_id: Mapped[UUID | None]
    subject_id: Mapped[UUID]
    value: Mapped[int]
    opened_at: Mapped[Created]
    resolved_at: Mapped[Time | None]
    acknowledged_at: Mapped[Time | None]
    acknowledged_by: Mapped[Name | None]
