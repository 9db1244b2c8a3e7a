"""What other systems are told of a call: the call as a script reads it, at that moment."""

from typing import Any

from sqlalchemy.orm import Session

from app.enums import WebhookEvent
from app.models import Call
from app.services.calls.description import describe
from app.services.calls.reading import attempts_of
from app.services.webhooks.publishing import publish


def tell(session: Session, call: Call, event: WebhookEvent) -> None:
    """Written with the change that it tells of, where an endpoint wants to know."""

    def facts() -> dict[str, Any]:
        session.flush()
        described = describe(call, attempts_of(session, [call.id])[call.id])
        return {
            "organizationId": call.organization_id,
            "live": call.live,
            **described.model_dump(mode="json", by_alias=True),
        }

    publish(session, call.organization_id, event, facts)
