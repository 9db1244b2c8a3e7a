"""Exports of lists that the worker writes, for the users who requested them."""

from uuid import UUID

from sqlalchemy import Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.enums import ExportFormat, ExportProblem, ExportStatus, Role
from app.models.base import (
    Base,
    Created,
    Id,
    Name,
    PartnerId,
    Short,
    Time,
    UserId,
    enum_column,
    tenant_key,
)


class ListExport(Base):
    """A file with the rows of a list.

    ``query`` is the query string of the list with the ids of its path, ``zone`` the time zone of
    its days. The rows are those that the user sees in this ``role``. ``attempt_number`` counts the
    attempts to write the file; only the newest can finish.
    """

    __tablename__ = "list_exports"
    __table_args__ = (
        tenant_key("organizations", "partner_id", "organization_id"),
        tenant_key("users", "partner_id", "user_id"),
        Index("ix_list_exports_user", "user_id", "id"),
        Index("ix_list_exports_expires", "expires_at"),
        Index("ix_list_exports_file_key", "file_key"),
    )

    id: Mapped[Id]
    partner_id: Mapped[PartnerId | None]
    organization_id: Mapped[UUID | None]
    user_id: Mapped[UserId]
    role: Mapped[Role] = mapped_column(enum_column(Role))
    list_name: Mapped[Short]
    query: Mapped[str] = mapped_column(Text)
    zone: Mapped[Short]
    file_format: Mapped[ExportFormat] = mapped_column(enum_column(ExportFormat))
    status: Mapped[ExportStatus] = mapped_column("state", enum_column(ExportStatus, "exportstate"))
    problem: Mapped[ExportProblem | None] = mapped_column(enum_column(ExportProblem))
    attempt_number: Mapped[int] = mapped_column("turn", default=0)
    file_key: Mapped[Name] = mapped_column(default="")
    size: Mapped[int] = mapped_column(default=0)
    rows: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[Created]
    finished_at: Mapped[Time | None]
    expires_at: Mapped[Time]
