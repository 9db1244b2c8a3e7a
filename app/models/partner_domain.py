"""The domains of a partner that DNS proves: the one of its portal and the one of its mails."""

from typing import Any

from sqlalchemy import Text
from sqlalchemy.orm import Mapped, mapped_column

from app.enums import DomainPurpose
from app.models.base import Base, Json, Name, PartnerId, Refreshed, Short, Time, enum_column


class PartnerDomain(Refreshed, Base):
    """The DNS check of a partner's domain. ``findings`` are the states of its records at the
    last check; they are empty until the first.

    ``proved_at`` is set while DNS is the proof: the portal's domain then loses its verification
    when its records are missing for too long, counted from ``lost_at``. A domain that an operator
    verified has none.
    """

    __tablename__ = "partner_domains"

    partner_id: Mapped[PartnerId] = mapped_column(primary_key=True)
    purpose: Mapped[DomainPurpose] = mapped_column(enum_column(DomainPurpose), primary_key=True)
    domain: Mapped[Name]
    token: Mapped[Short]
    """The value of the TXT record that proves the domain is the partner's."""
    findings: Mapped[list[dict[str, Any]]] = mapped_column(Json, default=list)
    proved_at: Mapped[Time | None]
    missing_since: Mapped[Time | None]
    lost_at: Mapped[Time | None]
    is_taken: Mapped[bool] = mapped_column(default=False)
    """Whether another partner had verified the same domain at the last check."""
    dkim_key: Mapped[str | None] = mapped_column(Text)
    """The private key that signs mails, encrypted."""
    dkim_public: Mapped[str | None] = mapped_column(Text)

    @property
    def is_waiting(self) -> bool:
        """Whether a requested check has no result yet."""
        return self.checked_at is None or self.checked_at < self.asked_at
