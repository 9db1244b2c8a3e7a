"""New clients and new secrets."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from app.enums import Area, Role
from app.errors import ValidationFailed
from app.languages import gettext
from app.models import OAuthClient, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit
from app.services.credentials import secrets as credential_secrets
from app.services.oauth_clients.changing import changeable, require_grant, require_operator
from app.services.tenancy import get_organization

CLIENT_ROLES = (Role.PARTNER_ADMIN, Role.PARTNER_EDITOR, Role.ADMIN)


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
    expires_at: datetime | None = None,
) -> NewClient:
    """Create a client of Area A for the caller's partner; for the platform, with the operator's
    role, if the command line names no partner.

    Raises `Forbidden` and `ValidationFailed` (``role_not_allowed``, ``blank``, ``in_the_past``).
    """
    caller.require(Permission.CREDENTIALS_MANAGE)
    allowed = CLIENT_ROLES if caller.partner_id else (Role.OPERATOR,)
    if role not in allowed:
        message = gettext("A client's role is one of %(roles)s.", roles=", ".join(allowed))
        raise ValidationFailed.on("role", "role_not_allowed", message)
    caller.require_grant(role)
    client = OAuthClient(
        partner_id=caller.partner_id, area=Area.PARTNER_ADMIN, role=role, expires_at=expires_at
    )
    return _add(session, caller, client, name)


def create_legacy(
    session: Session,
    caller: Caller,
    *,
    organization_id: UUID,
    name: str,
    served_until: datetime | None = None,
) -> NewClient:
    """Create a client of Area B for one organization. Only for the operator's command line.

    Raises `Forbidden` and `NotFound` (``organization_not_found``).
    """
    require_operator(caller)
    organization = get_organization(session, caller, organization_id)
    client = OAuthClient(
        partner_id=organization.partner_id,
        organization_id=organization.id,
        area=Area.LEGACY_CALLS,
        served_until=served_until,
    )
    return _add(session, caller, client, name)


def roll(
    session: Session, caller: Caller, client_id: UUID | str, *, overlap: timedelta = timedelta()
) -> NewClient:
    """Give a client a new secret; the old one is accepted for ``overlap`` more.

    Raises `Forbidden` (``insufficient_scope``), `ValidationFailed` (``overlap_out_of_range``: 0 to
    7 days) and `Conflict` (``client_revoked``).
    """
    client = changeable(session, caller, client_id)
    require_grant(caller, client)
    if not timedelta() <= overlap <= credential_secrets.LONGEST_OVERLAP:
        message = gettext("The old secret can keep working for 0 to 7 days.")
        raise ValidationFailed.on("overlap", "overlap_out_of_range", message)
    secret = credential_secrets.random_text(credential_secrets.SECRET_LENGTH)
    client.previous_secret_hash = client.secret_hash if overlap else None
    client.previous_until = utcnow() + overlap if overlap else None
    client.secret_hash = credential_secrets.hash_of(secret)
    client.responsible_id = caller.user_id or client.responsible_id
    audit.record_change(session, caller, "client.rolled", client, after={"secret": "new"})  # nosec B105 - a word for the history
    return NewClient(client, secret)


def _add(session: Session, caller: Caller, client: OAuthClient, name: str) -> NewClient:
    if not name.strip() or len(name) > 200:
        message = gettext("Enter a name of 1 to 200 characters.")
        raise ValidationFailed.on("name", "blank" if not name.strip() else "too_long", message)
    if client.expires_at is not None and client.expires_at <= utcnow():
        message = gettext("Choose an end date in the future.")
        raise ValidationFailed.on("expiresAt", "in_the_past", message)
    secret = credential_secrets.random_text(credential_secrets.SECRET_LENGTH)
    client.name = name.strip()
    client.client_id = f"ppc_{credential_secrets.random_text(22)}"
    client.secret_hash = credential_secrets.hash_of(secret)
    client.created_by = caller.label[:200]
    client.responsible_id = caller.user_id
    session.add(client)
    session.flush()
    shown = {"role": client.role, "area": client.area, "expiresAt": client.expires_at}
    audit.record_change(session, caller, "client.created", client, after=shown)
    return NewClient(client, secret)
