"""When the monthly report is sent, and who receives it."""

from uuid import UUID

from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Base, Json, PartnerId, Short, Time, tenant_key


class ReportSchedule(Base):
    """The monthly report of a partner, or of one of its organizations.

    ``scope`` is ``partner:`` or ``organization:`` and an id. ``next_at`` is None while it is off.
    Without a ``language`` it is the partner's.
    """

    __tablename__ = "report_schedules"
    __table_args__ = (tenant_key("organizations", "partner_id", "organization_id"),)

    scope: Mapped[Short] = mapped_column(primary_key=True)
    partner_id: Mapped[PartnerId] = mapped_column(index=True)
    organization_id: Mapped[UUID | None]
    day: Mapped[int]
    hour: Mapped[int]
    timezone: Mapped[Short]
    recipients: Mapped[list[str]] = mapped_column(Json, default=list)
    language: Mapped[Short | None]
    next_at: Mapped[Time | None] = mapped_column(index=True)
    version: Mapped[int] = mapped_column(default=1)
