"""Rules and alerts in words, for screens, mails, webhooks and the history."""

from app.enums import AlertMeasure, AlertPeriod, AlertScope
from app.models import AlertRule

PERIOD_WORDS: dict[AlertPeriod, str] = {
    AlertPeriod.TODAY: "today",
    AlertPeriod.DAYS_7: "in 7 days",
    AlertPeriod.DAYS_30: "in 30 days",
    AlertPeriod.MONTH: "this month",
}
UNITS: dict[AlertMeasure, str] = {
    AlertMeasure.CONVERSATIONS: "conversations",
    AlertMeasure.MINUTES: "minutes",
    AlertMeasure.ANSWER_RATE: "%",
    AlertMeasure.FAILED_CALLS: "calls",
    AlertMeasure.SPENDING: "%",
    AlertMeasure.LIMITS: "%",
    AlertMeasure.SILENCE: "days",
}
_RULES: dict[AlertMeasure, str] = {
    AlertMeasure.CONVERSATIONS: "{who} has more than {n} {conversations} {period}",
    AlertMeasure.MINUTES: "{who} has more than {n} {minutes} of conversation {period}",
    AlertMeasure.ANSWER_RATE: "{who} has less than {n} % of calls answered {period}",
    AlertMeasure.FAILED_CALLS: "{who} has more than {n} failed {calls} {period}",
    AlertMeasure.SPENDING: "{who} uses {n} % of a spending limit",
    AlertMeasure.LIMITS: "{who} uses {n} % of its users or assistants",
    AlertMeasure.SILENCE: "{who} has no calls for {n} {days}",
}
_ALERTS: dict[AlertMeasure, str] = {
    AlertMeasure.CONVERSATIONS: "{n} {conversations} {period}",
    AlertMeasure.MINUTES: "{n} {minutes} of conversation {period}",
    AlertMeasure.ANSWER_RATE: "{n} % of calls answered {period}",
    AlertMeasure.FAILED_CALLS: "{n} failed {calls} {period}",
    AlertMeasure.SPENDING: "{n} % of a spending limit used",
    AlertMeasure.LIMITS: "{n} % of its users or assistants used",
    AlertMeasure.SILENCE: "no calls for {n} {days}",
}


def uses_period(measure: AlertMeasure) -> bool:
    """Whether a rule of this measure counts the days of a period."""
    return "{period}" in _RULES[measure]


def sentence(rule: AlertRule, organization: str | None) -> str:
    """What opens an alert: "Acme has less than 20 % of calls answered in 7 days"."""
    who = {
        AlertScope.PARTNER: "The portal",
        AlertScope.EACH_ORGANIZATION: "An organization",
        AlertScope.ORGANIZATION: organization or "An organization",
    }[rule.scope]
    return _filled(_RULES[rule.measure], rule, rule.threshold, who)


def title(rule: AlertRule, value: int, organization: str | None) -> str:
    """What an alert found: "Acme: 14 % of calls answered in 7 days"."""
    return f"{organization or 'The portal'}: {_filled(_ALERTS[rule.measure], rule, value)}"


def _filled(template: str, rule: AlertRule, number: int, who: str = "") -> str:
    units = {word: word if number != 1 else word[:-1] for word in UNITS.values() if word != "%"}
    period = PERIOD_WORDS[rule.period] if rule.period else ""
    words = template.format(n=f"{number:,}", who=who, period=period, **units)
    return words.replace(" %", "\N{NO-BREAK SPACE}%")
