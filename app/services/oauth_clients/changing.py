"""Suspend, resume and revoke clients."""

from uuid import UUID

from sqlalchemy.orm import Session

from app.enums import Area, CallerKind
from app.errors import Conflict, Forbidden
from app.languages import gettext
from app.models import OAuthClient, utcnow
from app.policy.caller import Caller
from app.services import audit
from app.services.oauth_clients.loading import get


def suspend(session: Session, caller: Caller, client_id: UUID | str) -> OAuthClient:
    """Suspend a client until it is resumed, including its tokens, from the next request on."""
    client = changeable(session, caller, client_id)
    if client.suspended_at is None:
        client.suspended_at = utcnow()
        audit.record_change(session, caller, "client.suspended", client)
    return client


def resume(session: Session, caller: Caller, client_id: UUID | str) -> OAuthClient:
    """Resume a suspended client. Raises `Forbidden` (``insufficient_scope``)."""
    client = changeable(session, caller, client_id)
    require_grant(caller, client)
    if client.suspended_at is not None:
        client.suspended_at = None
        audit.record_change(session, caller, "client.resumed", client)
    return client


def revoke(session: Session, caller: Caller, client_id: UUID | str) -> OAuthClient:
    """Revoke a client for good, including its tokens, from the next request on. Repeating it is no
    error."""
    client = _own(session, caller, client_id)
    if client.revoked_at is None:
        client.revoked_at = utcnow()
        audit.record_change(session, caller, "client.revoked", client)
    return client


def changeable(session: Session, caller: Caller, client_id: UUID | str) -> OAuthClient:
    """Return a client that may be changed. Raises `NotFound`, `Forbidden` (``support_only``) and
    `Conflict` (``client_revoked``)."""
    client = _own(session, caller, client_id)
    if client.revoked_at is not None:
        message = gettext("This client was revoked. Create a new one.")
        raise Conflict(message, "client_revoked")
    return client


def _own(session: Session, caller: Caller, client_id: UUID | str) -> OAuthClient:
    client = get(session, caller, client_id, for_change=True)
    if client.area is Area.LEGACY_CALLS:
        require_operator(caller)
    return client


def require_grant(caller: Caller, client: OAuthClient) -> None:
    """Raise `Forbidden` (``insufficient_scope``) if the caller's credential has fewer permissions
    than the client."""
    if client.role is not None:
        caller.require_grant(client.role)


def require_operator(caller: Caller) -> None:
    """Raise `Forbidden` (``support_only``) unless the caller is the operator's command line."""
    if not caller.is_operator or caller.kind is not CallerKind.SYSTEM:
        message = gettext("Clients of the legacy API are managed by support.")
        raise Forbidden(message, "support_only")
