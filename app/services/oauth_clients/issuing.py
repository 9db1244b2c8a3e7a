"""New clients and new secrets; suspending, resuming and revoking a client."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from app.enums import Area, CallerKind, Role
from app.errors import Conflict, Forbidden, ValidationFailed
from app.languages import gettext
from app.models import OAuthClient, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit
from app.services.credentials import lifetimes, new_credential_mails, rules
from app.services.credentials import secrets as credential_secrets
from app.services.oauth_clients.loading import get
from app.services.tenancy import get_organization, refuse_archived

SECRET_PREFIX = "ppcs_"  # noqa: S105 - how each secret begins, for scanners of leaked ones
CLIENT_ROLES = (Role.PARTNER_ADMIN, Role.PARTNER_EDITOR, Role.ADMIN)
_ROTATED = "client.rolled"


@dataclass(frozen=True, slots=True)
class NewClient:
    """A client with its secret, which can't be shown again."""

    client: OAuthClient
    secret: str


def create(
    session: Session,
    caller: Caller,
    *,
    name: str,
    role: Role,
    expires_at: lifetimes.End = lifetimes.DEFAULT,
) -> NewClient:
    """Create a client of Area A for the caller's partner, and mail its administrators; for the
    platform, with the operator's role, if the command line names no partner.

    Raises `Forbidden` and `ValidationFailed` (``role_not_allowed``, ``blank``, ``in_the_past``).
    """
    caller.require(Permission.CREDENTIALS_MANAGE)
    allowed = CLIENT_ROLES if caller.partner_id else (Role.OPERATOR,)
    if role not in allowed:
        message = gettext("A client's role is one of %(roles)s.", roles=", ".join(allowed))
        raise ValidationFailed.on("role", "role_not_allowed", message)
    caller.require_grant(role)
    client = OAuthClient(partner_id=caller.partner_id, area=Area.PARTNER_ADMIN, role=role)
    return _add_client(session, caller, client, name, expires_at)


def create_legacy(
    session: Session,
    caller: Caller,
    *,
    organization_id: UUID,
    name: str,
    served_until: datetime | None = None,
    expires_at: lifetimes.End = lifetimes.DEFAULT,
) -> NewClient:
    """Create a client of Area B for one organization. Only for the operator's command line.

    Raises `Forbidden`, `NotFound` (``organization_not_found``), `Conflict` (``archived``) and
    `ValidationFailed` as `create`.
    """
    require_operator(caller)
    organization = get_organization(session, caller, organization_id)
    refuse_archived(organization)
    client = OAuthClient(
        partner_id=organization.partner_id,
        organization_id=organization.id,
        area=Area.LEGACY_CALLS,
        served_until=served_until,
    )
    return _add_client(session, caller, client, name, expires_at)


def rotate(
    session: Session,
    caller: Caller,
    client_id: UUID | str,
    *,
    overlap: timedelta = timedelta(),
    expires_at: lifetimes.End = lifetimes.DEFAULT,
) -> NewClient:
    """Give a client a new secret and a new end; the old secret is accepted for ``overlap`` longer,
    but not beyond the old end.

    Raises `Forbidden` (``insufficient_scope``), `ValidationFailed` (``overlap_out_of_range``: 0 to
    7 days, ``in_the_past``) and `Conflict` (``client_revoked``).
    """
    client = changeable(session, caller, client_id)
    require_grant(caller, client)
    rules.check_overlap(overlap, gettext("The old secret can keep working for 0 to 7 days."))
    secret, before = credential_secrets.new_secret(SECRET_PREFIX), client.expires_at
    end, old_end = lifetimes.end_of(expires_at), utcnow() + overlap
    client.previous_secret_hash = client.secret_hash if overlap else None
    client.previous_until = min(before or old_end, old_end) if overlap else None
    client.secret_hash = credential_secrets.hash_of(secret)
    client.responsible_id = caller.user_id or client.responsible_id
    client.expires_at, client.end_notice = end, lifetimes.first_notice(end)
    audit.record_change(
        session,
        caller,
        _ROTATED,
        client,
        before={"expiresAt": before},
        after={"secret": "new", "expiresAt": end},  # nosec B105 - a word for the history
    )
    new_credential_mails.send(session, caller, client, _ROTATED)
    return NewClient(client, secret)


def _add_client(
    session: Session, caller: Caller, client: OAuthClient, name: str, expires_at: lifetimes.End
) -> NewClient:
    client.name = rules.validate_name(name)
    client.expires_at = lifetimes.end_of(expires_at)
    secret = credential_secrets.new_secret(SECRET_PREFIX)
    client.client_id = f"ppc_{credential_secrets.random_text(22)}"
    client.secret_hash = credential_secrets.hash_of(secret)
    client.created_by = caller.label[:200]
    client.responsible_id = caller.user_id
    session.add(client)
    session.flush()
    values = {"role": client.role, "area": client.area, "expiresAt": client.expires_at}
    audit.record_change(session, caller, "client.created", client, after=values)
    new_credential_mails.send(session, caller, client, "client.created")
    return NewClient(client, secret)


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
    client = _lock_client(session, caller, client_id)
    if client.revoked_at is None:
        client.revoked_at = utcnow()
        audit.record_change(session, caller, "client.revoked", client)
    return client


def changeable(session: Session, caller: Caller, client_id: UUID | str) -> OAuthClient:
    """Return a client that may be changed. Raises `NotFound`, `Forbidden` (``support_only``) and
    `Conflict` (``client_revoked``)."""
    client = _lock_client(session, caller, client_id)
    if client.revoked_at is not None:
        message = gettext("This client was revoked. Create a new one.")
        raise Conflict(message, "client_revoked")
    return client


def _lock_client(session: Session, caller: Caller, client_id: UUID | str) -> OAuthClient:
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
