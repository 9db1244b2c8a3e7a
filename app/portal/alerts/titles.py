"""The titles of alerts in entries of the history, which keep the English ones."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy.orm import Session

from app.extensions import caller
from app.models import AuditEntry
from app.policy import Permission
from app.services import alerts


def titles_of(session: Session, entries: Sequence[AuditEntry]) -> dict[str, str]:
    """Return the titles in the user's language, by the ids of the alerts: of those that the user
    may see and that still exist."""
    if not caller().may(Permission.REPORT_READ):
        return {}
    ids = {UUID(entry.target_id) for entry in entries if entry.target_type == "alert"}
    found = alerts.titles(session, caller(), ids)
    return {str(alert_id): title for alert_id, title in found.items()}
