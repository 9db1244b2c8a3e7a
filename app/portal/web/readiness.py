"""Whether assistants can call, and whether the service that places calls is online."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.extensions import settings
from app.languages import lazy_gettext
from app.models import Assistant, Organization
from app.services import assistants, workers
from app.services.assistants.queries import Readiness

READINESS_LABELS = {
    Readiness.READY: lazy_gettext("Ready to call"),
    Readiness.NOT_READY: lazy_gettext("Not ready"),
    Readiness.OFF: lazy_gettext("Switched off"),
    Readiness.ARCHIVED: lazy_gettext("Organization archived"),
}


@dataclass(frozen=True, slots=True)
class ReadinessRow:
    assistant: Assistant
    organization: Organization
    readiness: Readiness
    blocker: str
    """Why it isn't ready, if it is switched on."""
    partner: str | None = None
    """The name of its partner, for operators."""


def row_of(
    assistant: Assistant,
    organization: Organization,
    refusal: str | None,
    suspended_partner: str | None,
    partner: str | None = None,
) -> ReadinessRow:
    readiness = assistants.readiness_of(assistant, organization, refusal, suspended_partner)
    blocker = assistants.blocker_of(assistant, organization, refusal, suspended_partner)
    is_on = readiness is Readiness.NOT_READY
    reason = blocker if is_on and blocker else ""
    return ReadinessRow(assistant, organization, readiness, reason, partner)


def is_offline(session: Session) -> bool:
    """Return whether no worker, which places calls and does all queued work, is running."""
    return not workers.any_alive(session, settings().worker_silent_seconds)
