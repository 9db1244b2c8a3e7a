"""The report of a month as a PDF."""

from collections.abc import Sequence
from typing import Any

from flask import Response

from app.extensions import caller, figures
from app.languages import gettext
from app.models import utcnow
from app.portal.billing.words import month_alone, month_name
from app.portal.report.month_views import Shown, asked_report
from app.portal.web.blueprint import portal
from app.portal.web.formats import day, number, percent
from app.portal.web.letterhead import letterhead, pdf_file
from app.services import partners, pdf
from app.services.money_words import micros
from app.services.reporting import MonthlyReport, Mover

Table = tuple[str, Sequence[str], Sequence[Sequence[str]]]
"""Title, heads and rows."""


@portal.get("/report/month.pdf")
def report_month_file() -> Response:
    with figures() as session:
        shown = asked_report(session, utcnow().date())
        paper = letterhead(session)
        partner = partners.get_own(session, caller())
        name = shown.organization.name if shown.organization else partner.name
    report = shown.report
    content = pdf.render(
        "report",
        {
            **paper,
            "title": gettext("Report of %(month)s", month=month_name(shown.month)),
            "subtitle": gettext(
                "%(name)s, %(first)s to %(last)s UTC, compared with %(earlier_first)s to "
                "%(earlier_last)s.",
                name=name,
                first=day(report.span.start),
                last=day(report.span.end),
                earlier_first=day(report.earlier.start),
                earlier_last=day(report.earlier.end),
            ),
            "chart": _chart(report),
            "empty": gettext("No conversations in these months."),
            "tables": [table for table in _tables(shown) if table[2]],
            "note": gettext("Days are UTC. Test calls on the simulated carrier are not counted."),
        },
    )
    return pdf_file(f"report-{shown.month:%Y-%m}", content)


def _chart(report: MonthlyReport) -> dict[str, Any] | None:
    """Return the conversations of the days; None if there are none."""
    before = [one.conversations for one in report.days_before]
    days = [
        (f"{one.day:%-d}", one.conversations, before[place] if place < len(before) else 0)
        for place, one in enumerate(report.days)
    ]
    if not any(now or earlier for _, now, earlier in days):
        return None
    busiest = max(report.days, key=lambda one: one.conversations)
    return {
        "title": gettext("Conversations per day"),
        "now": month_alone(report.span.start),
        "before": gettext("Month before"),
        "most": gettext(
            "Most on %(day)s: %(num)s", day=day(busiest.day), num=number(busiest.conversations)
        ),
        "days": days,
    }


def _tables(shown: Shown) -> list[Table]:
    report = shown.report
    now, before = report.now, report.before
    calls, calls_before = report.calls, report.calls_before
    earlier = gettext("Month before")
    columns = ("", month_alone(report.span.start), earlier)
    figures = [
        (gettext("Conversations"), number(now.conversations), number(before.conversations)),
        (
            gettext("Answered by a person"),
            percent(now.by_human, now.conversations),
            percent(before.by_human, before.conversations),
        ),
        (
            gettext("Minutes in conversation"),
            number(now.seconds // 60),
            number(before.seconds // 60),
        ),
        (
            gettext("Calls answered"),
            percent(calls.answered, calls.ended),
            percent(calls_before.answered, calls_before.ended),
        ),
    ]
    return [
        (gettext("Figures"), columns, figures),
        (gettext("Price and margin"), ("", month_alone(report.span.start)), _earned(shown)),
        (gettext("Growing"), columns, _movers(report.growing)),
        (gettext("Falling"), columns, _movers(report.falling)),
        (
            gettext("Near a limit now"),
            (gettext("Organization"), gettext("Limit")),
            [(near.organization.name, near.words) for near in report.near],
        ),
    ]


def _movers(movers: Sequence[Mover]) -> list[tuple[str, str, str]]:
    return [(each.name, number(each.conversations), number(each.before)) for each in movers]


def _earned(shown: Shown) -> list[tuple[str, str]]:
    one = shown.earned
    if one is None:
        return []
    carrier = ", ".join(
        micros(cost.reported + cost.estimated, cost.currency) for cost in one.carrier
    )
    rows = [
        (gettext("Price to customers"), micros(one.price, one.currency)),
        (gettext("Carrier cost"), carrier or "–"),
        (gettext("Model cost"), micros(one.model, one.model_currency)),
        (gettext("Margin"), "–" if one.margin is None else micros(one.margin, one.currency)),
    ]
    return rows if one.price or one.model or one.carrier else []
