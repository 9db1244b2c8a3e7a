"""The rules that API keys, SCIM tokens, clients and webhooks have in common."""

from collections.abc import Iterator
from datetime import timedelta

from app.errors import Problem, ValidationFailed, refuse_any
from app.languages import gettext
from app.models import ApiKey, ScimToken
from app.services.audit import refusals
from app.services.audit.refusals import Refusal
from app.services.credentials import secrets
from app.validation.networks import network_of

MAX_NAME = 200


def checked_name(name: str) -> str:
    """Return the name without spaces around it. Raises `ValidationFailed` (``blank``,
    ``too_long``)."""
    refuse_any(problems_of_name(name))
    return name.strip()


def problems_of_name(name: str) -> Iterator[Problem]:
    name = name.strip()
    if not name or len(name) > MAX_NAME:
        message = gettext("Enter a name of 1 to 200 characters.")
        yield Problem("name", "too_long" if name else "blank", message)


def check_overlap(overlap: timedelta, message: str) -> None:
    """Raises `ValidationFailed` (``overlap_out_of_range``)."""
    if not timedelta() <= overlap <= secrets.LONGEST_OVERLAP:
        raise ValidationFailed.on("overlap", "overlap_out_of_range", message)


def refusal_of_ended(
    credential: ApiKey | ScimToken | None, target_type: str, secret: str, ip: str | None
) -> Refusal | None:
    """Return the history entry for a used key or token that is revoked or expired; None for other
    secrets."""
    if credential is None or not secrets.matches_secret(secret, credential.secret_hash):
        return None
    if not credential.is_over:
        return None
    return Refusal(
        action=refusals.KEY,
        reason="revoked" if credential.revoked_at else "expired",
        target_type=target_type,
        target_id=credential.id,
        target=f"{credential.name} ({credential.public_id})",
        partner_id=credential.partner_id,
        organization_id=credential.organization_id if isinstance(credential, ApiKey) else None,
        network=network_of(ip),
    )
