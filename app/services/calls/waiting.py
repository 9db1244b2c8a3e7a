"""Calls that wait: released after a pause, stopped when a rule forbids them, moved to an earlier
time when hours or limits change. The worker checks them from time to time."""

from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import delete, exists, func, or_, select
from sqlalchemy.orm import Session

from app.config.calls import MAX_CALL_MINUTES
from app.enums import CallStatus
from app.gateways.job_queue import enqueue_call
from app.models import Call, HeldCall, Organization, new_id, utcnow
from app.services import carrier_accounts, pauses, spending
from app.services.calls import lifecycle, limits, rules
from app.services.calls.states import WAITING, lock_call
from app.services.postponed_calls import is_postponed, postponed_query

CHECK_HELD_EVERY = timedelta(minutes=1)
HELD_BATCH = 100
QUEUED_BATCH = 100
NEW_CALL = timedelta(seconds=2)
"""A call accepted this recently is usually placed before it could be checked."""
RELEASE_BATCH = 500
RESCHEDULE_BATCH = 20
"""Maximum calls rescheduled in one transaction, which blocks others."""


def any_to_release(session: Session) -> bool:
    """Return whether `release` would find a call."""
    return session.scalar(select(HeldCall.call_id).where(pauses.is_released()).limit(1)) is not None


def release(session: Session) -> int:
    """Queue held calls that no pause covers any more, in the order of their acceptance, and those
    that have expired. Return how many, at most `RELEASE_BATCH`."""
    query = (
        select(HeldCall.call_id)
        .where(pauses.is_released())
        .order_by(HeldCall.call_id)
        .limit(RELEASE_BATCH)
        .with_for_update(skip_locked=True)
    )
    ids = list(session.scalars(query))
    calls = session.execute(
        select(Call.id, Call.organization_id, Call.live, Call.status)
        .where(Call.id.in_(ids))
        .order_by(Call.id)
    )
    for call_id, organization_id, live, status in calls:
        if status in WAITING:
            enqueue_call(
                session,
                call_id=call_id,
                attempt_id=new_id(),
                organization_id=organization_id,
                live=live,
            )
    session.execute(delete(HeldCall).where(HeldCall.call_id.in_(ids)))
    return len(ids)


def list_due_held(session: Session) -> list[UUID]:
    """Return held calls that were last checked over a minute ago, at most `HELD_BATCH`."""
    query = select(HeldCall.call_id).where(HeldCall.held_at < utcnow() - CHECK_HELD_EVERY)
    return list(session.scalars(query.order_by(HeldCall.held_at).limit(HELD_BATCH)))


def check_held(session: Session, call_id: UUID) -> bool:
    """End a held call if a rule stops it now; return whether it did."""
    call = lock_call(session, call_id)
    row = session.get(HeldCall, call_id)
    if row is None:
        return False
    row.held_at = utcnow()
    if call.status not in WAITING:
        session.delete(row)
        return False
    if not end_if_stopped(session, call_id):
        row.carrier = call.carrier
        return False
    session.delete(row)
    return True


def list_queued(session: Session, after: UUID | None) -> list[UUID]:
    """Return the next `QUEUED_BATCH` calls that wait in the queue, in the order of their
    acceptance."""
    query = select(Call.id).where(
        Call.status == CallStatus.QUEUED,
        Call.created_at < utcnow() - NEW_CALL,
        ~exists().where(HeldCall.call_id == Call.id),
    )
    if after is not None:
        query = query.where(Call.id > after)
    return list(session.scalars(query.order_by(Call.id).limit(QUEUED_BATCH)))


def stopped_by_rules(session: Session, call_ids: list[UUID]) -> list[UUID]:
    """Return the calls that a rule stops now."""
    return [
        call.id
        for call, parties in rules.parties_of_calls(session, call_ids)
        if rules.blocker_of(session, call, parties) is not None
    ]


def end_if_stopped(session: Session, call_id: UUID) -> bool:
    """End a waiting call if a rule stops it now; return whether it did. Its account is chosen
    again, as before it is placed."""
    call = lock_call(session, call_id)
    if call.status not in WAITING:
        return False
    carrier_accounts.choose_again(session, call)
    parties = rules.parties_of(session, call.assistant_id, call.phone_number)
    blocker = rules.blocker_of(session, call, parties)
    if blocker is None:
        return False
    canceled = CallStatus.CANCELED, blocker.reason
    lifecycle.end_call(session, call, *canceled, at=utcnow(), detail=blocker.message)
    return True


def reschedule_earlier(
    session: Session,
    partner_id: UUID,
    organization_id: UUID | None,
    after: UUID | None,
    *,
    max_call_minutes: int = MAX_CALL_MINUTES,
) -> UUID | None:
    """Move postponed calls that are allowed earlier now, as many at once as the day's limit has
    room for: the next `RESCHEDULE_BATCH` in the order of their acceptance.

    Return the last one that was checked; None if there are no more.
    """
    now = utcnow()
    query = (
        postponed_query(partner_id, organization_id, now).order_by(Call.id).limit(RESCHEDULE_BATCH)
    )
    call_ids = session.scalars(query.where(Call.id > after) if after else query).all()
    room: dict[UUID, float] = {}
    for call_id in call_ids:
        call = lock_call(session, call_id)
        if not is_postponed(call, now):
            continue
        organization = session.get_one(Organization, call.organization_id, populate_existing=True)
        plan = limits.plan_of(session, call)
        wait = limits.find_wait(
            session, call.phone_number, organization, now, live=call.live, plan=plan
        )
        if call.is_charged and wait is None:
            spender = spending.Spender.of(call)
            stop = spending.check(
                session, spender, call.phone_number, now, max_call_minutes=max_call_minutes
            )
            wait = limits.LimitWait(stop.until, stop.reason) if stop and not stop.frees_up else None
        if wait is not None:
            if call.scheduled_for is not None and wait.until < call.scheduled_for:
                lifecycle.postpone(session, call, wait.until, wait.reason, now)
            continue
        if call.live:
            if organization.id not in room:
                room[organization.id] = _room_today(session, organization, now)
            room[organization.id] -= 1
            if room[organization.id] < 0:
                continue
        lifecycle.postpone(session, call, now, None, now)
    return call_ids[-1] if call_ids else None


def _room_today(session: Session, organization: Organization, now: datetime) -> float:
    """Return how many more live calls the day's limit allows, besides those that may be placed
    now."""
    limit = limits.day_of(organization)
    if limit is None:
        return float("inf")
    may_come = or_(Call.scheduled_for.is_(None), Call.scheduled_for <= now)
    upcoming = select(func.count()).where(
        Call.organization_id == organization.id,
        Call.status.in_(WAITING),
        Call.live.is_(True),
        may_come,
    )
    made_today = limits.made_today(session, organization, now)
    return limit.value - made_today - (session.scalar(upcoming) or 0)
