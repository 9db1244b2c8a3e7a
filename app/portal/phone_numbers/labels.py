"""The words for a number's source and for whether calls can come from it."""

from collections.abc import Sequence

from app.enums import NumberSource
from app.languages import gettext, lazy_gettext
from app.models import Assistant, PhoneNumber
from app.portal.web.readiness import READINESS_NAMES
from app.services.assistants.queries import Readiness

SOURCE_WORDS = {
    NumberSource.ASSIGNED: lazy_gettext("Operator"),
    NumberSource.CARRIER_LIST: lazy_gettext("Carrier account"),
    NumberSource.VERIFICATION_CALL: lazy_gettext("Verification call"),
    NumberSource.SIMULATED: lazy_gettext("Simulated carrier"),
}


def state_of(
    number: PhoneNumber, refusal: str | None, users: Sequence[Assistant]
) -> tuple[str, str, str | None]:
    """A word, a tone and the reason; the words are those of the assistants that have the number."""
    if number.organization_id is None:
        return gettext("No organization yet"), "neutral", None
    if refusal:
        return str(READINESS_NAMES[Readiness.NOT_READY]), "warning", refusal
    if users and not any(each.active for each in users):
        return gettext("Assistant switched off"), "neutral", None
    return str(READINESS_NAMES[Readiness.READY]), "success", None
