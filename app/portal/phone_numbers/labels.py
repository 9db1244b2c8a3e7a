"""The words for a number's source and confirmation."""

from app.enums import NumberSource
from app.models import PhoneNumber

SOURCE_WORDS = {
    NumberSource.ASSIGNED: "Operator",
    NumberSource.CARRIER_LIST: "Carrier account",
    NumberSource.VERIFICATION_CALL: "Verification call",
    NumberSource.SIMULATED: "Simulated carrier",
}


def state_of(number: PhoneNumber) -> tuple[str, str]:
    """A word and a tone."""
    if number.confirmed_at is not None:
        return "Confirmed", "success"
    if number.source is NumberSource.SIMULATED:
        return "Test only", "neutral"
    return "Not listed", "warning"
