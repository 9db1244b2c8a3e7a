"""Saved views: the filters, sort order and columns of a list under a name."""

from uuid import UUID

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import (
    Base,
    Created,
    Id,
    Name,
    PartnerId,
    Short,
    Updated,
    Url,
    partial_index,
    tenant_key,
)


class SavedView(Base):
    """A user's view of a list. ``query`` is the query string of its URL, in a fixed order.

    A shared view is offered to the users of the same organization, or to the partner's staff if it
    has no organization. Its owner's list opens with the default view.
    """

    __tablename__ = "saved_views"
    __table_args__ = (
        tenant_key("organizations", "partner_id", "organization_id"),
        tenant_key("users", "partner_id", "user_id"),
        Index("ix_saved_views_list", "partner_id", "list_name"),
        partial_index(
            "ix_saved_views_default", "user_id", "list_name", where="is_default", unique=True
        ),
    )

    id: Mapped[Id]
    partner_id: Mapped[PartnerId]
    organization_id: Mapped[UUID | None]
    user_id: Mapped[UUID]
    list_name: Mapped[Short]
    name: Mapped[Name]
    query: Mapped[Url]
    is_shared: Mapped[bool] = mapped_column(default=False)
    is_default: Mapped[bool] = mapped_column(default=False)
    version: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[Created]
    updated_at: Mapped[Updated]
