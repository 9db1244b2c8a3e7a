"""Calls of a campaign that stops: those that have not begun are taken back."""

from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.enums import CallSource, CallStatus, EndedReason
from app.models import Call, Outreach, OutreachContact, utcnow
from app.services.calls.outcome import end_call
from app.services.calls.states import WAITING, latest_attempt, lock_call

TAKEN_BACK = "The campaign was stopped before the call was placed."
NO_FURTHER = "The campaign was stopped; the call is not tried again."


def take_back(session: Session, campaign_id: UUID) -> int:
    """Ends the waiting calls of the campaign; returns how many.

    Whom no attempt has reached for is called when the campaign goes on; a call that waited for
    its next attempt ends as the last one did. The outreach's row is held first, so that nobody
    hands in further ones meanwhile.
    """
    held = select(Outreach.campaign_id).where(Outreach.campaign_id == campaign_id)
    if session.scalar(held.with_for_update()) is None:
        return 0
    waiting = session.scalars(
        select(Call.id)
        .join(OutreachContact, OutreachContact.call_id == Call.id)
        .where(
            OutreachContact.campaign_id == campaign_id,
            Call.source == CallSource.CAMPAIGN,
            Call.status.in_(WAITING),
        )
        .order_by(Call.id)
    ).all()
    now = utcnow()
    stopped = 0
    for call_id in waiting:
        call = lock_call(session, call_id)
        if call.status not in WAITING:
            continue
        stopped += 1
        attempt = latest_attempt(session, call.id)
        if attempt is not None and attempt.ended_reason is not None and attempt.status.is_final:
            ended = attempt.status, attempt.ended_reason
            end_call(session, call, *ended, at=now, detail=NO_FURTHER)
            continue
        session.execute(delete(OutreachContact).where(OutreachContact.call_id == call.id))
        end_call(
            session, call, CallStatus.CANCELED, EndedReason.CANCELED, at=now, detail=TAKEN_BACK
        )
    return stopped
