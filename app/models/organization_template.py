"""Templates of organizations: a partner's prepared content of new organizations."""

from typing import Any

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Base, Created, Id, Json, Named, PartnerId, Updated


class OrganizationTemplate(Named, Base):
    """A prepared organization of a partner. ``content`` is the document that
    `app/services/organization_templates/content.py` reads and writes."""

    __tablename__ = "organization_templates"
    __table_args__ = (UniqueConstraint("partner_id", "name_key"),)

    id: Mapped[Id]
    partner_id: Mapped[PartnerId]
    content: Mapped[dict[str, Any]] = mapped_column(Json)
    version: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[Created]
    updated_at: Mapped[Updated]
