"""Delete records whose retention time is over."""

from datetime import timedelta

from sqlalchemy import delete
from sqlalchemy.orm import Session

from app.models import (
    CallSignal,
    EmailChange,
    IdentityRequest,
    IdentitySignOut,
    Mail,
    OfferedAccount,
    OneTimeLink,
    PortalSession,
    RateLevel,
    RevokedToken,
    WebhookDelivery,
    utcnow,
)
from app.services import daily_counts, idempotency, workers
from app.services.auth import second_step, throttle
from app.services.credentials import request_log
from app.services.factors import passkeys
from app.services.legacy import migration as legacy_migration

LINKS_KEPT = timedelta(days=30)
"""Kept after their end, so that an old link is answered with "expired" for some time."""
MAILS_KEPT = timedelta(days=30)
WEBHOOKS_KEPT = timedelta(days=30)
SIGNALS_KEPT = timedelta(hours=6)
"""Longer than any call."""
HEARTBEATS_KEPT = timedelta(days=1)


def purge(session: Session) -> None:
    """Delete every expired record."""
    now = utcnow()
    idempotency.purge(session)
    daily_counts.purge(session)
    request_log.purge(session)
    legacy_migration.purge(session)
    workers.forget_silent(session, HEARTBEATS_KEPT)
    session.execute(delete(RevokedToken).where(RevokedToken.expires_at < now))
    session.execute(delete(PortalSession).where(PortalSession.expires_at < now))
    session.execute(delete(OfferedAccount).where(OfferedAccount.expires_at < now))
    session.execute(delete(IdentityRequest).where(IdentityRequest.expires_at < now))
    session.execute(delete(IdentitySignOut).where(IdentitySignOut.expires_at < now))
    session.execute(delete(EmailChange).where(EmailChange.expires_at < now))
    session.execute(delete(OneTimeLink).where(OneTimeLink.expires_at < now - LINKS_KEPT))
    session.execute(delete(CallSignal).where(CallSignal.sent_at < now - SIGNALS_KEPT))
    session.execute(delete(Mail).where(Mail.created_at < now - MAILS_KEPT))
    session.execute(delete(WebhookDelivery).where(WebhookDelivery.created_at < now - WEBHOOKS_KEPT))
    throttle.purge(session)
    session.execute(delete(RateLevel).where(RateLevel.full_at < now))
    second_step.purge(session)
    passkeys.purge(session)
