"""The content of a monthly report's PDF, in the current language."""

from collections.abc import Sequence
from itertools import islice, zip_longest
from typing import Any

from app.languages import gettext, ngettext
from app.languages.dates import NO_BREAK, format_date_range, format_local_date, standalone_month
from app.languages.numbers import format_percentage, localize_number
from app.models import utcnow
from app.services.billing.margin import MonthMargin
from app.services.money_format import micros
from app.services.reporting import ConversationChange, MonthlyReport, whole_month

Table = tuple[str, Sequence[str], Sequence[Sequence[str]]]
"""Title, heads and rows."""


def pdf_content(
    report: MonthlyReport, earned: MonthMargin | None, name: str, *, has_model: bool
) -> dict[str, Any]:
    """Return the content of the PDF below the letterhead, in the current language. ``has_model``:
    the operator has set costs of voices and texts."""
    month = format_local_date(report.span.start, "yMMMM").replace(NO_BREAK, " ")
    tables = _build_tables(report, _earnings_rows(earned, has_model=has_model))
    return {
        "title": gettext("Report of %(month)s", month=month),
        "subtitle": f"{name}, {_span_message(report)}",
        "chart": _chart_data(report),
        "empty": gettext("No conversations in these months."),
        "tables": [table for table in tables if table[2]],
        "note": gettext(
            "Days are UTC. Test calls that people place on the simulated carrier aren’t "
            "counted. Simulated calls of campaigns and scripts are."
        )
        + " "
        + gettext("Created on %(day)s.", day=format_local_date(utcnow().date(), "yMMMd")),
    }


def _span_message(report: MonthlyReport) -> str:
    days = format_date_range(report.span.start, report.span.end)
    if report.span.end == utcnow().date():
        days = gettext("%(days)s (today so far)", days=days)
    return gettext(
        "%(days)s, compared with %(earlier_month)s.",
        days=days,
        earlier_month=format_date_range(report.earlier.start, report.earlier.end),
    )


def _chart_data(report: MonthlyReport) -> dict[str, Any] | None:
    """Return the conversations of all days of both months, none on days to come; None if there are
    none."""
    dates = whole_month(report.span.start).dates
    counts = ([each.conversations for each in days] for days in (report.days, report.month_before))
    days = [
        (f"{day:%-d}", now or 0, earlier or 0)
        for day, now, earlier in islice(zip_longest(dates, *counts), len(dates))
    ]
    if not any(now or earlier for _, now, earlier in days):
        return None
    busiest = max(report.days, key=lambda daily: daily.conversations)
    return {
        "title": gettext("Conversations per day"),
        "now": standalone_month(report.span.start),
        "before": gettext("Previous month"),
        "most": gettext(
            "Most on %(day)s: %(num)s",
            day=format_local_date(busiest.day, "yMMMd"),
            num=localize_number(busiest.conversations),
        ),
        "days": days,
    }


def _build_tables(report: MonthlyReport, earned: Sequence[Sequence[str]]) -> list[Table]:
    now, before = report.now, report.before
    calls, calls_before = report.calls, report.calls_before
    earlier = gettext("Previous month")
    columns = ("", standalone_month(report.span.start), earlier)
    figures = [
        (
            gettext("Conversations"),
            localize_number(now.conversations),
            localize_number(before.conversations),
        ),
        (
            gettext("With a person"),
            format_percentage(now.by_human, now.conversations),
            format_percentage(before.by_human, before.conversations),
        ),
        (
            gettext("Talk time (minutes)"),
            localize_number(now.seconds // 60),
            localize_number(before.seconds // 60),
        ),
        (
            gettext("Calls answered"),
            format_percentage(calls.answered, calls.ended),
            format_percentage(calls_before.answered, calls_before.ended),
        ),
    ]
    return [
        (gettext("Figures"), columns, figures),
        (gettext("Price and margin"), ("", standalone_month(report.span.start)), earned),
        (gettext("Growing and falling"), columns, named([*report.growing, *report.falling])),
        (
            gettext("Near a limit now"),
            (gettext("Organization"), gettext("Limit")),
            [(near.name, near.message) for near in report.near],
        ),
    ]


def named(movers: Sequence[ConversationChange]) -> list[tuple[str, str, str]]:
    """Return their names with the conversations of the month and of the one before."""
    return [
        (each.name, localize_number(each.conversations), localize_number(each.before))
        for each in movers
    ]


def _earnings_rows(figures: MonthMargin | None, *, has_model: bool) -> list[tuple[str, str]]:
    """Return what the page shows in tiles: names, with the notes of the tiles in parentheses, and
    amounts."""
    if figures is None or not (figures.price or figures.model or figures.carrier):
        return []
    costs = ((cost.reported + cost.estimated, cost.currency) for cost in figures.carrier)
    estimates = [(cost.estimated, cost.currency) for cost in figures.carrier if cost.estimated]
    carrier = ", ".join(micros(*cost) for cost in costs) or "–"
    estimated = ", ".join(
        gettext("%(amount)s estimated", amount=micros(*estimate)) for estimate in estimates
    )
    rows = [
        (
            _with_note(gettext("Price to customers"), _trial_label(figures)),
            micros(figures.price, figures.currency),
        ),
        (_with_note(gettext("Carrier cost"), estimated), carrier),
    ]
    if has_model:
        rows.append((gettext("Model cost"), micros(figures.model, figures.model_currency)))
    if figures.margin is None:
        note, margin = gettext("Costs are in another currency"), "–"
    else:
        share = format_percentage(figures.margin, figures.price) if figures.price else ""
        note = gettext("%(share)s of the price", share=share) if share else ""
        margin = micros(figures.margin, figures.currency)
    return [*rows, (_with_note(gettext("Margin"), note), margin)]


def _trial_label(figures: MonthMargin) -> str:
    if not figures.in_trial:
        return ""
    return ngettext(
        "Includes %(amount)s of %(num)s organization in trial mode",
        "Includes %(amount)s of %(num)s organizations in trial mode",
        figures.in_trial,
        amount=micros(figures.trial_price, figures.currency),
    )


def _with_note(name: str, note: str) -> str:
    return f"{name} ({note})" if note else name
