"""Tokens with which a partner's directory provisions users by SCIM:
``pps_<public id>_<secret><checksum>``.

As API keys they have 256 random bits and a checksum, and only a hash is stored. A token may do to
users what a partner admin may, through the SCIM area alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import Select, bindparam, func, select
from sqlalchemy.orm import Session

from app.enums import CallerKind, Role
from app.errors import Conflict, NotFound, Unauthenticated, ValidationFailed
from app.languages import gettext
from app.models import Partner, ScimToken
from app.policy import ROLE_PERMISSIONS, Permission
from app.policy.caller import Caller
from app.services import audit
from app.services.audit.refusals import Refusal
from app.services.credentials import lifetimes, new_credential_mails, rules, secrets
from app.services.tenancy import fetch, lock_owner, of_tenant

PREFIX = "pps_"
"""The beginning of every token, for scanners that look for leaked secrets."""
MAX_TOKENS = 5
"""Maximum valid tokens of one partner."""

_TOKEN = secrets.pattern_of(PREFIX)

_BY_PUBLIC_ID = (
    select(
        ScimToken.id,
        ScimToken.name,
        ScimToken.public_id,
        ScimToken.partner_id,
        ScimToken.secret_hash,
        ScimToken.expires_at,
        ScimToken.revoked_at,
        Partner.suspended_at,
    )
    .join(Partner, Partner.id == ScimToken.partner_id)
    .where(ScimToken.public_id == bindparam("public_id"))
)
"""All conditions of a valid token, in one row."""


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token with its secret, which can't be shown again."""

    token: ScimToken
    secret: str


def create(
    session: Session, caller: Caller, *, name: str, expires_at: lifetimes.End = lifetimes.DEFAULT
) -> NewToken:
    """Create a token for the directory of the caller's partner, and mail its administrators.

    Raises `Forbidden` (``insufficient_scope``) and `ValidationFailed` (``blank``, ``too_long``,
    ``in_the_past``, ``too_many_tokens``).
    """
    caller.require(Permission.CREDENTIALS_MANAGE)
    caller.require_grant(Role.PARTNER_ADMIN)
    if caller.partner_id is None:
        raise NotFound
    name = rules.validate_name(name)
    end = lifetimes.end_of(expires_at)
    lock_owner(session, caller.partner_id)
    count_query = select(func.count()).where(
        ScimToken.partner_id == caller.partner_id, ~ScimToken.is_over
    )
    if (session.scalar(count_query) or 0) >= MAX_TOKENS:
        message = gettext(
            "At most %(most)s tokens can work at the same time. Revoke one first.", most=MAX_TOKENS
        )
        raise ValidationFailed.on("name", "too_many_tokens", message)
    return _add_token(session, caller, caller.partner_id, name, end, action="scim_token.created")


def listing(session: Session, caller: Caller) -> Sequence[ScimToken]:
    """Return all tokens of the caller's partner, newest first. Raises `Forbidden`."""
    newest = _manageable_tokens(caller).order_by(ScimToken.created_at.desc(), ScimToken.id.desc())
    return session.scalars(newest).all()


def get(session: Session, caller: Caller, token_id: UUID, *, for_change: bool = False) -> ScimToken:
    """Return a token. Raises `Forbidden` and `NotFound` (``token_not_found``)."""
    missing = NotFound(gettext("There is no such token."), "token_not_found")
    query = _manageable_tokens(caller).where(ScimToken.id == token_id)
    return fetch(session, query, missing, for_change=for_change)


def rotate(
    session: Session,
    caller: Caller,
    token_id: UUID,
    *,
    overlap: timedelta = timedelta(),
    expires_at: lifetimes.End = lifetimes.DEFAULT,
) -> NewToken:
    """Create a new token with the same name; the old one works for ``overlap`` more, but not beyond
    its own end.

    Raises `Forbidden`, `NotFound`, `ValidationFailed` (``overlap_out_of_range``: 0 to 7 days,
    ``in_the_past``) and `Conflict` (``token_ended`` if the old one is revoked, expired or rotated
    already).
    """
    caller.require_grant(Role.PARTNER_ADMIN)
    old = get(session, caller, token_id, for_change=True)
    rules.check_overlap(overlap, gettext("The old token can keep working for 0 to 7 days."))
    if old.is_over or old.replaced_by is not None:
        message = gettext("This token no longer works or was already rotated. Create a new one.")
        raise Conflict(message, "token_ended")
    end = lifetimes.end_of(expires_at)
    new = _add_token(session, caller, old.partner_id, old.name, end, action="scim_token.rolled")
    rules.replace(old, new.token, overlap)
    session.flush()
    return new


def revoke(session: Session, caller: Caller, token_id: UUID) -> ScimToken:
    """End a token from the next request on. Repeating it isn't an error."""
    token = get(session, caller, token_id, for_change=True)
    rules.revoke(session, caller, token, action="scim_token.revoked")
    return token


def caller_from_token(
    session: Session, secret: str | None, *, ip: str | None = None, request_id: str | None = None
) -> Caller:
    """Return the caller of a token, as stored now. One read, no write.

    Raises `Unauthenticated` (``token_missing``, ``invalid_token``).
    """
    if not secret:
        message = "Send a SCIM token: Authorization: Bearer pps_…"
        raise Unauthenticated(message, "token_missing")
    row = rules.valid_row(session, _BY_PUBLIC_ID, _TOKEN, secret)
    if row is None:
        message = "The SCIM token is not valid or no longer valid."
        raise Unauthenticated(message, "invalid_token")
    return Caller(
        kind=CallerKind.DIRECTORY,
        role=Role.PARTNER_ADMIN,
        subject_id=row.id,
        label=f"{row.name} ({row.public_id})",
        partner_id=row.partner_id,
        permissions=ROLE_PERMISSIONS[Role.PARTNER_ADMIN],
        ip=ip,
        request_id=request_id,
    )


def refusal_of_ended_token(session: Session, secret: str | None, ip: str | None) -> Refusal | None:
    """Return the history entry for a used token that is revoked or expired; None for other
    secrets."""
    return rules.refusal_of_ended(session, ScimToken, _TOKEN, secret, ip)


def _add_token(
    session: Session,
    caller: Caller,
    partner_id: UUID,
    name: str,
    expires_at: datetime | None,
    *,
    action: str,
) -> NewToken:
    token = ScimToken(partner_id=partner_id, name=name, expires_at=expires_at)
    secret = rules.add(session, caller, token, PREFIX)
    after = {"name": name, "expiresAt": expires_at}
    audit.record_change(session, caller, action, token, after=after)
    new_credential_mails.send(session, caller, token, action)
    return NewToken(token, secret)


def _manageable_tokens(caller: Caller) -> Select[ScimToken]:
    caller.require(Permission.CREDENTIALS_MANAGE)
    return of_tenant(select(ScimToken), caller, ScimToken.partner_id)
