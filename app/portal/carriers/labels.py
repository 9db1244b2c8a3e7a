"""The state of the carriers in words: for operators by carrier, for others as one."""

from app.enums import Observed
from app.portal.web.formats import carrier_title, number, plural
from app.services.pauses.carrier_health import CarrierHealth, State

STATE_WORDS: dict[State, tuple[str, str]] = {
    State.OUTAGE: ("No answer", "danger"),
    State.DELAYS: ("Not accepting calls", "warning"),
    State.REFUSES: ("Refuses calls", "warning"),
    State.SLOW: ("Slow", "warning"),
    State.WELL: ("Works", "success"),
    State.QUIET: ("No recent requests", "neutral"),
}
"""The word and the tone of its badge."""

OBSERVED_WORDS: dict[Observed, str] = {
    Observed.SLOW: "Answered late",
    Observed.REFUSED: "Refused a call",
    Observed.DELAYED: "Asked to wait",
    Observed.UNREACHED: "Could not be reached",
    Observed.SILENT: "Gave no answer",
}

_TITLES = {
    State.OUTAGE: "{} does not answer",
    State.DELAYS: "{} isn’t accepting calls",
    State.REFUSES: "{} refuses calls",
    State.SLOW: "{} is slow",
}
_TEXTS = {
    State.OUTAGE: "Each call is retried until it is accepted or expires.",
    State.DELAYS: "Each call is retried as soon as possible.",
    State.REFUSES: "Refused calls have failed. Other calls continue.",
    State.SLOW: "Calls are placed, but later than usual.",
}
YOUR_LINE = "The carrier"


def problem_title(health: CarrierHealth, *, names_carrier: bool) -> str:
    """Twilio does not answer"""
    name = carrier_title(health.carrier) if names_carrier else YOUR_LINE
    return _TITLES[health.state].format(name)


def problem_text(health: CarrierHealth, waiting: int, most: int) -> str:
    """Return the consequence, with the number of waiting calls if the carrier holds them."""
    if not health.state.holds_calls:
        return _TEXTS[health.state]
    return f"{waiting_words(waiting, most)} {_TEXTS[health.state]}"


def waiting_words(waiting: int, most: int) -> str:
    """14 calls wait."""
    if not waiting:
        return "No calls are waiting."
    if waiting >= most:
        return f"{number(most)} calls or more are waiting."
    return f"{plural(waiting, 'call')} {'is' if waiting == 1 else 'are'} waiting."
