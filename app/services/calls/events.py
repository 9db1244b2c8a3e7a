"""A call's timeline, its webhooks, and the signals to the worker that follows it."""

from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.enums import CallStatus, WebhookEvent
from app.models import Call, CallEvent, CallSignal, new_id, utcnow
from app.services.calls.queries import attempts_of, describe
from app.services.webhooks.publishing import publish

DELAYED = "put-off"
"""The kind of the entry about an attempt that the carrier delayed."""
ATTEMPT_ENDED = "attempt-ended"
"""The kind of the entry about an attempt that the organization's rule retries."""


def add_timeline_entry(
    session: Session,
    call: Call,
    kind: str,
    status: CallStatus,
    *,
    at: datetime,
    detail: str | None = None,
    attempt_id: UUID | None = None,
) -> None:
    """Add an entry to the call's timeline.

    ``kind`` is the last part of the entry's key, which is unique in the call: accepted, scheduled,
    dialing, ringing, answered, said-intro, said-voicemail, never-placed, `ATTEMPT_ENDED`,
    `DELAYED`, held, was-unknown, ended, cancel-asked, cancel-refused (kinds that can repeat carry
    their time after a colon).
    """
    session.add(
        CallEvent(
            call_id=call.id,
            attempt_id=attempt_id,
            key=event_key(kind, attempt_id),
            at=at,
            status=status,
            detail=detail,
        )
    )


def event_key(kind: str, attempt_id: UUID | None) -> str:
    return kind if attempt_id is None else f"{attempt_id}:{kind}"


def known_events(session: Session, call_id: UUID, attempt_id: UUID) -> set[str]:
    """Return the keys of an attempt's timeline entries."""
    query = select(CallEvent.key).where(
        CallEvent.call_id == call_id, CallEvent.attempt_id == attempt_id
    )
    return set(session.scalars(query))


def publish_event(session: Session, call: Call, event: WebhookEvent) -> None:
    """Publish the event with the call as the API describes it, to the webhooks subscribed to it.

    It is written in the transaction of the change that it reports.
    """

    def payload() -> dict[str, Any]:
        session.flush()
        described = describe(call, attempts_of(session, [call.id])[call.id])
        return {
            "organizationId": call.organization_id,
            "live": call.live,
            **described.model_dump(mode="json", by_alias=True),
        }

    publish(session, call.partner_id, call.organization_id, event, payload)


def signal(session: Session, attempt_id: UUID) -> None:
    """Make the worker that follows the attempt look at it as soon as this is committed: it was
    cancelled, or its carrier reported something."""
    session.add(CallSignal(id=new_id(), attempt_id=attempt_id, sent_at=utcnow()))


def signaled_attempts(session: Session) -> set[UUID]:
    return set(session.scalars(select(CallSignal.attempt_id)))


def clear_signals(session: Session, attempt_ids: Collection[UUID]) -> None:
    """Delete the signals before the attempts are looked at; later signals are delivered again."""
    session.execute(delete(CallSignal).where(CallSignal.attempt_id.in_(attempt_ids)))
