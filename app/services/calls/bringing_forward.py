"""Calls that an organization's hours and limits have put off, looked at again when these change.

A call that was put off comes at the moment it was put off to. Where a person loosens what kept it,
it comes as soon as it then may: as many at once as the day still has room for.
"""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Select, func, or_, select
from sqlalchemy.orm import Session

from app.enums import CallStatus
from app.gateways.job_queue import enqueue_job
from app.models import Call, Organization, new_id, utcnow
from app.services.calls import dispatch, limits
from app.services.calls.states import WAITING, lock_call

AT_ONCE = 20
"""Calls in one transaction: others wait for it."""


def look_again(session: Session, partner_id: UUID, organization_id: UUID | None = None) -> None:
    """Has the worker look at the partner's calls that were put off, or at one organization's;
    nothing where there are none."""
    if session.scalar(_put_off(partner_id, organization_id, utcnow()).limit(1)) is not None:
        whose = str(organization_id) if organization_id else ""
        enqueue_job(session, "bring_forward", str(new_id()), str(partner_id), whose)


def bring_forward(
    session: Session, partner_id: UUID, organization_id: UUID | None, after: UUID | None
) -> UUID | None:
    """Moves those of the next `AT_ONCE` put-off calls that may come sooner now, in the order of
    their acceptance. Returns the last one looked at; None where there are no more."""
    now = utcnow()
    query = _put_off(partner_id, organization_id, now).order_by(Call.id).limit(AT_ONCE)
    call_ids = session.scalars(query.where(Call.id > after) if after else query).all()
    room: dict[UUID, float] = {}
    for call_id in call_ids:
        call = lock_call(session, call_id)
        if not _is_put_off(call, now):
            continue
        organization = session.get_one(Organization, call.organization_id, populate_existing=True)
        wait = limits.next_moment(session, call.phone_number, organization, now, live=call.live)
        if wait is not None:
            if call.scheduled_for is not None and wait.until < call.scheduled_for:
                dispatch.postpone(session, call, wait.until, wait.why, now)
            continue
        if call.live:
            left = room.get(organization.id, _room_today(session, organization, now))
            room[organization.id] = left - 1
            if left < 1:
                continue
        dispatch.postpone(session, call, now, None, now)
    return call_ids[-1] if call_ids else None


def _put_off(partner_id: UUID, organization_id: UUID | None, now: datetime) -> Select[UUID]:
    """Those that hours or limits keep. A retry has its own time, unless it was put off as well."""
    query = select(Call.id).where(
        Call.partner_id == partner_id,
        Call.status == CallStatus.SCHEDULED,
        Call.scheduled_for > now,
        or_(Call.next_attempt_at.is_(None), Call.next_attempt_at == Call.scheduled_for),
    )
    return query.where(Call.organization_id == organization_id) if organization_id else query


def _is_put_off(call: Call, now: datetime) -> bool:
    """As `_put_off`, of a call that is locked."""
    at = call.scheduled_for
    is_kept = call.status is CallStatus.SCHEDULED and at is not None and at > now
    return is_kept and call.next_attempt_at in {None, at}


def _room_today(session: Session, organization: Organization, now: datetime) -> float:
    """How many live calls the day still has room for, those that may come now taken off."""
    limit = limits.day_of(organization)
    if limit is None:
        return float("inf")
    may_come = or_(Call.scheduled_for.is_(None), Call.scheduled_for <= now)
    coming = select(func.count()).where(
        Call.organization_id == organization.id,
        Call.status.in_(WAITING),
        Call.live.is_(True),
        may_come,
    )
    made = limits.made_today(session, organization, now)
    return limit.most - made - (session.scalar(coming) or 0)
