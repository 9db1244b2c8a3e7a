"""Calls that hours or limits delay, which the worker schedules again when these change."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Select, or_, select
from sqlalchemy.orm import Session

from app.enums import CallStatus
from app.gateways.job_queue import enqueue_job
from app.models import Call, new_id, utcnow


def request_rescheduling(
    session: Session, partner_id: UUID, organization_id: UUID | None = None
) -> None:
    """Queue the rescheduling of the partner's postponed calls, or one organization's, after its
    hours or limits have changed."""
    if session.scalar(postponed_query(partner_id, organization_id, utcnow()).limit(1)) is not None:
        organization_key = str(organization_id) if organization_id else ""
        enqueue_job(session, "reschedule_earlier", str(new_id()), str(partner_id), organization_key)


def postponed_query(partner_id: UUID, organization_id: UUID | None, now: datetime) -> Select[UUID]:
    """Return the query of calls that hours or limits delay. A retry has its own time, unless it was
    postponed too."""
    query = select(Call.id).where(
        Call.partner_id == partner_id,
        Call.status == CallStatus.SCHEDULED,
        Call.scheduled_for > now,
        or_(Call.next_attempt_at.is_(None), Call.next_attempt_at == Call.scheduled_for),
    )
    return query.where(Call.organization_id == organization_id) if organization_id else query


def is_postponed(call: Call, now: datetime) -> bool:
    """Return whether a locked call is one of `postponed_query`."""
    scheduled_for = call.scheduled_for
    is_kept = (
        call.status is CallStatus.SCHEDULED and scheduled_for is not None and scheduled_for > now
    )
    return is_kept and call.next_attempt_at in {None, scheduled_for}
