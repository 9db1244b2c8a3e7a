"""Rules and alerts in words, for screens, mails, webhooks and the history."""

from app.enums import AlertMeasure, AlertPeriod, AlertScope
from app.languages import gettext, lazy_gettext, ngettext
from app.languages.numbers import localize_number
from app.models import AlertRule

PERIOD_LABELS: dict[AlertPeriod, str] = {
    AlertPeriod.TODAY: lazy_gettext("today"),
    AlertPeriod.DAYS_7: lazy_gettext("in 7 days"),
    AlertPeriod.DAYS_30: lazy_gettext("in 30 days"),
    AlertPeriod.MONTH: lazy_gettext("this month"),
}
UNITS: dict[AlertMeasure, str] = {
    AlertMeasure.CONVERSATIONS: lazy_gettext("conversations"),
    AlertMeasure.MINUTES: lazy_gettext("minutes"),
    AlertMeasure.ANSWER_RATE: "%",
    AlertMeasure.FAILED_CALLS: lazy_gettext("calls"),
    AlertMeasure.SPENDING: "%",
    AlertMeasure.BUDGET: "%",
    AlertMeasure.LIMITS: "%",
    AlertMeasure.SILENCE: lazy_gettext("days"),
}
_WITH_PERIOD = frozenset(
    {
        AlertMeasure.CONVERSATIONS,
        AlertMeasure.MINUTES,
        AlertMeasure.ANSWER_RATE,
        AlertMeasure.FAILED_CALLS,
    }
)


def uses_period(measure: AlertMeasure) -> bool:
    """Return whether a rule of this measure counts the days of a period."""
    return measure in _WITH_PERIOD


def sentence(rule: AlertRule, organization: str | None) -> str:
    """Return what opens an alert: "Acme has less than 20 % of calls answered in 7 days"."""
    subject = _subject_label(rule, organization)
    count = rule.threshold
    values = {"who": subject, "num": localize_number(count), "period": _period_label(rule)}
    match rule.measure:
        # Translators: %(who)s is an organization or "The portal", %(period)s such as "in 7 days".
        case AlertMeasure.CONVERSATIONS:
            text = ngettext(
                "%(who)s has more than %(num)s conversation %(period)s",
                "%(who)s has more than %(num)s conversations %(period)s",
                count,
                **values,
            )
        case AlertMeasure.MINUTES:
            text = ngettext(
                "%(who)s has more than %(num)s minute of conversation %(period)s",
                "%(who)s has more than %(num)s minutes of conversation %(period)s",
                count,
                **values,
            )
        case AlertMeasure.ANSWER_RATE:
            text = gettext(
                "%(who)s has less than %(num)s %% of calls answered %(period)s", **values
            )
        case AlertMeasure.FAILED_CALLS:
            text = _failed_calls(count, values)
        case AlertMeasure.SPENDING:
            text = gettext("%(who)s uses %(num)s %% of a spending limit", **values)
        case AlertMeasure.BUDGET:
            text = gettext("%(who)s has spent %(num)s %% of the budget of a month", **values)
        case AlertMeasure.LIMITS:
            text = gettext("%(who)s uses %(num)s %% of its users or assistants", **values)
        case AlertMeasure.SILENCE:
            text = ngettext(
                "%(who)s has no calls for %(num)s day",
                "%(who)s has no calls for %(num)s days",
                count,
                **values,
            )
    return _on_one_line(text)


def _subject_label(rule: AlertRule, organization: str | None) -> str:
    if rule.scope is AlertScope.PARTNER:
        return gettext("The portal")
    if rule.scope is AlertScope.EACH_ORGANIZATION or organization is None:
        return gettext("An organization")
    return organization


def _failed_calls(count: int, values: dict[str, str]) -> str:
    if count == 0:
        return gettext("%(who)s has a failed call %(period)s", **values)
    return ngettext(
        "%(who)s has more than %(num)s failed call %(period)s",
        "%(who)s has more than %(num)s failed calls %(period)s",
        count,
        **values,
    )


def title(rule: AlertRule, value: int, organization: str | None) -> str:
    """Return an alert's finding: "Acme: 14 % of calls answered in 7 days"."""
    subject = organization or gettext("The portal")
    values = {"who": subject, "num": localize_number(value), "period": _period_label(rule)}
    match rule.measure:
        case AlertMeasure.CONVERSATIONS:
            text = ngettext(
                "%(who)s: %(num)s conversation %(period)s",
                "%(who)s: %(num)s conversations %(period)s",
                value,
                **values,
            )
        case AlertMeasure.MINUTES:
            text = ngettext(
                "%(who)s: %(num)s minute of conversation %(period)s",
                "%(who)s: %(num)s minutes of conversation %(period)s",
                value,
                **values,
            )
        case AlertMeasure.ANSWER_RATE:
            text = gettext("%(who)s: %(num)s %% of calls answered %(period)s", **values)
        case AlertMeasure.FAILED_CALLS:
            text = ngettext(
                "%(who)s: %(num)s failed call %(period)s",
                "%(who)s: %(num)s failed calls %(period)s",
                value,
                **values,
            )
        case AlertMeasure.SPENDING:
            text = gettext("%(who)s: %(num)s %% of a spending limit used", **values)
        case AlertMeasure.BUDGET:
            text = gettext("%(who)s: %(num)s %% of the budget of the month spent", **values)
        case AlertMeasure.LIMITS:
            text = gettext("%(who)s: %(num)s %% of its users or assistants used", **values)
        case AlertMeasure.SILENCE:
            text = ngettext(
                "%(who)s: no calls for %(num)s day",
                "%(who)s: no calls for %(num)s days",
                value,
                **values,
            )
    return _on_one_line(text)


def amount(rule: AlertRule, value: int) -> str:
    """Return a measured value in words: "308" or "14 %"."""
    return (
        _on_one_line(f"{localize_number(value)} %")
        if UNITS[rule.measure] == "%"
        else localize_number(value)
    )


def _period_label(rule: AlertRule) -> str:
    return str(PERIOD_LABELS[rule.period]) if rule.period else ""


def _on_one_line(text: str) -> str:
    return text.replace(" %", "\N{NO-BREAK SPACE}%")
