"""Delete expired records, and record when that was done."""

from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import delete, func, select, true
from sqlalchemy.orm import Session

from app.database import partitions
from app.enums import FINAL_CALL_STATUSES, CallStatus, RetentionKind
from app.models import (
    Call,
    CallEvent,
    CallSignal,
    EmailChange,
    IdentityRequest,
    IdentitySignOut,
    Mail,
    OfferedAccount,
    OneTimeLink,
    Partner,
    PortalSession,
    RateLevel,
    RetentionRun,
    RevokedToken,
    Webhook,
    WebhookDelivery,
    utcnow,
)
from app.models.base import id_at
from app.services import daily_counts, idempotency, workers
from app.services.auth import second_step, throttle
from app.services.credentials import request_log
from app.services.factors import passkeys
from app.services.legacy import migration as legacy_migration

LINKS_KEPT = timedelta(days=30)
"""Time after their end for which links are kept, so that an old one is answered with "expired"."""
SIGNALS_KEPT = timedelta(hours=6)
"""How long signals are kept, longer than any call."""
HEARTBEATS_KEPT = timedelta(days=1)
BATCH_SIZE = 500
EVENTS_A_RUN = 20_000
_UNDER_WAY = [status for status in CallStatus if status not in FINAL_CALL_STATUSES]


def purge(session: Session) -> None:
    """Delete every expired record of the tables without monthly partitions."""
    now = utcnow()
    idempotency.purge(session)
    daily_counts.purge(session)
    request_log.purge(session)
    legacy_migration.purge(session)
    workers.delete_silent(session, HEARTBEATS_KEPT)
    session.execute(delete(RevokedToken).where(RevokedToken.expires_at < now))
    session.execute(delete(PortalSession).where(PortalSession.expires_at < now))
    session.execute(delete(OfferedAccount).where(OfferedAccount.expires_at < now))
    session.execute(delete(IdentityRequest).where(IdentityRequest.expires_at < now))
    session.execute(delete(IdentitySignOut).where(IdentitySignOut.expires_at < now))
    session.execute(delete(EmailChange).where(EmailChange.expires_at < now))
    session.execute(delete(OneTimeLink).where(OneTimeLink.expires_at < now - LINKS_KEPT))
    session.execute(delete(CallSignal).where(CallSignal.sent_at < now - SIGNALS_KEPT))
    throttle.purge(session)
    session.execute(delete(RateLevel).where(RateLevel.full_at < now))
    second_step.purge(session)
    passkeys.purge(session)


def rotate_partitions(session: Session, table: str, days: int) -> list[str]:
    """Create the coming months of a partitioned table, and drop those of which all rows are older;
    return the names of the dropped ones. 0 days keep all.

    On SQLite some expired rows of timelines are deleted instead; mails and deliveries are deleted
    by `purge_mails` and `purge_deliveries` on both databases. Sums and statements have counted the
    rows: they stay.
    """
    now = utcnow()
    before = _oldest_kept(session, table, days, now)
    connection = session.connection()
    if partitions.of_table(connection, table):
        partitions.wait_briefly(connection)
        partitions.make_ahead(connection, table, now)
        return partitions.drop_before(connection, table, before) if before else []
    if before and table == CallEvent.__tablename__:
        old = select(CallEvent.id).where(CallEvent.call_id < id_at(before)).limit(EVENTS_A_RUN)
        session.execute(delete(CallEvent).where(CallEvent.id.in_(old)))
    return []


def _oldest_kept(session: Session, table: str, days: int, now: datetime) -> datetime | None:
    """Return the moment before which rows are not kept; None if all are."""
    if not days:
        return None
    expired = now - timedelta(days=days)
    if table != CallEvent.__tablename__:
        return expired
    # The timeline of an active call makes repeated reports about it harmless.
    oldest = session.scalar(select(func.min(Call.created_at)).where(Call.status.in_(_UNDER_WAY)))
    return min(oldest, expired) if oldest else expired


def purge_mails(session: Session, days: int, partner_id: UUID | None = None) -> int:
    """Delete mails that are older, of all partners or of one, a limited number at once; return how
    many."""
    query = select(Mail.id).where(
        Mail.created_at < utcnow() - timedelta(days=days),
        Mail.partner_id == partner_id if partner_id else true(),
    )
    old = session.scalars(query.order_by(Mail.created_at).limit(BATCH_SIZE)).all()
    session.execute(delete(Mail).where(Mail.id.in_(old)))
    return len(old)


def purge_deliveries(session: Session, days: int, partner_id: UUID | None = None) -> int:
    """Delete deliveries of webhooks that are older, as `purge_mails`."""
    query = select(WebhookDelivery.id).where(
        WebhookDelivery.created_at < utcnow() - timedelta(days=days)
    )
    if partner_id is not None:
        webhooks = select(Webhook.id).where(Webhook.partner_id == partner_id)
        query = query.where(WebhookDelivery.webhook_id.in_(webhooks))
    old = session.scalars(query.order_by(WebhookDelivery.created_at).limit(BATCH_SIZE)).all()
    session.execute(delete(WebhookDelivery).where(WebhookDelivery.id.in_(old)))
    return len(old)


def shorter_periods(session: Session, kind: RetentionKind, days: int) -> dict[UUID, int]:
    """Return the partners that keep this kind for a shorter time than ``days``, with their days."""
    query = select(Partner.id, Partner.retention_days).where(Partner.retention_days.is_not(None))
    days_by_partner = {
        row.id: (row.retention_days or {}).get(kind.value, days) for row in session.execute(query)
    }
    return {
        partner_id: partner_days
        for partner_id, partner_days in days_by_partner.items()
        if partner_days < days
    }


def record_run(session: Session, kind: RetentionKind, removed: int) -> None:
    """Record that this kind was deleted now, up to its retention period."""
    session.merge(RetentionRun(kind=kind.value, ran_at=utcnow(), removed=removed))


def runs(session: Session) -> dict[str, RetentionRun]:
    """Return the last run of each kind."""
    return {run.kind: run for run in session.scalars(select(RetentionRun))}
