"""Carrier accounts of partners and organizations."""

import re
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Text
from sqlalchemy.ext.hybrid import hybrid_property
from sqlalchemy.orm import Mapped, mapped_column

from app.enums import CarrierKind
from app.models.base import (
    Base,
    Created,
    Id,
    Json,
    Name,
    PartnerId,
    Short,
    Time,
    Updated,
    enum_column,
    partial_index,
)
from app.models.requested_check import RequestedCheck

_SID = re.compile(r"\bAC[0-9a-f]{32}\b")


def with_masked_sids(text: str) -> str:
    """Return the text with the middle of each SID of a Twilio account left out."""
    return _SID.sub(lambda match: f"{match[0][:6]}…{match[0][-4:]}", text)


class CarrierAccount(Base):
    """The account of a partner, or of one of its organizations: with Twilio by its ``sid``, or at a
    SIP ``trunk``. The token or password is encrypted.

    A replaced or removed account is kept with ``removed_at``: active calls are followed to their
    end with it. ``owner_id`` is the owner of the calls that use it: the organization's id or the
    partner's. It is the account's own id while the account is pending: saved, but used by no call,
    because its test hasn't passed.
    """

    __tablename__ = "carrier_accounts"
    __table_args__ = (
        partial_index(
            "uq_carrier_accounts_owner", "owner_id", unique=True, where="removed_at IS NULL"
        ),
    )

    id: Mapped[Id]
    partner_id: Mapped[PartnerId] = mapped_column(index=True)
    organization_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("organizations.id", ondelete="CASCADE"), index=True
    )
    owner_id: Mapped[UUID]
    carrier: Mapped[CarrierKind] = mapped_column(enum_column(CarrierKind))
    sid: Mapped[Short] = mapped_column(default="")
    trunk: Mapped[dict[str, Any] | None] = mapped_column(Json)
    secret: Mapped[str] = mapped_column(Text)
    version: Mapped[int] = mapped_column(default=1)
    """Increases with each change; an account that replaces another continues its number."""
    created_by: Mapped[Name]
    responsible_id: Mapped[UUID | None] = mapped_column(index=True)
    """The user who created it or took it over."""
    created_at: Mapped[Created]
    updated_at: Mapped[Updated]
    removed_at: Mapped[Time | None]

    @hybrid_property
    def is_pending(self) -> bool:
        return self.owner_id == self.id

    @property
    def name(self) -> str:
        """The masked SID of a Twilio account, or a trunk's ``user@host``."""
        if self.trunk is None:
            return with_masked_sids(self.sid)
        user, address = self.trunk["user"], str(self.trunk["address"])
        return f"{user}@{address}" if user else address


class AccountCheck(RequestedCheck, Base):
    """The last check of a carrier account."""

    __abstract__ = True

    account_id: Mapped[UUID] = mapped_column(
        ForeignKey("carrier_accounts.id", ondelete="CASCADE"), primary_key=True
    )
    requested_at: Mapped[Time | None] = mapped_column("asked_at", nullable=False)
    checked_at: Mapped[Time | None] = mapped_column("ended_at")


class CarrierAccountTest(AccountCheck):
    """The last test of an account's connection, requested in the portal."""

    __tablename__ = "carrier_account_tests"


class CarrierNumberList(AccountCheck):
    """The last reading of an account's numbers, requested in the portal or once a day."""

    __tablename__ = "carrier_number_lists"
