"""The rate limit of each carrier in calls per second: one row with the time of its next turn."""

from datetime import datetime, timedelta

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.enums import CarrierKind
from app.models import CarrierPace
from app.services.uniqueness import insert_into


def is_taken(session: Session, carrier: CarrierKind, now: datetime) -> bool:
    """Return whether another call has the carrier's turn now."""
    next_at = session.scalar(
        select(CarrierPace.next_at).where(CarrierPace.carrier == carrier.value)
    )
    return next_at is not None and next_at > now


def take_turn(
    session: Session, carrier: CarrierKind, per_second: float, now: datetime
) -> datetime | None:
    """Take the carrier's next turn and return None, or return when to try again.

    The turn's row stays locked until the transaction ends, so that two calls never share a turn.
    """
    gap = timedelta(seconds=1 / per_second)
    first = insert_into(session, CarrierPace).values(carrier=carrier.value, next_at=now)
    session.execute(first.on_conflict_do_nothing())
    row = session.execute(
        update(CarrierPace)
        .where(CarrierPace.carrier == carrier.value, CarrierPace.next_at <= now)
        .values(next_at=now + gap)
        .returning(CarrierPace.carrier)
        .execution_options(synchronize_session=False)
    ).first()
    if row is not None:
        return None
    return session.scalar(select(CarrierPace.next_at).where(CarrierPace.carrier == carrier.value))


def return_turn(session: Session, carrier: CarrierKind, now: datetime) -> None:
    """Return a turn that was taken in this transaction: the next call may take it."""
    session.execute(
        update(CarrierPace)
        .where(CarrierPace.carrier == carrier.value)
        .values(next_at=now)
        .execution_options(synchronize_session=False)
    )
