"""Totals of some calls: how many, how many were answered, and their duration."""

from dataclasses import dataclass

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session

from app.enums import AnsweredBy, CallStatus
from app.models import Call
from app.policy.caller import Caller
from app.services.calls.searching import CallSearch, matching

MAX_CALLS = 10_000
"""Maximum calls that are counted, so that the figures of a busy assistant stay cheap."""


@dataclass(frozen=True, slots=True)
class CallFigures:
    """``completed`` calls were answered, ``by_human`` of them by a person; ``seconds`` is the total
    duration of the completed ones. If there are `MAX_CALLS` calls, more may match."""

    calls: int
    completed: int
    by_human: int
    seconds: int

    @property
    def is_partial(self) -> bool:
        return self.calls >= MAX_CALLS


def figures_of(session: Session, caller: Caller, filters: CallSearch) -> CallFigures:
    """Count the calls that match, the newest `MAX_CALLS`, in one query. Raises `Forbidden`."""
    newest = (
        matching(session, caller, filters)
        .with_only_columns(Call.status, Call.answered_by, Call.seconds)
        .order_by(Call.id.desc())
        .limit(MAX_CALLS)
        .subquery()
    )
    is_completed = newest.c.status == CallStatus.COMPLETED
    is_human = and_(is_completed, newest.c.answered_by == AnsweredBy.HUMAN)
    row = session.execute(
        select(
            func.count(),
            func.count().filter(is_completed),
            func.count().filter(is_human),
            func.coalesce(func.sum(newest.c.seconds).filter(is_completed), 0),
        ).select_from(newest)
    ).one()
    return CallFigures(*map(int, row))
