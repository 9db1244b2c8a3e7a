"""Erasures: requests to remove a person's data, with their progress."""

import re
from typing import Any
from uuid import UUID

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from app.enums import ErasureStatus, SubjectKind
from app.models.base import (
    Base,
    Created,
    Id,
    Json,
    Name,
    PartnerId,
    Short,
    Time,
    enum_column,
    tenant_key,
)

PSEUDONYM = re.compile(r"erased-[0-9a-f]{8}")
"""The replacement of an erased subject's names. It fits into a column for phone numbers."""
ERASED_DOMAIN = "erased.invalid"
"""The domain of erased users' addresses; nothing can be delivered there (RFC 2606)."""


def is_erased(text: str | None) -> bool:
    """Return whether a phone number or an email address was replaced by a pseudonym."""
    local_part = (text or "").removesuffix(f"@{ERASED_DOMAIN}")
    return PSEUDONYM.fullmatch(local_part) is not None


class Erasure(Base):
    """The erasure of a user, or of a contact in all campaigns of an organization.

    ``subject_id`` is the user, or the contact from which it was requested; ``organization_id`` is
    theirs, None for a user of the partner. ``sought`` holds the words by which the person is found;
    it is emptied when the erasure is done. ``counts`` is what was deleted and pseudonymized, by
    kind.
    """

    __tablename__ = "erasures"
    __table_args__ = (
        tenant_key("organizations", "partner_id", "organization_id"),
        Index("ix_erasures_partner", "partner_id", "id"),
        Index("ix_erasures_subject", "subject_id"),
    )

    id: Mapped[Id]
    partner_id: Mapped[PartnerId | None]
    organization_id: Mapped[UUID | None]
    kind: Mapped[SubjectKind] = mapped_column(enum_column(SubjectKind))
    subject_id: Mapped[UUID]
    pseudonym: Mapped[Short]
    status: Mapped[ErasureStatus] = mapped_column(
        "state", enum_column(ErasureStatus, "erasurestate")
    )
    sought: Mapped[dict[str, Any] | None] = mapped_column(Json)
    counts: Mapped[dict[str, int]] = mapped_column(Json, default=dict)
    requested_by: Mapped[Name]
    requested_by_id: Mapped[UUID | None]
    created_at: Mapped[Created]
    finished_at: Mapped[Time | None]
