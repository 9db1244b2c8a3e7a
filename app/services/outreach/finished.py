"""What a round has done, once its calls have ended."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from app.models import Call, CallAttempt, Outreach, OutreachContact


@dataclass(frozen=True, slots=True)
class FinishedRound:
    """``costs`` are the carriers' by currency; empty until they name any."""

    started_at: datetime | None
    ended_at: datetime | None
    costs: Mapping[str, Decimal]


def finished(session: Session, outreach: Outreach) -> FinishedRound:
    """Summarize the calls of the current round in two queries."""
    ended_at = session.scalar(
        select(func.max(Call.ended_at))
        .join(OutreachContact, OutreachContact.call_id == Call.id)
        .where(*_of_round(outreach))
    )
    costs = session.execute(
        select(CallAttempt.cost_currency, func.sum(CallAttempt.cost))
        .join(OutreachContact, OutreachContact.call_id == CallAttempt.call_id)
        .where(*_of_round(outreach), CallAttempt.cost.is_not(None))
        .group_by(CallAttempt.cost_currency)
    )
    by_currency = {currency or "": cost for currency, cost in costs if cost is not None}
    return FinishedRound(outreach.started_at, ended_at, by_currency)


def _of_round(outreach: Outreach) -> tuple[ColumnElement[bool], ...]:
    row = OutreachContact
    return row.campaign_id == outreach.campaign_id, row.round == outreach.round
