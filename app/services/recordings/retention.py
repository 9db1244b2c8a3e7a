"""Deleting expired recordings and transcripts, of all partners or of one."""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import delete, select, true
from sqlalchemy.orm import Session

from app.models import CallRecording, CallTranscript, utcnow

BATCH_SIZE = 500


def purge_recordings(session: Session, days: int, partner_id: UUID | None = None) -> list[str]:
    """Delete recordings that are older, a limited number at once; return the keys of their files,
    empty where one was never fetched."""
    query = (
        select(CallRecording.id, CallRecording.file_key)
        .where(
            CallRecording.created_at < utcnow() - timedelta(days=days),
            CallRecording.partner_id == partner_id if partner_id else true(),
        )
        .order_by(CallRecording.created_at)
        .limit(BATCH_SIZE)
    )
    old = session.execute(query).all()
    session.execute(delete(CallRecording).where(CallRecording.id.in_([row.id for row in old])))
    return [row.file_key for row in old]


def purge_transcripts(session: Session, days: int, partner_id: UUID | None = None) -> int:
    """Delete transcripts and summaries that are older, a limited number at once; return how
    many."""
    query = (
        select(CallTranscript.id)
        .where(
            CallTranscript.created_at < utcnow() - timedelta(days=days),
            CallTranscript.partner_id == partner_id if partner_id else true(),
        )
        .order_by(CallTranscript.created_at)
        .limit(BATCH_SIZE)
    )
    old = session.scalars(query).all()
    session.execute(delete(CallTranscript).where(CallTranscript.id.in_(old)))
    return len(old)
