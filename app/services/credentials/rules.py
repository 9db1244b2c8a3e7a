"""The rules that API keys, SCIM tokens, clients and webhooks have in common."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, TypeVarTuple

from sqlalchemy import Row, Select, select
from sqlalchemy.orm import Session

from app.errors import Problem, ValidationFailed, raise_problems
from app.languages import gettext
from app.models import ApiKey, ScimToken, utcnow
from app.policy.caller import Caller
from app.services import audit
from app.services.audit import refusals
from app.services.audit.refusals import Refusal
from app.services.credentials import lifetimes, secrets
from app.validation.networks import network_of

MAX_NAME = 200

Columns = TypeVarTuple("Columns")


def validate_name(name: str) -> str:
    """Return the name without spaces around it. Raises `ValidationFailed` (``blank``,
    ``too_long``)."""
    raise_problems(problems_of_name(name))
    return name.strip()


def problems_of_name(name: str) -> Iterator[Problem]:
    name = name.strip()
    if not name or len(name) > MAX_NAME:
        message = gettext("Enter a name of 1 to 200 characters.")
        yield Problem("name", "too_long" if name else "blank", message)


def check_overlap(overlap: timedelta, message: str) -> None:
    """Raise `ValidationFailed` (``overlap_out_of_range``) if the time isn't allowed."""
    if not timedelta() <= overlap <= secrets.MAX_OVERLAP:
        raise ValidationFailed.on("overlap", "overlap_out_of_range", message)


def add(session: Session, caller: Caller, credential: ApiKey | ScimToken, prefix: str) -> str:
    """Store a new credential whose public id begins with the prefix; return its secret, which can't
    be shown again."""
    credential.public_id = prefix + secrets.random_text(secrets.PUBLIC_ID_LENGTH)
    secret = secrets.new_secret(f"{credential.public_id}_")
    credential.secret_hash = secrets.hash_of(secret)
    credential.created_by = caller.label[:200]
    credential.responsible_id = caller.user_id
    session.add(credential)
    session.flush()
    return secret


def revoke(
    session: Session, caller: Caller, credential: ApiKey | ScimToken, *, action: str
) -> None:
    """End a credential from the next request on. Repeating it isn't an error."""
    if credential.revoked_at is None:
        credential.revoked_at = utcnow()
        session.flush()
        audit.record_change(session, caller, action, credential)


def valid_row(
    session: Session, query: Select[*Columns], pattern: re.Pattern[str], secret: str | None
) -> Row[*Columns] | None:
    """Return the row of a valid credential with this secret. The query has the parameter
    ``public_id``."""
    public_id = secrets.public_id_of(secret, pattern)
    if secret is None or public_id is None:
        return None
    row = session.execute(query, {"public_id": public_id}).one_or_none()
    return row if row is not None and _is_valid(row, secret) else None


def _is_valid(credential: Row[*tuple[Any, ...]], secret: str) -> bool:
    """Return whether a credential has this secret, isn't revoked or expired, and its partner isn't
    suspended."""
    return (
        secrets.matches_secret(secret, credential.secret_hash)
        and credential.revoked_at is None
        and credential.suspended_at is None
        and not lifetimes.has_passed(credential.expires_at)
    )


def replace(old: ApiKey | ScimToken, new: ApiKey | ScimToken, overlap: timedelta) -> None:
    """Let the old credential work for ``overlap`` longer, but not beyond its own end."""
    end = utcnow() + overlap
    old.expires_at = min(old.expires_at or end, end)
    old.replaced_by = new.id


def refusal_of_ended(
    session: Session,
    model: type[ApiKey] | type[ScimToken],
    pattern: re.Pattern[str],
    secret: str | None,
    ip: str | None,
) -> Refusal | None:
    """Return the history entry for a used key or token that is revoked or expired; None for other
    secrets."""
    public_id = secrets.public_id_of(secret, pattern)
    if secret is None or public_id is None:
        return None
    query: Select[Any] = select(model).where(model.public_id == public_id)
    credential: ApiKey | ScimToken | None = session.scalar(query)
    if credential is None or not secrets.matches_secret(secret, credential.secret_hash):
        return None
    if not credential.is_over:
        return None
    return Refusal(
        action=refusals.KEY,
        reason="revoked" if credential.revoked_at else "expired",
        target_type="api_key" if isinstance(credential, ApiKey) else "scim_token",
        target_id=credential.id,
        target=f"{credential.name} ({credential.public_id})",
        partner_id=credential.partner_id,
        organization_id=credential.organization_id if isinstance(credential, ApiKey) else None,
        network=network_of(ip),
    )
