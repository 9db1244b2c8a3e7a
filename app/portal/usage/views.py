"""Usage: any range of days, of the partner or of one organization, with the previous period."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain
from typing import Any
from uuid import UUID

from flask import render_template, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.enums import TIER_NAMES
from app.errors import NotFound, ValidationFailed
from app.extensions import caller, figures
from app.languages import gettext, lazy_gettext
from app.models import Organization, utcnow
from app.policy import Permission
from app.portal.web import lists
from app.portal.web.blueprint import portal
from app.portal.web.lists import csv_file
from app.services import csv_files, organizations, reporting
from app.services.billing import statements
from app.services.reporting import CostLine, Day, Span, Used
from app.services.users.loading import get_by_email
from app.validation.uuids import as_uuid

FIELDS = {
    "startDate": ("start", lazy_gettext("First day")),
    "endDate": ("end", lazy_gettext("Last day")),
}
DAY_COLUMNS = ("Day (UTC)", "Conversations", "With a person", "With voicemail", "Seconds")
ORGANIZATION_COLUMNS = (
    *("Organization", "Plan", "Conversations", "With a person", "With voicemail", "Seconds"),
    *("Conversations in the previous period", "Id"),
)
COST_COLUMNS = ("Month (UTC)", "Organization", "Currency", "Attempts", "Cost", "Id")


@dataclass(frozen=True, slots=True)
class Scope:
    """The organization whose usage is shown; without one, everything of the caller's."""

    organization: Organization | None
    email: str | None
    """The user who was searched for; the usage is that of their organization."""

    @property
    def id(self) -> UUID | None:
        return self.organization.id if self.organization else None


@portal.get("/usage", endpoint="usage")
def show_usage() -> str | tuple[str, int]:
    today = utcnow().date()
    presets = {
        gettext("This month"): reporting.this_month(today),
        gettext("Last month"): reporting.last_month(today),
        gettext("30 days"): reporting.last_days(today, 30),
        gettext("90 days"): reporting.last_days(today, 90),
    }
    span, problems = reporting.last_days(today, 30), []
    try:
        span = _asked_span(span)
    except ValidationFailed as error:
        problems = [
            (name, f"{label}: {problem.message}")
            for problem in error.problems
            for name, label in [FIELDS[problem.field]]
        ]
    place = lists.place()
    with figures() as session:
        scope = _scope(session)
        days = reporting.daily(session, caller(), span.start, span.end, organization_id=scope.id)
        earlier = span.before()
        before = reporting.daily(
            session, caller(), earlier.start, earlier.end, organization_id=scope.id
        )
        updated = reporting.last_updated(session, caller(), scope.id)
        is_this_month = span == reporting.this_month(today)
        end = reporting.month_end(session, caller(), today, scope.id) if is_this_month else None
        months = reporting.by_month(session, caller(), span, scope.id)
        own = caller().organization_id
        bill = statements.current_month(session, caller(), own) if own else None
        page, ranked, costs = None, True, {}
        if scope.organization is None and caller().may(Permission.ORGANIZATIONS_READ):
            ranked = reporting.can_rank(session, caller())
            page = reporting.by_organization(
                session,
                caller(),
                span,
                ranked=ranked,
                sort=_sort(),
                query=_words(),
                cursor=place.cursor,
                limit=lists.PAGE_SIZE,
            )
            if months:
                ids = [row.id for row in page.items]
                costs = reporting.by_organization_ids(session, span, ids)
    cost = reporting.totals(each.cost for each in months)
    answer = render_template(
        "portal/usage/page.html",
        span=span,
        unfinished=span.end == today,
        earlier=earlier,
        presets=presets,
        problems=problems,
        scope=scope,
        days=days,
        before=before,
        total=reporting.total(days),
        total_before=reporting.total(before),
        updated=updated,
        chart=_chart(days),
        end=end,
        rows=page.items if page else None,
        ranked=ranked,
        sort=_sort(),
        listed=_sum(page.items) if page else None,
        place=place,
        next_url=place.next_url(page.next_cursor) if page else None,
        words=_words(),
        asked=_asked_again,
        months=months,
        cost=cost,
        costs=costs,
        bill=bill,
        costs_of_others=reporting.less(cost, chain.from_iterable(costs.values())),
    )
    return (answer, 422) if problems else answer


@portal.get("/usage.csv")
def usage_file() -> Response:
    """Export the figures of the screen: all organizations, or with ``rows=days`` and for a single
    organization the days, or with ``rows=costs`` the carrier costs by organization and month."""
    span = _asked_span(reporting.last_days(utcnow().date(), 30))
    with figures() as session:
        scope = _scope(session)
        if request.args.get("rows") == "costs":
            found = reporting.cost_lines(session, caller(), span, scope.id)
            parts = [csv_files.first_line(COST_COLUMNS)]
            parts += [csv_files.lines(map(_cost_cells, batch)) for batch in found]
            return csv_file(f"call-costs-{span.start}-to-{span.end}", parts)
        by_day = scope.organization or request.args.get("rows") == "days"
        if by_day or not caller().may(Permission.ORGANIZATIONS_READ):
            days = reporting.daily(
                session, caller(), span.start, span.end, organization_id=scope.id
            )
            parts = [csv_files.first_line(DAY_COLUMNS), csv_files.lines(map(_day_cells, days))]
        else:
            parts = [csv_files.first_line(ORGANIZATION_COLUMNS)]
            parts += [
                csv_files.lines(map(_organization_cells, batch))
                for batch in reporting.all_organizations(
                    session, caller(), span, sort=_sort(), query=_words()
                )
            ]
    return csv_file(f"usage-{span.start}-to-{span.end}", parts)


def _asked_span(otherwise: Span) -> Span:
    """Return the range of the URL, otherwise the default. Raises `ValidationFailed`."""
    start, end = (request.args.get(name, "").strip() for name in ("start", "end"))
    return reporting.asked_span(start, end) if start or end else otherwise


def _words() -> str | None:
    return lists.text_filter("q")


def _sort() -> str:
    wanted = request.args.get("sort", "")
    return wanted if wanted in reporting.USAGE_SORTS else reporting.MOST_FIRST


def _scope(session: Session) -> Scope:
    """The organization that the address names, or that of the user whose email is searched for.
    Raises `NotFound` for an organization that the caller can't see."""
    words = _words() or ""
    given = request.args.get("organization")
    organization_id = as_uuid(given)
    if given and organization_id is None:
        raise NotFound
    email = None
    if organization_id is None and "@" in words:
        try:
            user = get_by_email(session, caller(), words)
        except NotFound:
            return Scope(None, None)
        organization_id, email = user.organization_id, user.email
    if organization_id is None:
        return Scope(None, None)
    return Scope(organizations.get(session, caller(), organization_id), email)


def _asked_again(endpoint: str = "portal.usage", **changes: Any) -> str:
    """Return the URL of this view with some parameters changed."""
    kept = {
        name: request.args[name]
        for name in ("start", "end", "organization", "q", "sort")
        if request.args.get(name)
    }
    return url_for(endpoint, **{**kept, **changes})


def _sum(rows: Sequence[Used]) -> dict[str, int]:
    names = ("conversations", "by_human", "by_voicemail", "before")
    return {name: sum(getattr(row, name) for row in rows) for name in names}


def _day_cells(day: Day) -> tuple[date | int, ...]:
    return day.day, day.conversations, day.by_human, day.by_voicemail, day.seconds


def _organization_cells(row: Used) -> tuple[str | int, ...]:
    plan = TIER_NAMES[row.payment_tier] if row.payment_tier else ""
    return (
        *(row.name, plan, row.conversations, row.by_human, row.by_voicemail, row.seconds),
        *(row.before, str(row.id)),
    )


def _cost_cells(line: CostLine) -> tuple[str | int, ...]:
    cost = line.cost
    return (
        *(f"{line.month:%Y-%m}", line.name, cost.currency, cost.attempts, cost.amount),
        str(line.organization_id),
    )


def _chart(days: Sequence[Day]) -> dict[str, Any]:
    return {
        "days": [day.day.isoformat() for day in days],
        "series": [
            {
                "label": gettext("With a person"),
                "values": [d.by_human for d in days],
                "role": "first",
            },
            {
                "label": gettext("With voicemail"),
                "values": [d.by_voicemail for d in days],
                "role": "second",
            },
        ],
        "unfinished": False,
    }
