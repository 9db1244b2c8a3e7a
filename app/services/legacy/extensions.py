"""Extensions: clients that the legacy API serves after its retirement, each until its own end."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Area, CallerKind
from app.errors import Conflict, Forbidden, NotFound, ValidationFailed
from app.languages import gettext
from app.models import OAuthClient, utcnow
from app.policy.caller import Caller
from app.services import audit
from app.services.tenancy import fetch, of_tenant


def extend(
    session: Session, caller: Caller, client_id: UUID | str, until: datetime | None
) -> OAuthClient:
    """Serve a client, named by its id or public client id, until this time although the API is
    retired; None ends the extension. Only for operators, on their screens and the command line.

    Raises `Forbidden` (``support_only``), `NotFound` (``client_not_found``), `ValidationFailed`
    (``wrong_area``, ``in_the_past``) and `Conflict` (``client_revoked``).
    """
    _require_operator(caller)
    column = OAuthClient.id if isinstance(client_id, UUID) else OAuthClient.client_id
    query = of_tenant(
        select(OAuthClient).where(column == client_id), caller, OAuthClient.partner_id
    )
    missing = NotFound(gettext("There is no such client."), "client_not_found")
    client = fetch(session, query, missing, for_change=True)
    if client.area is not Area.LEGACY_CALLS:
        message = "Only clients of the legacy API have an end date to extend."
        raise ValidationFailed.on("clientId", "wrong_area", message)
    if client.revoked_at is not None:
        raise Conflict(gettext("This client was revoked. Create a new one."), "client_revoked")
    if until is not None and until <= utcnow():
        raise ValidationFailed.on(
            "until", "in_the_past", gettext("Choose an end date in the future.")
        )
    if until == client.served_until:
        return client
    before, client.served_until = client.served_until, until
    audit.record_change(
        session,
        caller,
        "client.extended" if until else "client.extension_ended",
        client,
        before={"servedUntil": before},
        after={"servedUntil": until},
    )
    return client


def _require_operator(caller: Caller) -> None:
    """Refuse an operator's scripts too: a user decides about each client."""
    if not caller.is_operator or caller.kind not in (CallerKind.SYSTEM, CallerKind.USER):
        message = gettext("Clients of the legacy API are managed by support.")
        raise Forbidden(message, "support_only")
