"""Clients of the token endpoint: Area A by role, Area B for one organization.

A partner's administrators make the first kind, only the operator the second ("support-issued").
A secret is returned once, by `create`, `create_legacy` and `roll`; its hash alone is stored.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import Select, false, func, or_, select
from sqlalchemy.orm import Session

from app.caller import Caller
from app.enums import Area, CallerKind, Role
from app.errors import Conflict, Forbidden, NotFound, ValidationFailed
from app.models import OAuthClient, Organization, Partner, utcnow
from app.policy import Permission
from app.services import audit, last_used, script_secrets
from app.services.paging import Page, Sort, keyset_page

CLIENT_ROLES = (Role.PARTNER_ADMIN, Role.PARTNER_EDITOR, Role.ADMIN)

_NEWEST = Sort(OAuthClient.created_at, lambda row: row.created_at, descending=True)
_CLIENT_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
_HASH_OF_NOBODY = script_secrets.hash_of("")


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
    """A client of Area A for the caller's partner; for the platform where the command line names
    no partner, and then with the operator's role.

    Raises `Forbidden` and `ValidationFailed` (``role_not_allowed``, ``blank``, ``in_the_past``).
    """
    caller.require(Permission.CREDENTIALS_MANAGE)
    allowed = CLIENT_ROLES if caller.partner_id else (Role.OPERATOR,)
    if role not in allowed:
        message = f"A client's role is one of {', '.join(allowed)}."
        raise ValidationFailed.on("role", "role_not_allowed", message)
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
    """A client of Area B for one organization. Only the operator's command line may.

    Raises `Forbidden` and `NotFound` (``organization_not_found``).
    """
    _require_operator(caller)
    organization = session.get(Organization, organization_id)
    if organization is None or caller.partner_id not in (None, organization.partner_id):
        message = "There is no such organization."
        raise NotFound(message, "organization_not_found")
    client = OAuthClient(
        partner_id=organization.partner_id,
        organization_id=organization.id,
        area=Area.LEGACY_CALLS,
        served_until=served_until,
    )
    return _add(session, caller, client, name)


def list_all(
    session: Session, caller: Caller, *, area: Area | None = None
) -> Sequence[OAuthClient]:
    """The clients that the caller may manage, oldest first, revoked ones too."""
    query = _manageable(caller).order_by(OAuthClient.created_at, OAuthClient.id)
    if area is not None:
        query = query.where(OAuthClient.area == area)
    return session.scalars(query).all()


def search(
    session: Session,
    caller: Caller,
    *,
    query: str | None = None,
    in_use: bool | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page[OAuthClient]:
    """A screen of clients, newest first; ``query`` looks in names and client ids, ``in_use``
    leaves out those that have ended, or those that have not.

    Raises `Forbidden` and `ValidationFailed` (``invalid_cursor``).
    """
    rows = _manageable(caller)
    words = (query or "").replace("\x00", "").strip()
    if words:
        columns = (OAuthClient.name, OAuthClient.client_id)
        rows = rows.where(or_(*(column.icontains(words, autoescape=True) for column in columns)))
    if in_use is not None:
        ended = OAuthClient.revoked_at.is_not(None) | func.coalesce(
            OAuthClient.expires_at <= utcnow(), false()
        )
        rows = rows.where(~ended if in_use else ended)
    return keyset_page(
        session, rows, sort=_NEWEST, id_column=OAuthClient.id, cursor=cursor, limit=limit
    )


def get(session: Session, caller: Caller, client_id: UUID | str) -> OAuthClient:
    """One client, by its id or its public client id. Raises `NotFound` (``client_not_found``)."""
    column = OAuthClient.id if isinstance(client_id, UUID) else OAuthClient.client_id
    client = session.scalars(_manageable(caller).where(column == client_id)).one_or_none()
    if client is None:
        message = "There is no such client."
        raise NotFound(message, "client_not_found")
    return client


def suspend(session: Session, caller: Caller, client_id: UUID | str) -> OAuthClient:
    """Stops a client until it is resumed: its tokens too, from the next request on."""
    client = _changeable(session, caller, client_id)
    if client.suspended_at is None:
        client.suspended_at = utcnow()
        _record(session, caller, client, "client.suspended")
    return client


def resume(session: Session, caller: Caller, client_id: UUID | str) -> OAuthClient:
    """Lets a suspended client go on."""
    client = _changeable(session, caller, client_id)
    if client.suspended_at is not None:
        client.suspended_at = None
        _record(session, caller, client, "client.resumed")
    return client


def revoke(session: Session, caller: Caller, client_id: UUID | str) -> OAuthClient:
    """Ends a client for good: its tokens too, from the next request on. Twice is no error."""
    client = _own(session, caller, client_id)
    if client.revoked_at is None:
        client.revoked_at = utcnow()
        _record(session, caller, client, "client.revoked")
    return client


def roll(
    session: Session, caller: Caller, client_id: UUID | str, *, overlap: timedelta = timedelta()
) -> NewClient:
    """Gives a client a new secret; the old one gets tokens for ``overlap`` more.

    Raises `ValidationFailed` (``overlap_out_of_range``: 0 to 7 days) and `Conflict`
    (``client_revoked``).
    """
    client = _changeable(session, caller, client_id)
    if not timedelta() <= overlap <= script_secrets.LONGEST_OVERLAP:
        message = "The old secret can work on for 0 to 7 days."
        raise ValidationFailed.on("overlap", "overlap_out_of_range", message)
    secret = script_secrets.random_text(script_secrets.SECRET_LENGTH)
    client.previous_secret_hash = client.secret_hash if overlap else None
    client.previous_until = utcnow() + overlap if overlap else None
    client.secret_hash = script_secrets.hash_of(secret)
    _record(session, caller, client, "client.rolled", after={"secret": "new"})
    return NewClient(client, secret)


def extend(
    session: Session, caller: Caller, client_id: UUID | str, until: datetime | None
) -> OAuthClient:
    """Serves an Area B client until this moment although the area is retired; None takes the
    extension back. Only the operator's command line may.

    Raises `Forbidden`, `NotFound`, `ValidationFailed` (``wrong_area``).
    """
    _require_operator(caller)
    client = _changeable(session, caller, client_id)
    if client.area is not Area.LEGACY_CALLS:
        message = "Only clients of the retired calling API have an end date to extend."
        raise ValidationFailed.on("clientId", "wrong_area", message)
    before = client.served_until
    client.served_until = until
    _record(
        session,
        caller,
        client,
        "client.extended",
        before={"servedUntil": before},
        after={"servedUntil": until},
    )
    return client


def authenticate(session: Session, client_id: str, secret: str) -> OAuthClient | None:
    """The client that the secret proves, if it may have tokens now.

    None for an unknown client, a wrong secret, and a client that is suspended, revoked or at its
    end, or whose partner is suspended: nobody learns which. Notes the use once a minute.
    """
    found = None
    if _CLIENT_ID.fullmatch(client_id):
        query = select(OAuthClient, Partner.suspended_at).outerjoin(
            Partner, Partner.id == OAuthClient.partner_id
        )
        found = session.execute(query.where(OAuthClient.client_id == client_id)).one_or_none()
    client, partner_suspended_at = found or (None, None)
    now = utcnow()
    proven = script_secrets.fits(secret, client.secret_hash if client else _HASH_OF_NOBODY)
    if not proven and client and client.previous_until and client.previous_until > now:
        proven = script_secrets.fits(secret, client.previous_secret_hash or _HASH_OF_NOBODY)
    if (
        not proven
        or client is None
        or client.suspended_at is not None
        or client.revoked_at is not None
        or partner_suspended_at is not None
        or (client.expires_at is not None and client.expires_at <= now)
    ):
        return None
    if client.last_used_at is None or now - client.last_used_at >= last_used.EVERY:
        client.last_used_at = now
    return client


def _add(session: Session, caller: Caller, client: OAuthClient, name: str) -> NewClient:
    if not name.strip() or len(name) > 200:
        message = "A client has a name of 1 to 200 characters."
        raise ValidationFailed.on("name", "blank" if not name.strip() else "too_long", message)
    if client.expires_at is not None and client.expires_at <= utcnow():
        message = "The end of a client lies in the future."
        raise ValidationFailed.on("expiresAt", "in_the_past", message)
    secret = script_secrets.random_text(script_secrets.SECRET_LENGTH)
    client.name = name.strip()
    client.client_id = f"ppc_{script_secrets.random_text(22)}"
    client.secret_hash = script_secrets.hash_of(secret)
    client.created_by = caller.label[:200]
    session.add(client)
    session.flush()
    shown = {"role": client.role, "area": client.area, "expiresAt": client.expires_at}
    _record(session, caller, client, "client.created", after=shown)
    return NewClient(client, secret)


def _manageable(caller: Caller) -> Select[OAuthClient]:
    """Clients of the caller's partner; those of Area B are the operator's alone to change, and
    the command line without a partner reaches every client."""
    caller.require(Permission.CREDENTIALS_MANAGE)
    query = select(OAuthClient)
    if caller.partner_id is not None:
        query = query.where(OAuthClient.partner_id == caller.partner_id)
    return query


def _own(session: Session, caller: Caller, client_id: UUID | str) -> OAuthClient:
    client = get(session, caller, client_id)
    if client.area is Area.LEGACY_CALLS:
        _require_operator(caller)
    return client


def _changeable(session: Session, caller: Caller, client_id: UUID | str) -> OAuthClient:
    client = _own(session, caller, client_id)
    if client.revoked_at is not None:
        message = "This client has been revoked; make a new one."
        raise Conflict(message, "client_revoked")
    return client


def _require_operator(caller: Caller) -> None:
    if not caller.is_operator or caller.kind is not CallerKind.SYSTEM:
        message = "Clients of the retired calling API are managed by support."
        raise Forbidden(message, "support_only")


def _record(
    session: Session,
    caller: Caller,
    client: OAuthClient,
    action: str,
    *,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
) -> None:
    session.flush()
    audit.record(
        session,
        caller,
        action=action,
        target_type="client",
        target_id=client.id,
        partner_id=client.partner_id,
        organization_id=client.organization_id,
        target=f"{client.name} ({client.client_id})",
        before=before,
        after=after,
    )
