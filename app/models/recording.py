"""The recording and the transcript of a call.

Deleting the contact that was called, the call or the organization deletes both rows. A file without
its row is removed with the other orphans.
"""

from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.enums import RecordingStatus
from app.models.base import (
    Base,
    Created,
    Id,
    Json,
    Line,
    Name,
    Short,
    Time,
    Updated,
    Url,
    enum_column,
    tenant_key,
)


class CallRecording(Base):
    """The recording of a call, kept as a file of this installation.

    It is fetched from ``url``, or from the carrier by its ``carrier_reference``. ``attempt_number``
    counts the attempts to fetch it and identifies an outdated job; ``tries`` counts those of this
    source.
    """

    __tablename__ = "call_recordings"
    __table_args__ = (
        tenant_key("organizations", "partner_id", "organization_id"),
        tenant_key("calls", "organization_id", "call_id"),
        Index("ix_call_recordings_organization", "partner_id", "organization_id"),
        Index("ix_call_recordings_created", "created_at"),
        Index("ix_call_recordings_file_key", "file_key"),
    )

    id: Mapped[Id]
    partner_id: Mapped[UUID]
    organization_id: Mapped[UUID]
    call_id: Mapped[UUID] = mapped_column(unique=True)
    contact_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("contacts.id", ondelete="CASCADE"), index=True
    )
    attempt_id: Mapped[UUID | None]
    status: Mapped[RecordingStatus] = mapped_column(
        "state", enum_column(RecordingStatus, "recordingstate")
    )
    url: Mapped[Url | None]
    carrier_reference: Mapped[Name | None]
    attempt_number: Mapped[int] = mapped_column("turn", default=0)
    tries: Mapped[int] = mapped_column(default=0)
    problem: Mapped[Line | None]
    file_key: Mapped[Name] = mapped_column(default="")
    size: Mapped[int] = mapped_column(default=0)
    content_type: Mapped[Short | None]
    created_at: Mapped[Created]


class CallTranscript(Base):
    """The text of a call, turn by turn, and its summary.

    ``sent_at`` is the time of the newest report of the voice engine, ``report_id`` its id: older
    and repeated reports change nothing.
    """

    __tablename__ = "call_transcripts"
    __table_args__ = (
        tenant_key("organizations", "partner_id", "organization_id"),
        tenant_key("calls", "organization_id", "call_id"),
        Index("ix_call_transcripts_organization", "organization_id"),
        Index("ix_call_transcripts_created", "created_at"),
    )

    id: Mapped[Id]
    partner_id: Mapped[UUID]
    organization_id: Mapped[UUID]
    call_id: Mapped[UUID] = mapped_column(unique=True)
    contact_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("contacts.id", ondelete="CASCADE"), index=True
    )
    turns: Mapped[list[dict[str, Any]]] = mapped_column(Json, default=list)
    summary: Mapped[str | None] = mapped_column(Text)
    report_id: Mapped[Name | None]
    sent_at: Mapped[Time | None]
    created_at: Mapped[Created]
    updated_at: Mapped[Updated]
