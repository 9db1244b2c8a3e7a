"""Requested mails and their delivery."""

from enum import StrEnum
from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import (
    Base,
    Created,
    Email,
    Id,
    Json,
    Line,
    PartnerId,
    Short,
    Time,
    UserId,
    tenant_key,
)


class MailKind(StrEnum):
    INVITATION = "invitation"
    SET_PASSWORD = "set_password"  # noqa: S105 - the name of a kind
    RESET_PASSWORD = "reset_password"  # noqa: S105 - the name of a kind
    PASSWORD_CHANGED = "password_changed"  # noqa: S105 - the name of a kind
    FACTORS_CHANGED = "factors_changed"
    NEW_BROWSER = "new_browser"
    EMAIL_CHANGED = "email_changed"
    CONFIRM_EMAIL = "confirm_email"
    ACCESS_ENDED = "access_ended"
    IMPORT_FINISHED = "import_finished"
    CHAT_MESSAGE = "chat_message"
    WEBHOOK_PAUSED = "webhook_paused"
    CALLING_PAUSED = "calling_paused"
    NUMBERS_UNCONFIRMED = "numbers_unconfirmed"
    BUDGET_REACHED = "budget_reached"
    ALERTS_OPENED = "alerts_opened"
    PORTAL_VIEWED = "portal_viewed"
    IDENTITY_LINKED = "identity_linked"
    MONTHLY_REPORT = "monthly_report"
    DOMAIN_RECORDS = "domain_records"
    EXPORT_FINISHED = "export_finished"
    CREDENTIAL_CREATED = "credential_created"
    CREDENTIAL_ENDS = "credential_ends"
    ADMINISTRATOR_ADDED = "administrator_added"
    RECOVERY = "recovery"
    """Not a mail but a request for a link to this address; it is answered by mails."""


class Mail(Base):
    """A requested mail. It is rendered when it is sent, from ids and ``details``.

    ``to`` is set if the mail goes to another address than the user's current one; ``details`` has
    the data of the text that no row has, never a link or a token. Without a ``user_id`` it goes to
    the partner itself.
    """

    __tablename__ = "mails"
    __table_args__ = (
        tenant_key("users", "partner_id", "user_id"),
        Index("ix_mails_user", "user_id", "id"),
        Index("ix_mails_created", "created_at"),
    )

    id: Mapped[Id]
    partner_id: Mapped[PartnerId | None]
    user_id: Mapped[UserId | None]
    kind: Mapped[Short]
    to: Mapped[Email | None]
    details: Mapped[dict[str, Any]] = mapped_column(Json, default=dict)
    attempts: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[Created]
    sent_at: Mapped[Time | None]
    failed_at: Mapped[Time | None]
    failure: Mapped[Line | None]

    @property
    def is_over(self) -> bool:
        return self.sent_at is not None or self.failed_at is not None
