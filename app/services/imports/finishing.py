"""Telling who started an upload that it has ended, where that took a while."""

from datetime import timedelta
from typing import Any

from sqlalchemy.orm import Session

from app.models import Campaign, ContactImport, MailKind, User
from app.services import mail_queue, notifications

WORTH_A_MAIL = timedelta(minutes=1)
"""Whoever waits for less is still there to see it end."""


def upload_facts(upload: ContactImport) -> dict[str, Any]:
    """What other systems are told of an upload: which it is and what it did, no contact's data."""
    return {
        "importId": upload.id,
        "organizationId": upload.organization_id,
        "campaignId": upload.campaign_id,
        "fileName": upload.file_name,
        "action": upload.action.value,
        "rows": upload.rows_total,
        "rowsApplied": upload.rows_applied,
        "created": upload.created,
        "updated": upload.updated,
        "deleted": upload.deleted,
        "ignored": upload.ignored,
        "failed": upload.failed,
    }


def tell(session: Session, upload: ContactImport) -> None:
    """Asks for the mail, unless applying was quick or the person wants none."""
    user = session.get(User, upload.created_by) if upload.created_by else None
    if user is None or upload.apply_started_at is None or upload.finished_at is None:
        return
    if upload.finished_at - upload.apply_started_at < WORTH_A_MAIL:
        return
    if not notifications.wants(user, notifications.IMPORT_FINISHED):
        return
    counts = {
        name: getattr(upload, name)
        for name in ("created", "updated", "deleted", "ignored", "failed")
    }
    mail_queue.hand_in(
        session,
        MailKind.IMPORT_FINISHED,
        partner_id=user.partner_id,
        user_id=user.id,
        details={
            **counts,
            "uploadId": str(upload.id),
            "file": upload.file_name,
            "campaign": session.get_one(Campaign, upload.campaign_id).name,
            "state": upload.state.value,
            "rows": upload.rows_applied,
            "total": upload.rows_total,
        },
    )
