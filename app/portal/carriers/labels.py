"""The status of the carriers in words: for operators by carrier, for others as one."""

from app.enums import Observed
from app.languages import gettext, lazy_gettext, ngettext
from app.portal.web.formats import carrier_title, number
from app.services.calls.stuck import StuckReason
from app.services.pauses.carrier_health import CarrierHealth, CarrierStatus

STATUS_LABELS: dict[CarrierStatus, tuple[str, str]] = {
    CarrierStatus.OUTAGE: (lazy_gettext("No answer"), "danger"),
    CarrierStatus.DELAYS: (lazy_gettext("Not accepting calls"), "warning"),
    CarrierStatus.REFUSES: (lazy_gettext("Refuses calls"), "warning"),
    CarrierStatus.SLOW: (lazy_gettext("Slow"), "warning"),
    CarrierStatus.WELL: (lazy_gettext("Works"), "success"),
    CarrierStatus.QUIET: (lazy_gettext("No recent requests"), "neutral"),
}
"""The word and the tone of its badge."""

OBSERVED_LABELS: dict[Observed, str] = {
    Observed.SLOW: lazy_gettext("Answered late"),
    Observed.REFUSED: lazy_gettext("Refused a call"),
    Observed.DELAYED: lazy_gettext("Asked to wait"),
    Observed.UNREACHED: lazy_gettext("Could not be reached"),
    Observed.SILENT: lazy_gettext("Gave no answer"),
}

_PROBLEM_TEXTS = {
    CarrierStatus.OUTAGE: lazy_gettext("Each call is retried until it is accepted or expires."),
    CarrierStatus.DELAYS: lazy_gettext("Each call is retried as soon as possible."),
    CarrierStatus.REFUSES: lazy_gettext("Refused calls have failed. Other calls continue."),
    CarrierStatus.SLOW: lazy_gettext("Calls are placed, but later than usual."),
}
YOUR_LINE = lazy_gettext("The carrier")


def problem_title(health: CarrierHealth, *, names_carrier: bool) -> str:
    """Return the title of a problem: Twilio does not answer."""
    name = carrier_title(health.carrier) if names_carrier else str(YOUR_LINE)
    match health.status:
        case CarrierStatus.OUTAGE:
            return gettext("%(carrier)s does not answer", carrier=name)
        case CarrierStatus.DELAYS:
            return gettext("%(carrier)s isn’t accepting calls", carrier=name)
        case CarrierStatus.REFUSES:
            return gettext("%(carrier)s refuses calls", carrier=name)
        case CarrierStatus.SLOW:
            return gettext("%(carrier)s is slow", carrier=name)
        case _:
            raise KeyError(health.status)


def problem_message(health: CarrierHealth, waiting: int, max_count: int) -> str:
    """Return the consequence, with the number of waiting calls if the carrier holds them."""
    if not health.status.holds_calls:
        return str(_PROBLEM_TEXTS[health.status])
    return f"{waiting_message(waiting, max_count)} {_PROBLEM_TEXTS[health.status]}"


def not_placed_message(count: int) -> str:
    """Say how many calls failed at the carrier; nothing for none."""
    if not count:
        return ""
    return ngettext(
        "%(num)s call failed at the carrier in the last 15 minutes",
        "%(num)s calls failed at the carrier in the last 15 minutes",
        count,
    )


def calls_label(calls: int) -> str:
    """Return how many calls a route had: 14 calls, or a dash for none."""
    return ngettext("%(num)s call", "%(num)s calls", calls) if calls else "–"


def waiting_message(waiting: int, max_count: int) -> str:
    """Return a sentence: 14 calls wait."""
    if not waiting:
        return gettext("No calls are waiting.")
    if waiting >= max_count:
        return gettext("%(number)s calls or more are waiting.", number=number(max_count))
    return ngettext("%(num)s call is waiting.", "%(num)s calls are waiting.", waiting)


STUCK_LABELS: dict[StuckReason, tuple[str, str, str]] = {
    StuckReason.UNKNOWN: (
        lazy_gettext("Unknown"),
        "warning",
        lazy_gettext("The carrier can’t say what happened. Check there, then set the outcome."),
    ),
    StuckReason.STUCK: (
        lazy_gettext("Stuck"),
        "warning",
        lazy_gettext("No signal for longer than a call takes. Check at the carrier how it ended."),
    ),
    StuckReason.OVERDUE: (
        lazy_gettext("Overdue"),
        "warning",
        lazy_gettext("Its time has passed, and no pause holds it. Queue it again."),
    ),
}
"""Why a call needs an operator: the word, its tone, and what to do."""


def queue_message(waiting: int, scheduled: int, max_count: int) -> str:
    """Return a sentence: 14 calls are waiting. 1 call is scheduled."""
    if not scheduled:
        return waiting_message(waiting, max_count)
    if scheduled >= max_count:
        later = gettext("%(number)s calls or more are scheduled.", number=number(max_count))
    else:
        later = ngettext("%(num)s call is scheduled.", "%(num)s calls are scheduled.", scheduled)
    return f"{waiting_message(waiting, max_count)} {later}" if waiting else later
