"""The text of the monthly report, with the conversations of its weeks as bars."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from app.calendar_months import last_day_of, previous_month
from app.languages import gettext
from app.languages.dates import NO_BREAK, format_date_range, format_local_date, standalone_month
from app.languages.numbers import localize_number
from app.services.mails.facts import MailChart, MailContext, MailTable, MailTexts

WEEK = 7


def monthly_report(context: MailContext) -> MailTexts:
    details = context.details
    start = date.fromisoformat(details["start"])
    month = format_local_date(start, "yMMMM").replace(NO_BREAK, " ")
    columns, near = _months(start), details["near"]
    sections = (
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
        chart=_weekly_chart(start, details.get("paper")),
        tables=tuple(
            MailTable((title, *head), tuple(tuple(row) for row in rows), has_words=rows is near)
            for title, rows, head in sections
            if rows
        ),
        act=_report_link(start, details["organizationId"], context.site),
        reason=gettext(
            "Sent to %(email)s because %(partner)s sends this report there each month.",
            email=context.email,
            partner=context.brand.partner_name,
        ),
    )


def _months(start: date) -> tuple[str, str]:
    """Return the heads of the columns: the month and the previous one."""
    return (
        standalone_month(start).capitalize(),
        standalone_month(previous_month(start)).capitalize(),
    )


def _report_link(start: date, organization: str | None, site: str) -> tuple[str, str]:
    """Return the words and the URL for the recipients: staff open reports, members of an
    organization its usage."""
    if organization is None:
        return gettext("View report"), f"{site}/report/month?month={start:%Y-%m}"
    end = last_day_of(start)
    return (
        gettext("View usage"),
        f"{site}/usage?start={start}&end={end}&organization={organization}",
    )


def _weekly_chart(start: date, pdf_content: Mapping[str, Any] | None) -> MailChart | None:
    """Return the conversations of each 7 days, with the previous month's; None without any."""
    chart = pdf_content["chart"] if pdf_content else None
    if chart is None:
        return None
    days = chart["days"]
    weeks = [days[first : first + WEEK] for first in range(0, len(days), WEEK)]
    sums = [
        (sum(current for _, current, _ in week), sum(old for *_, old in week)) for week in weeks
    ]
    maximum = max(current for current, _ in sums) or 1
    bars = []
    for position, (current, previous) in enumerate(sums):
        first = start.replace(day=position * WEEK + 1)
        last = first.replace(day=first.day + len(weeks[position]) - 1)
        label = format_date_range(first, last, "MMMd").replace(NO_BREAK, " ")
        share = max(1, round(100 * current / maximum)) if current else 0
        bars.append((label, share, (localize_number(current), localize_number(previous))))
    return MailChart((gettext("Conversations by week"), *_months(start)), tuple(bars))
