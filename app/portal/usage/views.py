"""Usage: any range of days, of the partner or of one organization, with the previous period."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import chain
from typing import Any
from uuid import UUID

from flask import Response, request, url_for
from sqlalchemy.orm import Session

from app.calendar_months import last_day_of, month_of
from app.errors import NotFound, ValidationFailed
from app.extensions import caller, figures
from app.languages import gettext
from app.models import Organization, utcnow
from app.policy import Permission
from app.portal.organizations.listing import STATUS_LABELS
from app.portal.usage import blueprint
from app.portal.usage.listing import (
    USAGE,
    UsageRow,
    UsageSum,
    UsageTotals,
    added,
    are_compared,
    chosen_span,
    load_totals,
)
from app.portal.web import lists
from app.portal.web.blueprint import Page
from app.portal.web.charts import chart_of
from app.portal.web.fragments import render_checked
from app.portal.web.list_pages import ListPage, list_page, without_empty
from app.portal.web.list_rows import chunks, headings_of
from app.portal.web.lists import csv_file
from app.services import csv_files, organizations, reporting
from app.services.billing.carrier_sums import carrier_sums
from app.services.billing.month_end import month_so_far
from app.services.reporting import CostLine, DailyFigures, DaySpan, UsageFigures
from app.services.users.loading import get_by_email
from app.validation.uuids import as_uuid

DAY_COLUMNS = ("Day (UTC)", "Conversations", "With a person", "With voicemail", "Seconds")
COST_COLUMNS = ("Month (UTC)", "Organization", "Currency", "Charged attempts", "Cost", "Id")
FILE_COLUMNS = {
    "organization",
    "plan",
    "conversations",
    "person",
    "voicemail",
    "seconds",
    "before",
    "id",
}
"""The columns of the list in `download_usage`."""
MAX_NEAR = 100
ASKED = ("organization", *USAGE.parameters, "sort", "column", "view")
"""Parameters of the screen's URL, besides the position in the list."""


@dataclass(frozen=True, slots=True)
class UsageScope:
    """The organization whose usage is shown; without one, everything of the caller."""

    organization: Organization | None
    email: str | None
    """The user who was searched for; the usage is that of their organization."""

    @property
    def id(self) -> UUID | None:
        return self.organization.id if self.organization else None


@blueprint.get("/usage")
def show_usage() -> Page:
    span, problems = chosen_span()
    with figures() as session:
        return render_checked(
            "portal/usage/page.html",
            problems,
            **_range_context(span),
            **_usage_context(session, span),
        )


def _range_context(span: DaySpan) -> dict[str, Any]:
    """Return the range of the URL and the others on offer; if several have the same days, as on the
    30th of a month, the clicked one is selected."""
    presets = _presets()
    equal = [name for name, (_words, days) in presets.items() if days == span]
    equal.sort(key=lambda name: name != request.args.get("range"))
    return {
        "span": span,
        "earlier": span.before(),
        "presets": presets,
        "chosen_preset": next(iter(equal), None),
        "statuses": STATUS_LABELS,
        "url_with": _url_with,
        "other_params": _other_params(),
    }


def _usage_context(session: Session, span: DaySpan) -> dict[str, Any]:
    """Return the usage in the span: of the scope of the URL, and of each of its organizations."""
    scope = _requested_scope(session)
    page = list_page(session, USAGE) if _lists_organizations(scope) else None
    totals = load_totals(session) if page else _totals_of(session, scope, span)
    month_costs, are_months_adjusted = reporting.round_to_total(
        [[each.cost] for each in totals.months]
    )
    return {
        "scope": scope,
        "months": [
            replace(each, cost=cost)
            for each, (cost,) in zip(totals.months, month_costs, strict=True)
        ],
        "are_months_adjusted": are_months_adjusted,
        "near": organizations.near_limits(session, caller(), MAX_NEAR) if page else (),
        **_figures_context(totals, span),
        **(_list_context(page, totals) if page else {"list": None}),
        **_month_context(session, scope, span, has_costs=bool(totals.months)),
    }


@blueprint.get("/usage.csv")
def download_usage() -> Response:
    """Export the list of organizations for scripts, always with the same columns; or the days, for
    a single organization or with ``rows=days``; or with ``rows=costs`` the carrier costs by
    organization and month, which the partner's staff sees."""
    span, problems = chosen_span()
    for name, message in problems:
        raise ValidationFailed.on(name, "invalid_date", message)
    rows_param = request.args.get("rows")
    with figures() as session:
        csv_chunks = _file_lines(session, span, rows_param)
    name = "call-costs" if rows_param == "costs" else "usage"
    return csv_file(f"{name}-{span.start}-to-{span.end}", csv_chunks)


def _file_lines(session: Session, span: DaySpan, rows_param: str | None) -> list[bytes]:
    scope = _requested_scope(session)
    if rows_param == "costs":
        return _cost_lines(session, scope, span)
    is_by_day = rows_param == "days" or not _lists_organizations(scope)
    return _day_lines(session, scope, span) if is_by_day else _listed_lines()


def _cost_lines(session: Session, scope: UsageScope, span: DaySpan) -> list[bytes]:
    batches = reporting.cost_lines(session, caller(), span, scope.id)
    lines = [csv_files.lines(map(_cost_cells, batch)) for batch in batches]
    return [csv_files.first_line(COST_COLUMNS), *lines]


def _day_lines(session: Session, scope: UsageScope, span: DaySpan) -> list[bytes]:
    days = map(
        _day_cells,
        reporting.daily(session, caller(), span.start, span.end, organization_id=scope.id),
    )
    return [csv_files.first_line(DAY_COLUMNS), csv_files.lines(days)]


def _listed_lines() -> list[bytes]:
    columns = [column for column in USAGE.columns if column.name in FILE_COLUMNS]
    row_chunks = chunks(USAGE, columns, USAGE.sort_of(request.args))
    return [csv_files.first_line(headings_of(columns)), *map(csv_files.lines, row_chunks)]


def _presets() -> dict[str, tuple[str, DaySpan]]:
    """Return the words and days of the ranges on offer, by their names in the URL."""
    today = utcnow().date()
    return {
        "month": (gettext("This month"), reporting.this_month(today)),
        "last-month": (gettext("Last month"), reporting.last_month(today)),
        "30-days": (gettext("30 days"), reporting.last_days(today, 30)),
        "90-days": (gettext("90 days"), reporting.last_days(today, 90)),
    }


def _totals_of(session: Session, scope: UsageScope, span: DaySpan) -> UsageTotals:
    """Return the totals of one organization."""
    return UsageTotals(
        reporting.compare_days(session, caller(), span, utcnow().date(), scope.id),
        reporting.by_month(session, caller(), span, scope.id),
        can_rank=False,
    )


def _figures_context(totals: UsageTotals, span: DaySpan) -> dict[str, Any]:
    """Return the figures of the range and of the previous one."""
    compared = totals.compared
    return {
        "days": compared.days,
        "before": compared.before,
        "total": reporting.total(compared.days),
        "total_before": reporting.total(compared.before),
        "cost": reporting.totals(each.cost for each in totals.months),
        "end": compared.end,
        "chart": _conversation_chart(compared.days, span, utcnow().date()),
        "whole_day_before": span.whole_day_before(utcnow().date()),
        "can_rank": totals.can_rank,
        "max_ranked": reporting.MAX_RANKED,
        "updated": compared.updated,
    }


def _list_context(page: ListPage[UsageRow], totals: UsageTotals) -> dict[str, Any]:
    """Return the rows and the sums below them, with costs that add up."""
    sums = _sum_rows(page, totals)
    page = without_empty(page, "included", "used-up", *(() if are_compared() else ("change",)))
    page, sums, are_adjusted = _with_rounded_costs(page, sums)
    return {"list": page, "sums": sums, "are_adjusted": are_adjusted}


def _month_context(
    session: Session, scope: UsageScope, span: DaySpan, *, has_costs: bool
) -> dict[str, Any]:
    """Return monthly data: the use of a plan, and the carriers' sums."""
    today = utcnow().date()
    organization_id = caller().organization_id or scope.id
    month = _whole_month(span, today)
    sums = None
    if month and has_costs and caller().may(Permission.ORGANIZATIONS_WRITE):
        sums = carrier_sums(session, caller(), month, scope.id)
    return {
        "today": today,
        "unfinished": span.end == today,
        "so_far": month_so_far(session, caller(), organization_id, today)
        if organization_id
        else None,
        "carrier": sums,
    }


def _whole_month(span: DaySpan, today: date) -> date | None:
    """Return the latest month of the range if the range has all of it up to today."""
    month = month_of(span.end)
    end = min(last_day_of(month), today)
    return month if span.start <= month and span.end >= end else None


def _lists_organizations(scope: UsageScope) -> bool:
    return scope.organization is None and caller().may(Permission.ORGANIZATIONS_READ)


def _requested_scope(session: Session) -> UsageScope:
    """Return the organization in the URL, or that of the user whose email is searched for. Raises
    `NotFound` for an organization that the caller can't see."""
    query = lists.text_filter("q") or ""
    organization_param = request.args.get("organization")
    organization_id = as_uuid(organization_param)
    if organization_param and organization_id is None:
        raise NotFound
    email = None
    if organization_id is None and "@" in query:
        try:
            user = get_by_email(session, caller(), query)
        except NotFound:
            return UsageScope(None, None)
        organization_id, email = user.organization_id, user.email
    if organization_id is None:
        return UsageScope(None, None)
    return UsageScope(organizations.get(session, caller(), organization_id), email)


def _other_params() -> list[tuple[str, str]]:
    """Return the parameters of the URL except for the range and the position in the list."""
    names = [name for name in ASKED if name not in ("start", "end")]
    return [(name, value) for name in names for value in request.args.getlist(name) if value]


def _url_with(endpoint: str = "portal.usage.show_usage", **changes: Any) -> str:
    """Return the URL of this view from its first page, with some parameters changed."""
    params = {name: request.args.getlist(name) for name in ASKED if request.args.get(name)}
    return url_for(endpoint, **{**params, **changes})


def _sum_rows(page: ListPage[UsageRow], totals: UsageTotals) -> dict[str, UsageSum]:
    """Return the rows below the list: the usage of organizations that it doesn't show, if any, and
    the total."""
    total = reporting.total(totals.compared.days)
    before = reporting.total(totals.compared.before)
    cost = reporting.totals(each.cost for each in totals.months)
    total_figures = UsageFigures(
        *(total.conversations, total.by_human, total.by_voicemail, total.seconds),
        before=before.conversations,
    )
    rows = {"total": UsageSum(total_figures, cost, total.conversations)}
    other_figures = UsageFigures(
        *(whole - part for whole, part in zip(total_figures, added(page.rows), strict=True))
    )
    costs = reporting.subtract_costs(cost, chain.from_iterable(row.costs for row in page.rows))
    if any(other_figures) or costs:
        rows["others"] = UsageSum(other_figures, costs, total.conversations)
    return rows


def _with_rounded_costs(
    page: ListPage[UsageRow], sums: dict[str, UsageSum]
) -> tuple[ListPage[UsageRow], dict[str, UsageSum], bool]:
    """Return the rows and the sums below them with costs that add up, and whether one differs from
    its own rounding."""
    other_sum = sums.get("others")
    below = [other_sum] if other_sum else []
    costs, are_adjusted = reporting.round_to_total([row.costs for row in (*page.rows, *below)])
    rows = [replace(row, costs=row_costs) for row, row_costs in zip(page.rows, costs, strict=False)]
    if other_sum:
        sums = {**sums, "others": replace(other_sum, costs=costs[-1])}
    return replace(page, rows=rows), sums, are_adjusted


def _day_cells(day: DailyFigures) -> tuple[date | int, ...]:
    return day.day, day.conversations, day.by_human, day.by_voicemail, day.seconds


def _cost_cells(line: CostLine) -> tuple[str | int, ...]:
    cost = line.cost
    return (
        *(f"{line.month:%Y-%m}", line.name, cost.currency, cost.attempts, cost.amount),
        str(line.organization_id),
    )


def _conversation_chart(days: Sequence[DailyFigures], span: DaySpan, today: date) -> dict[str, Any]:
    is_this_month = span == reporting.this_month(today)
    return chart_of(
        reporting.whole_month(today).dates if is_this_month else span.dates,
        ("first", gettext("With a person"), [each.by_human for each in days]),
        ("second", gettext("With voicemail"), [each.by_voicemail for each in days]),
        unfinished=span.end == today,
    )
