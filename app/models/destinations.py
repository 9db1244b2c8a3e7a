"""Where calls may go: the regions that the operator allows, and those that each partner opens.

``regions`` are ISO 3166 codes. ``hosts`` are hosts that calls may be handed over to, such as
``voice.example``, or ``*.voice.example`` for those below it.
"""

from sqlalchemy import CheckConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Base, Json, PartnerId


class InstallationDestinations(Base):
    """One row, once the operator has decided. None means the default ``regions``, and any host."""

    __tablename__ = "installation_destinations"
    __table_args__ = (CheckConstraint("id = 1", name="one_row"),)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    regions: Mapped[list[str] | None] = mapped_column(Json)
    hosts: Mapped[list[str] | None] = mapped_column(Json)
    version: Mapped[int] = mapped_column(default=1)


class PartnerDestinations(Base):
    """A partner's own choice, and the operator's limits for it; None means no limit for the
    partner."""

    __tablename__ = "partner_destinations"

    partner_id: Mapped[PartnerId] = mapped_column(primary_key=True)
    regions: Mapped[list[str]] = mapped_column(Json, default=list)
    hosts: Mapped[list[str]] = mapped_column(Json, default=list)
    limit_regions: Mapped[list[str] | None] = mapped_column(Json)
    limit_hosts: Mapped[list[str] | None] = mapped_column(Json)
    version: Mapped[int] = mapped_column(default=1)
