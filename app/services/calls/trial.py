"""How many calls a day trial mode allows: for each organization, and for all of a partner."""

from collections.abc import Iterator

from sqlalchemy.orm import Session

from app.config.trial import TrialLimits
from app.errors import Sentence
from app.models import Assistant
from app.services import daily_counts
from app.services.calls.rules import CallBlocker, trial_blocker

_OF_ORGANIZATION = Sentence.ngettext(
    "In trial mode an organization can place %(num)s call a day (UTC).",
    "In trial mode an organization can place %(num)s calls a day (UTC).",
)
_OF_PARTNER = Sentence.ngettext(
    "In trial mode the organizations of a portal can place %(num)s call a day (UTC).",
    "In trial mode the organizations of a portal can place %(num)s calls a day (UTC).",
)


def day_used_up(session: Session, assistant: Assistant, limits: TrialLimits) -> CallBlocker | None:
    """Return what stops another call today (UTC)."""
    for subject, limit, blocker in _limits(assistant, limits):
        if not daily_counts.has_room(session, subject, limit):
            return blocker
    return None


def count_call(session: Session, assistant: Assistant, limits: TrialLimits) -> None:
    """Count an accepted call. Raises `Forbidden` (``trial_mode``) if concurrent calls have used the
    limit."""
    for subject, limit, blocker in _limits(assistant, limits):
        if not daily_counts.count_one(session, subject, limit):
            raise blocker.error()


def _limits(assistant: Assistant, limits: TrialLimits) -> Iterator[tuple[str, int, CallBlocker]]:
    limit = limits.calls_per_organization
    message = _OF_ORGANIZATION(num=limit)
    yield f"trial:{assistant.organization_id}", limit, trial_blocker(message)
    limit = limits.calls_per_partner
    message = _OF_PARTNER(num=limit)
    yield f"trial:{assistant.partner_id}", limit, trial_blocker(message)
