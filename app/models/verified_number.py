"""Numbers that an organization has verified by a call with a code, or is about to."""

from uuid import UUID

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.enums import VerificationPurpose
from app.models.base import Base, Created, Id, Name, Phone, Time, enum_column, tenant_key


class VerifiedNumber(Base):
    """A number, the latest verification call to it, and the time and user of its verification. The
    code isn't stored: `app.services.verified_numbers.codes` computes it."""

    __tablename__ = "verified_numbers"
    __table_args__ = (
        tenant_key("organizations", "partner_id", "organization_id"),
        UniqueConstraint("organization_id", "phone", "purpose"),
    )

    id: Mapped[Id]
    partner_id: Mapped[UUID]
    organization_id: Mapped[UUID]
    phone: Mapped[Phone]
    purpose: Mapped[VerificationPurpose] = mapped_column(enum_column(VerificationPurpose))
    requested_by: Mapped[Name]
    requested_at: Mapped[Created]
    call_id: Mapped[UUID]
    code_expires_at: Mapped[Time]
    wrong_codes: Mapped[int] = mapped_column(default=0)
    verified_at: Mapped[Time | None]
    verified_by: Mapped[Name | None]
