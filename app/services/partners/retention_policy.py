"""How long a partner keeps data with a retention period: the installation's days, or fewer."""

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import RetentionKind
from app.errors import raise_problems
from app.models import Partner
from app.policy import Permission
from app.policy.caller import Caller
from app.services.partners.loading import lock_partner
from app.services.partners.sign_in_policy import out_of_range
from app.services.partners.updating import record_update

Days = Mapping[RetentionKind, int | None]
"""Days; None means the installation's."""


def of_installation(settings: Settings) -> dict[RetentionKind, int]:
    return {
        RetentionKind.RECORDINGS: settings.recording_days,
        RetentionKind.TRANSCRIPTS: settings.transcript_days,
        RetentionKind.UPLOADS: settings.rows_kept_days,
        RetentionKind.MAILS: settings.mail_days,
        RetentionKind.WEBHOOKS: settings.webhook_days,
    }


def of_partner(partner: Partner) -> dict[RetentionKind, int | None]:
    return {kind: (partner.retention_days or {}).get(kind.value) for kind in RetentionKind}


def days_kept(partner: Partner, kind: RetentionKind, settings: Settings) -> int:
    """Return how many days a partner keeps a kind of data."""
    return of_partner(partner)[kind] or of_installation(settings)[kind]


def save(
    session: Session,
    caller: Caller,
    partner_id: UUID,
    days: Days,
    settings: Settings,
    *,
    expected_version: int | None = None,
) -> Partner:
    """Choose fewer days, from the worker's next run on; older data is deleted then.

    Raises `Forbidden`, `NotFound`, `ValidationFailed` (``out_of_range``) and `Conflict`
    (``changed_meanwhile``).
    """
    caller.require(Permission.PARTNER_WRITE)
    partner = lock_partner(session, caller, partner_id, expected_version)
    problems = []
    for kind, maximum in of_installation(settings).items():
        minimum = settings.undo_days if kind is RetentionKind.UPLOADS else 1
        problems += out_of_range(kind.value, days.get(kind), minimum, maximum)
    raise_problems(problems)
    before = partner.retention_days or {}
    after = {kind.value: value for kind, value in days.items() if value is not None}
    if before == after:
        return partner
    partner.retention_days = after or None
    record_update(session, caller, partner, {"retentionDays": before}, {"retentionDays": after})
    return partner
