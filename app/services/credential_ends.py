"""Send notices about credentials that end soon: by mail, and to the webhooks of a key's
organization."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import WebhookEvent
from app.models import ApiKey, MailKind, OAuthClient, Organization, ScimToken
from app.services import mail_queue
from app.services.credentials.lifetimes import NOTICES
from app.services.webhooks.publishing import publish

_KINDS: dict[type[ApiKey] | type[OAuthClient] | type[ScimToken], str] = {
    ApiKey: "key",
    OAuthClient: "client",
    ScimToken: "scim_token",
}
Credential = ApiKey | OAuthClient | ScimToken


def is_any_due(session: Session, now: datetime) -> bool:
    """Return whether `announce` has something to do."""
    return next(_expiring(session, now), None) is not None


def announce(session: Session, now: datetime) -> None:
    """Send a notice about each credential 14 days and 1 day before its end, once each; about one
    that was given less time only 1 day before. Rotated, revoked and ended ones are left out."""
    for credential in _expiring(session, now, lock=True):
        end = credential.expires_at or now
        notice = min(days for days in NOTICES if end - now <= timedelta(days=days))
        credential.end_notice = notice
        if end - credential.created_at > timedelta(days=notice):
            _send_notice(session, credential, end)
    session.flush()


def _expiring(session: Session, now: datetime, *, lock: bool = False) -> Iterator[Credential]:
    first, last = NOTICES
    for model in _KINDS:
        query = select(model).where(
            model.revoked_at.is_(None),
            model.expires_at > now,
            (model.end_notice.is_(None) & (model.expires_at <= now + timedelta(days=first)))
            | ((model.end_notice > last) & (model.expires_at <= now + timedelta(days=last))),
        )
        if not issubclass(model, OAuthClient):
            query = query.where(model.replaced_by.is_(None))
        query = query.order_by(model.expires_at, model.id)
        rows: Sequence[Any] = session.scalars(query.with_for_update() if lock else query).all()
        yield from rows


def _send_notice(session: Session, credential: Credential, end: datetime) -> None:
    organization_id = getattr(credential, "organization_id", None)
    organization = session.get(Organization, organization_id) if organization_id else None
    if credential.partner_id is not None:
        mail_queue.enqueue_to_administrators(
            session,
            MailKind.CREDENTIAL_ENDS,
            credential.partner_id,
            details={
                "kind": _KINDS[type(credential)],
                "name": credential.name,
                "organization": organization.name if organization else None,
                "endsAt": end.isoformat(),
                "id": str(credential.id),
            },
            also=[credential.responsible_id],
        )
    if isinstance(credential, ApiKey):
        key = credential
        publish(
            session,
            key.partner_id,
            key.organization_id,
            WebhookEvent.KEY_EXPIRING,
            lambda: {
                "organizationId": key.organization_id,
                "keyId": key.id,
                "publicId": key.public_id,
                "name": key.name,
                "expiresAt": end,
            },
        )
