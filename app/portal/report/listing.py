"""The list of users on the report."""

from collections.abc import Sequence

from flask import request
from sqlalchemy.orm import Session

from app.enums import Tier, UserStatus
from app.extensions import caller
from app.languages import lazy_gettext
from app.portal.users.listing import STATUS_LABELS
from app.portal.web import lists
from app.portal.web.bulk import BulkItem, ListActions
from app.portal.web.list_definitions import (
    ListColumn,
    ListDefinition,
    ListFilter,
    moment_column,
    name_column,
    status_column,
)
from app.portal.web.plan_names import plan_name, plan_names
from app.portal.web.user_timezone import Problems
from app.services import partners, reporting
from app.services.paging import Page
from app.services.reporting import ReportFilter, ReportRow


def chosen_filters() -> tuple[ReportFilter, Problems]:
    """Return the filters of the URL and their problems; an invalid one is ignored."""
    since, until, problems = lists.day_range("since", "until")
    filters = ReportFilter(
        query=lists.text_filter("q"),
        tier=lists.choice_filter("tier", Tier),
        status=lists.choice_filter("status", UserStatus),
        since=since,
        until=until,
    )
    return filters, problems


def _load(session: Session, sort: str, cursor: str | None, limit: int) -> Page[ReportRow]:
    partner_id = partners.own_partner_id(caller())
    return reporting.search(
        session, caller(), partner_id, chosen_filters()[0], sort=sort, cursor=cursor, limit=limit
    )


def _count(session: Session, limit: int) -> int:
    return reporting.count(
        session, caller(), partners.own_partner_id(caller()), chosen_filters()[0], limit
    )


def _item(row: ReportRow) -> BulkItem:
    return BulkItem(str(row.user.id), row.user.email, row.organization.name, row)


def _get_many(session: Session, keys: Sequence[str]) -> list[BulkItem]:
    partner_id, sort = partners.own_partner_id(caller()), MEMBERS.sort_of(request.args)
    filters = ReportFilter(ids=lists.ids_of(keys))
    page = reporting.search(session, caller(), partner_id, filters, sort=sort, limit=len(keys) + 1)
    return [_item(row) for row in page.items]


MEMBERS = ListDefinition(
    name="report",
    nouns=(lazy_gettext("user"), lazy_gettext("users")),
    endpoint="portal.report.show_report",
    columns=(
        name_column(
            "email",
            lazy_gettext("Email"),
            lambda row: row.user.email,
            "cell-name cell-name-wide cell-email",
        ),
        ListColumn(
            "organization",
            lazy_gettext("Organization"),
            lambda row: row.organization.name,
            "truncated cell-owner",
        ),
        ListColumn(
            "plan",
            lazy_gettext("Plan"),
            lambda row: plan_name(row.organization),
            "truncated truncated-short cell-plan phone-first",
        ),
        status_column(lambda row: str(STATUS_LABELS[row.user.status]), "from-desktop"),
        # The organization's, as in the JSON; the usage screen ranks organizations by them.
        ListColumn(
            "conversations",
            lazy_gettext("Organization’s conversations"),
            lambda row: row.conversations,
            "end head-wrap",
            heading="Conversations",
        ),
        moment_column(
            "signed-up",
            lazy_gettext("Added (UTC)"),
            lambda row: row.user.created_at,
            "end phone-below phone-sub",
            sort="created",
            is_labelled=True,
            heading="Added (UTC)",
        ),
        ListColumn(
            "id", lazy_gettext("ID"), lambda row: str(row.user.id), "wrap", is_default=False
        ),
    ),
    filters=(
        ListFilter("q", lazy_gettext("Email or organization")),
        ListFilter("tier", lazy_gettext("Plan"), plan_names, lazy_gettext("Any plan")),
        ListFilter("status", lazy_gettext("Status"), STATUS_LABELS, lazy_gettext("Any status")),
    ),
    sorts=reporting.REPORT_SORTS,
    default_sort="created",
    load=_load,
    count=_count,
    shows_count=True,
    shows_plans=True,
    bulk=ListActions(_item, _get_many, exports=True),
    problems=lambda: chosen_filters()[1],
    more_filters=("since", "until"),
)
