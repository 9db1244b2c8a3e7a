"""The audit log: entries that are only ever added, and the hash chain over them."""

from secrets import token_hex
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Base, Created, Hash, Id, Json, Line, Name, Short, partial_index

CALLING_PAUSE = "dialling"
"""The noun of actions that pause or resume calling, and the type of their targets."""
NOTIFIED_ACTIONS = (
    "alert.opened",
    "alert.resolved",
    "campaign.finished",
    f"{CALLING_PAUSE}.paused",
    f"{CALLING_PAUSE}.resumed",
    "mail.failed",
    "organization.budget_reached",
    "partner.budget_reached",
    "phone_number.confirmation_ended",
    "upload.applied",
    "upload.cancelled",
    "upload.failed",
    "user.viewed",
    "webhook.paused",
)
"""Actions that notify users, because they happen while the users don't look. Kept in order."""
# nosemgrep: sql-made-of-values - the constants above
IS_NOTIFIED = text("action IN ('{}')".format("', '".join(NOTIFIED_ACTIONS)))
"""The condition of the index on these entries; PostgreSQL uses the index only for queries with
these exact words."""


class AuditEntry(Base):
    """An entry of the history: who did what, when and from where, with the values before and after.

    The database refuses to delete a row, and to change one except for a recorded `AuditRedaction`.
    ``salt`` is part of what is hashed, so that the hash doesn't reveal values that were redacted;
    it is deleted with them. ``redacted`` counts the redactions.
    """

    __tablename__ = "audit_entries"
    __table_args__ = (
        Index("ix_audit_entries_partner", "partner_id", "id"),
        Index("ix_audit_entries_organization", "organization_id", "id"),
        Index("ix_audit_entries_target", "target_type", "target_id", "id"),
        Index("ix_audit_entries_action", "target_type", "target_id", "action", "id"),
        partial_index("ix_audit_entries_actor", "actor_id", "id", where="actor_id IS NOT NULL"),
        partial_index("ix_audit_entries_notices", "partner_id", "id", where=IS_NOTIFIED),
    )

    id: Mapped[Id]
    partner_id: Mapped[UUID | None] = mapped_column(ForeignKey("partners.id"))
    organization_id: Mapped[UUID | None]
    at: Mapped[Created]
    actor_kind: Mapped[Short]
    actor_id: Mapped[UUID | None]
    actor: Mapped[Name]
    ip: Mapped[Short | None]
    request_id: Mapped[Short | None]
    action: Mapped[Short]
    target_type: Mapped[Short]
    target_id: Mapped[Short]
    target: Mapped[Line | None]
    before: Mapped[dict[str, Any]] = mapped_column(Json, default=dict)
    after: Mapped[dict[str, Any]] = mapped_column(Json, default=dict)
    salt: Mapped[Hash | None] = mapped_column(default=lambda: token_hex(16))
    redacted: Mapped[int] = mapped_column(default=0, server_default="0")


class AuditLink(Base):
    """The place of an entry in its chain. The database refuses to change or delete a row.

    ``chain`` is the partner of the entry, or the zero UUID for entries without a partner.
    """

    __tablename__ = "audit_links"

    chain: Mapped[UUID] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    entry_id: Mapped[UUID] = mapped_column(ForeignKey("audit_entries.id"), unique=True)
    digest: Mapped[Hash]
    """SHA-256 of the entry."""
    hash: Mapped[Hash]
    """SHA-256 of the previous hash, the place and the digest."""


class AuditRedaction(Base):
    """An entry after personal data was removed from it for the ``number``th time.

    ``digest`` is that of the redacted entry; ``recorded_by`` is an entry of the same chain that
    certifies the redactions made with it. The database refuses to change or delete a row.
    """

    __tablename__ = "audit_redactions"

    entry_id: Mapped[UUID] = mapped_column(ForeignKey("audit_entries.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    chain: Mapped[UUID]
    digest: Mapped[Hash]
    recorded_by: Mapped[UUID] = mapped_column(ForeignKey("audit_entries.id"), index=True)


class AuditForwarding(Base):
    """The last link of a chain that the syslog server has received."""

    __tablename__ = "audit_forwardings"

    chain: Mapped[UUID] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger)
