"""The numbers that calls come from."""

from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from app.enums import NumberSource
from app.models.base import Base, Created, Name, PartnerId, Phone, Time, enum_column, tenant_key


class PhoneNumber(Base):
    """A number that calls come from. It belongs to one partner of the whole installation, and to
    one organization of it, or to none yet.

    ``confirmed_at`` is None for a number that was only used on the simulated carrier, and for one
    that its carrier account no longer lists.
    """

    __tablename__ = "phone_numbers"
    __table_args__ = (
        tenant_key("organizations", "partner_id", "organization_id"),
        Index("ix_phone_numbers_partner", "partner_id", "number"),
        Index("ix_phone_numbers_organization", "organization_id", "number"),
        CheckConstraint("source <> 'simulated' OR confirmed_at IS NULL", name="simulated"),
    )

    number: Mapped[Phone] = mapped_column(primary_key=True)
    partner_id: Mapped[PartnerId]
    organization_id: Mapped[UUID | None]
    source: Mapped[NumberSource] = mapped_column(enum_column(NumberSource))
    confirmed_at: Mapped[Time | None]
    confirmed_by: Mapped[Name]
    account_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("carrier_accounts.id", ondelete="SET NULL"), index=True
    )
    """The carrier account that lists it."""
    version: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[Created]
