"""The text of the monthly report, with the conversations of its weeks as bars."""

from calendar import monthrange
from collections.abc import Mapping
from datetime import date
from typing import Any

from app.languages import gettext
from app.languages.dates import NO_BREAK, month_alone, written_date, written_days
from app.languages.numbers import written_number
from app.services.mails.facts import MailChart, MailFacts, MailTable, MailTexts

WEEK = 7


def monthly_report(facts: MailFacts) -> MailTexts:
    details = facts.details
    start = date.fromisoformat(details["start"])
    month = written_date(start, "yMMMM").replace(NO_BREAK, " ")
    columns, near = (month, gettext("Previous month")), details["near"]
    parts = (
        (gettext("Figures"), details["figures"], columns),
        (gettext("Growing"), details["growing"], columns),
        (gettext("Falling"), details["falling"], columns),
        (gettext("Near a limit"), near, (gettext("In use now"),)),
    )
    return MailTexts(
        subject=gettext("Report of %(month)s for %(name)s", month=month, name=details["name"]),
        heading=gettext("Report of %(month)s", month=month),
        paragraphs=(
            gettext("Conversations and calls of %(name)s. Days are UTC.", name=details["name"]),
        ),
        chart=_weeks(start, details.get("paper")),
        tables=tuple(
            MailTable((title, *head), tuple(tuple(row) for row in rows), has_words=rows is near)
            for title, rows, head in parts
            if rows
        ),
        act=_report_link(start, details["organizationId"], facts.site),
        reason=gettext(
            "Sent to %(email)s because %(partner)s sends this report there each month.",
            email=facts.email,
            partner=facts.brand.partner_name,
        ),
    )


def _report_link(start: date, organization: str | None, site: str) -> tuple[str, str]:
    """Return the words and the URL for the recipients: staff open reports, members of an
    organization its usage."""
    if organization is None:
        return gettext("View report"), f"{site}/report/month?month={start:%Y-%m}"
    end = start.replace(day=monthrange(start.year, start.month)[1])
    return (
        gettext("View usage"),
        f"{site}/usage?start={start}&end={end}&organization={organization}",
    )


def _weeks(start: date, paper: Mapping[str, Any] | None) -> MailChart | None:
    """Return the conversations of each 7 days, with the previous month's; None without any."""
    shown = paper["chart"] if paper else None
    if shown is None:
        return None
    days = shown["days"]
    weeks = [days[first : first + WEEK] for first in range(0, len(days), WEEK)]
    sums = [(sum(now for _, now, _ in week), sum(old for *_, old in week)) for week in weeks]
    most = max(now for now, _ in sums) or 1
    bars = []
    for position, (now, before) in enumerate(sums):
        first = start.replace(day=position * WEEK + 1)
        last = first.replace(day=first.day + len(weeks[position]) - 1)
        label = written_days(first, last, "MMMd").replace(NO_BREAK, " ")
        share = max(1, round(100 * now / most)) if now else 0
        bars.append((label, share, (written_number(now), written_number(before))))
    head = (gettext("Conversations by week"), month_alone(start), gettext("Previous month"))
    return MailChart(head, tuple(bars))
