"""The audit log: entries that are only ever added, and the hash chain over them."""

from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Base, Created, Hash, Id, Json, Line, Name, Short

NOTIFIED_ACTIONS = (
    *("alert.opened", "alert.resolved", "dialling.paused", "dialling.resumed"),
    *("mail.failed", "phone_number.confirmation_ended"),
    *("upload.applied", "upload.cancelled", "upload.failed", "user.viewed", "webhook.paused"),
)
"""What users are notified of: it happens while they don't look. Kept in order."""
IS_NOTIFIED = text("action IN ('{}')".format("', '".join(NOTIFIED_ACTIONS)))
"""The condition of the index on these entries; a query uses the index only with these words."""


class AuditEntry(Base):
    """Who did what, when and from where, with the values before and after.

    The database refuses to change or delete a row.
    """

    __tablename__ = "audit_entries"
    __table_args__ = (
        Index("ix_audit_entries_partner", "partner_id", "id"),
        Index("ix_audit_entries_organization", "organization_id", "id"),
        Index("ix_audit_entries_target", "target_type", "target_id", "id"),
        Index("ix_audit_entries_action", "target_type", "target_id", "action", "id"),
        Index(
            "ix_audit_entries_notified",
            "partner_id",
            "id",
            sqlite_where=IS_NOTIFIED,
            postgresql_where=IS_NOTIFIED,
        ),
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
    """SHA-256 of the hash before, the place and the digest."""


class AuditForwarding(Base):
    """The last link of a chain that the syslog server has received."""

    __tablename__ = "audit_forwardings"

    chain: Mapped[UUID] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger)
