"""Whether assistants can call, as lists of assistants show it."""

from dataclasses import dataclass

from app.languages import lazy_gettext
from app.models import Assistant, Organization
from app.services import assistants
from app.services.assistants.queries import Readiness

READINESS_NAMES = {
    Readiness.READY: lazy_gettext("Ready to call"),
    Readiness.NOT_READY: lazy_gettext("Not ready"),
    Readiness.OFF: lazy_gettext("Switched off"),
}
READINESS_TONES = {
    Readiness.READY: "success",
    Readiness.NOT_READY: "warning",
    Readiness.OFF: "neutral",
}


@dataclass(frozen=True, slots=True)
class Row:
    assistant: Assistant
    organization: Organization
    readiness: Readiness
    blocker: str
    """What keeps it from being ready, if it is switched on."""


def row_of(assistant: Assistant, organization: Organization, refusal: str | None) -> Row:
    word = assistants.readiness_of(assistant, organization, refusal)
    blocker = assistants.blocker_of(assistant, organization, refusal)
    is_on = word is Readiness.NOT_READY
    return Row(assistant, organization, word, blocker if is_on and blocker else "")
