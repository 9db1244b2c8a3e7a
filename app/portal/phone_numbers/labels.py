"""The words for a number's source and confirmation."""

from app.enums import NumberSource
from app.languages import gettext, lazy_gettext
from app.models import PhoneNumber

SOURCE_WORDS = {
    NumberSource.ASSIGNED: lazy_gettext("Operator"),
    NumberSource.CARRIER_LIST: lazy_gettext("Carrier account"),
    NumberSource.VERIFICATION_CALL: lazy_gettext("Verification call"),
    NumberSource.SIMULATED: lazy_gettext("Simulated carrier"),
}


def state_of(number: PhoneNumber) -> tuple[str, str]:
    """A word and a tone."""
    if number.confirmed_at is not None:
        return gettext("Confirmed"), "success"
    if number.source is NumberSource.SIMULATED:
        return gettext("Test only"), "neutral"
    return gettext("Not listed"), "warning"
