"""The list of organizations on the usage screen: each one's usage in a range of days."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from uuid import UUID

from flask import g, request
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, Tier
from app.errors import ValidationFailed
from app.extensions import caller
from app.languages import lazy_gettext, lazy_pgettext
from app.models import utcnow
from app.policy import Permission
from app.portal.organizations.listing import STATUS_LABELS
from app.portal.web import lists
from app.portal.web.bulk import BulkItem, ListActions
from app.portal.web.included_column import included_column, included_if_shown
from app.portal.web.list_definitions import (
    ListColumn,
    ListDefinition,
    ListFilter,
    figure_column,
    name_column,
    status_column,
)
from app.portal.web.plan_names import plan_names
from app.portal.web.user_timezone import Problems
from app.services import reporting
from app.services.billing.month_end import IncludedUse
from app.services.paging import Page
from app.services.reporting import (
    ComparedDays,
    CurrencyCost,
    DaySpan,
    MonthCost,
    OrganizationUsage,
    UsageFigures,
    UsageFilter,
)

FILE_OF_SCRIPTS = "portal.usage.download_usage"
"""Columns of the file for scripts, always the same."""
FIELDS = {
    "startDate": ("start", lazy_gettext("First day")),
    "endDate": ("end", lazy_gettext("Last day")),
}


@dataclass(frozen=True, slots=True)
class UsageSum:
    """The usage of one or several organizations."""

    figures: UsageFigures
    costs: Sequence[CurrencyCost]
    whole: int
    """The conversations of all organizations in the range."""

    @property
    def share(self) -> Decimal | None:
        """The percentage of all conversations; None without any."""
        return _percentage(self.figures.conversations, self.whole)

    @property
    def change(self) -> Decimal | None:
        """The difference from the previous period in percent; None without conversations in it."""
        now, before = self.figures.conversations, self.figures.before
        return _percentage(now - before, before)


@dataclass(frozen=True, slots=True)
class UsageRow(UsageSum):
    organization: OrganizationUsage
    included: IncludedUse | None
    """None also if no column shows it."""


@dataclass(frozen=True, slots=True)
class UsageTotals:
    """The totals of which the rows are parts, and whether rows can be sorted by usage."""

    compared: ComparedDays
    months: Sequence[MonthCost]
    can_rank: bool


def chosen_span() -> tuple[DaySpan, Problems]:
    """Return the range of the URL and its problems; by default, or for an invalid one, this month,
    as on the overview."""
    start, end = (request.args.get(name, "").strip() for name in ("start", "end"))
    problems: Problems = []
    if start or end:
        try:
            return reporting.requested_span(start, end), problems
        except ValidationFailed as error:
            for problem in error.problems:
                name, label = FIELDS[problem.field]
                problems.append((name, f"{label}: {problem.message}"))
    return reporting.this_month(utcnow().date()), problems


def are_compared() -> bool:
    """Return whether the range has a day that is over: without one, its usage isn't compared."""
    return chosen_span()[0].whole_day_before(utcnow().date()) is None


def load_totals(session: Session) -> UsageTotals:
    """Return the data that the page, its rows and all parts of a file need, read once per
    request."""
    if "whole_usage" not in g:
        span, _problems = chosen_span()
        compared = reporting.compare_days(session, caller(), span, utcnow().date())
        months, can_rank = reporting.by_month_and_can_rank(session, caller(), span)
        g.whole_usage = UsageTotals(compared, months, can_rank)
    totals: UsageTotals = g.whole_usage
    return totals


def added(rows: Iterable[UsageRow]) -> UsageFigures:
    """Return the sums over the rows."""
    return UsageFigures(*map(sum, zip(*(row.figures for row in rows), strict=True)))


def _filters() -> UsageFilter:
    return UsageFilter(
        query=lists.text_filter("q"),
        tier=lists.choice_filter("tier", Tier),
        status=lists.choice_filter("status", OrganizationStatus),
    )


def _load(session: Session, sort: str, cursor: str | None, limit: int) -> Page[UsageRow]:
    return _load_page(session, _filters(), sort, cursor, limit)


def _load_page(
    session: Session, filters: UsageFilter, sort: str, cursor: str | None, limit: int
) -> Page[UsageRow]:
    span, totals = chosen_span()[0], load_totals(session)
    page = reporting.by_organization(
        session,
        caller(),
        span,
        filters,
        ranked=totals.can_rank,
        sort=sort,
        cursor=cursor,
        limit=limit,
    )
    ids = [used.id for used in page.items] if totals.months else []
    costs = reporting.by_organization_ids(session, span, ids) if ids else {}
    conversations = sum(day.conversations for day in totals.compared.days)
    included = _included_use(session, [used.id for used in page.items])
    rows = [
        UsageRow(used.figures, costs.get(used.id, ()), conversations, used, included.get(used.id))
        for used in page.items
    ]
    return Page(rows, page.next_cursor)


def _included_use(session: Session, ids: Sequence[UUID]) -> Mapping[UUID, IncludedUse]:
    """Return the use of the plans in this month, if the range is of this month and a column shows
    it."""
    today = utcnow().date()
    if request.endpoint == FILE_OF_SCRIPTS or chosen_span()[0] != reporting.this_month(today):
        return {}
    return included_if_shown(session, USAGE, ("included", "used-up"), ids)


def _count(session: Session, limit: int) -> int:
    return reporting.count_organizations(session, caller(), chosen_span()[0], _filters(), limit)


def _count_if_few(session: Session, limit: int) -> int | None:
    return reporting.count_if_few(session, caller(), chosen_span()[0], _filters(), limit)


def _item(row: UsageRow) -> BulkItem:
    organization = row.organization
    return BulkItem(
        str(organization.id), organization.name, str(STATUS_LABELS[organization.status]), row
    )


def _get_many(session: Session, keys: Sequence[str]) -> list[BulkItem]:
    filters, sort = UsageFilter(ids=lists.ids_of(keys)), USAGE.sort_of(request.args)
    return [_item(row) for row in _load_page(session, filters, sort, None, len(keys) + 1).items]


def _percentage(part: int, of_all: int) -> Decimal | None:
    return round(Decimal(100 * part) / of_all, 1) if of_all else None


def _used_up_on(row: UsageRow) -> date | None:
    expected = row.included.expected if row.included else None
    return expected.used_up_on if expected else None


def _costs_label(row: UsageRow) -> str | None:
    return ", ".join(f"{cost.amount} {cost.currency}" for cost in row.costs) or None


USAGE = ListDefinition(
    name="usage",
    nouns=(lazy_gettext("organization"), lazy_gettext("usage of organizations")),
    endpoint="portal.usage.show_usage",
    columns=(
        name_column(
            "organization",
            lazy_gettext("Organization"),
            lambda row: row.organization.name,
            "cell-name cell-name-text",
            sort="name",
        ),
        ListColumn(
            "plan",
            lazy_gettext("Plan"),
            lambda row: plan_names()[row.organization.payment_tier or Tier.FREE],
            "truncated truncated-short cell-plan from-desktop",
            sort="plan",
        ),
        figure_column(
            "conversations",
            lazy_gettext("Conversations"),
            lambda row: row.figures.conversations,
            "end phone-first",
            is_labelled=True,
        ),
        figure_column("person", lazy_gettext("With a person"), lambda row: row.figures.by_human),
        figure_column(
            "voicemail",
            lazy_gettext("With voicemail"),
            lambda row: row.figures.by_voicemail,
            "end from-desktop",
        ),
        # The order of the shares is that of the conversations.
        ListColumn(
            "share",
            lazy_pgettext("part of the whole", "Share"),
            lambda row: row.share,
            "end",
            is_default=False,
            heading="Share (%)",
        ),
        included_column(lambda row: row.included),
        ListColumn(
            "costs", lazy_gettext("Reported carrier costs"), _costs_label, "end head-wrap from-wide"
        ),
        figure_column(
            "change",
            lazy_pgettext("difference", "Change"),
            lambda row: row.change if are_compared() else None,
            "end phone-second",
            is_labelled=True,
            heading="Change (%)",
        ),
        figure_column(
            "seconds",
            lazy_gettext("Talk time"),
            lambda row: row.figures.seconds,
            is_default=False,
            heading="Seconds",
        ),
        figure_column(
            "before",
            lazy_gettext("Previous period"),
            lambda row: row.figures.before,
            is_default=False,
            heading="Conversations in the previous period",
        ),
        ListColumn(
            "used-up", lazy_gettext("Expected to be used up"), _used_up_on, "end", is_default=False
        ),
        status_column(lambda row: str(STATUS_LABELS[row.organization.status]), is_default=False),
        ListColumn(
            "id",
            lazy_gettext("ID"),
            lambda row: str(row.organization.id),
            "wrap",
            is_default=False,
        ),
    ),
    filters=(
        ListFilter("q", lazy_gettext("Organization or email")),
        ListFilter("tier", lazy_gettext("Plan"), plan_names, lazy_gettext("Any plan")),
        ListFilter("status", lazy_gettext("Status"), STATUS_LABELS, lazy_gettext("Any status")),
    ),
    sorts=reporting.USAGE_SORTS,
    default_sort=reporting.MOST_FIRST,
    load=_load,
    count=_count,
    count_if_few=_count_if_few,
    shows_plans=True,
    bulk=ListActions(_item, _get_many, exports=True),
    problems=lambda: chosen_span()[1],
    more_filters=("start", "end"),
    sticky=("start", "end"),
    permission=Permission.ORGANIZATIONS_READ,
)
