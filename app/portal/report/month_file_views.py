"""The report of a month as a PDF."""

from collections.abc import Sequence
from typing import Any

from flask import Response

from app.extensions import caller, figures
from app.languages import gettext, ngettext
from app.models import utcnow
from app.portal.billing.words import model_rate, month_alone, month_name
from app.portal.report.month_views import Shown, asked_report
from app.portal.web.blueprint import portal
from app.portal.web.formats import day, number, percent
from app.portal.web.letterhead import letterhead, pdf_file
from app.portal.web.lists import file_words
from app.services import partners, pdf
from app.services.billing.margin import Earned
from app.services.billing.usage import ModelRate
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
    content = pdf.render("report", {**paper, **_pdf_parts(shown, name)})
    whose = f"-{file_words(name, 'organization')}" if shown.organization else ""
    return pdf_file(f"report{whose}-{shown.month:%Y-%m}", content)


def _pdf_parts(shown: Shown, name: str) -> dict[str, Any]:
    """Return what the PDF shows below the letterhead."""
    return {
        "title": gettext("Report of %(month)s", month=month_name(shown.month)),
        "subtitle": f"{name}, {_span_words(shown.report)}",
        "chart": _chart(shown.report),
        "empty": gettext("No conversations in these months."),
        "tables": [table for table in _tables(shown) if table[2]],
        "note": gettext(
            "Days are UTC. Test calls that people place on the simulated carrier aren’t "
            "counted. Simulated calls of campaigns and scripts are."
        ),
    }


def _span_words(report: MonthlyReport) -> str:
    days = {
        "first": day(report.span.start),
        "last": day(report.span.end),
        "earlier_first": day(report.earlier.start),
        "earlier_last": day(report.earlier.end),
    }
    if report.span.end == utcnow().date():
        return gettext(
            "%(first)s to %(last)s (partial) UTC, compared with %(earlier_first)s to "
            "%(earlier_last)s.",
            **days,
        )
    return gettext(
        "%(first)s to %(last)s UTC, compared with %(earlier_first)s to %(earlier_last)s.", **days
    )


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
            gettext("With a person"),
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
        (gettext("Growing and falling"), columns, _movers([*report.growing, *report.falling])),
        (
            gettext("Near a limit now"),
            (gettext("Organization"), gettext("Limit")),
            [(near.name, near.words) for near in report.near],
        ),
    ]


def _movers(movers: Sequence[Mover]) -> list[tuple[str, str, str]]:
    return [(each.name, number(each.conversations), number(each.before)) for each in movers]


def _earned(shown: Shown) -> list[tuple[str, str]]:
    """Return what the page shows in tiles, with the notes of the tiles in parentheses."""
    one = shown.earned
    if one is None or not (one.price or one.model or one.carrier):
        return []
    costs = ((cost.reported + cost.estimated, cost.currency) for cost in one.carrier)
    estimates = [(cost.estimated, cost.currency) for cost in one.carrier if cost.estimated]
    carrier = ", ".join(micros(*cost) for cost in costs) or "–"
    estimated = ", ".join(
        gettext("%(amount)s estimated", amount=micros(*estimate)) for estimate in estimates
    )
    rows = [
        (
            gettext("Price to customers"),
            _with_note(micros(one.price, one.currency), _trial_words(one)),
        ),
        (gettext("Carrier cost"), _with_note(carrier, estimated)),
    ]
    if model_rate() != ModelRate():
        rows.append((gettext("Model cost"), micros(one.model, one.model_currency)))
    if one.margin is None:
        margin = _with_note("–", gettext("Costs are in another currency"))
    else:
        share = percent(one.margin, one.price) if one.price else ""
        note = gettext("%(share)s of the price", share=share) if share else ""
        margin = _with_note(micros(one.margin, one.currency), note)
    return [*rows, (gettext("Margin"), margin)]


def _trial_words(one: Earned) -> str:
    if not one.in_trial:
        return ""
    return ngettext(
        "Includes %(amount)s of %(num)s organization in trial mode",
        "Includes %(amount)s of %(num)s organizations in trial mode",
        one.in_trial,
        amount=micros(one.trial_price, one.currency),
    )


def _with_note(amount: str, note: str) -> str:
    return f"{amount} ({note})" if note else amount
