"""The list of organizations."""

from collections.abc import Sequence
from dataclasses import dataclass

from flask import request
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, Tier
from app.extensions import caller
from app.languages import gettext, lazy_gettext, lazy_pgettext
from app.models import Organization
from app.portal.organizations.bulk import ACTIONS
from app.portal.web import lists
from app.portal.web.bulk import BulkItem, ListActions
from app.portal.web.included_column import included_column, included_if_shown
from app.portal.web.list_definitions import (
    ListColumn,
    ListDefinition,
    ListFilter,
    added_column,
    figure_column,
    name_column,
)
from app.portal.web.plan_names import plan_name, plan_names, read_plan_names
from app.services import organizations, partners
from app.services.billing.month_end import IncludedUse
from app.services.organizations import InTrial, LimitCloseness
from app.services.organizations.loading import SORTS
from app.services.organizations.usage import OrganizationUsage
from app.services.paging import Page

STATUS_LABELS = {
    OrganizationStatus.ACTIVE: lazy_pgettext("organization", "Active"),
    OrganizationStatus.SUSPENDED: lazy_pgettext("organization", "Suspended"),
    OrganizationStatus.ARCHIVED: lazy_pgettext("organization", "Archived"),
}
ANY_STATUS = "any"
CLOSENESS_LABELS = {
    LimitCloseness.NEAR: lazy_gettext("80 %% of a limit used"),
    LimitCloseness.REACHED: lazy_gettext("A limit reached"),
}
TRIAL_LABELS = {
    InTrial.YES: lazy_gettext("In trial mode"),
    InTrial.NO: lazy_gettext("Out of trial mode"),
}


@dataclass(frozen=True, slots=True)
class OrganizationRow:
    organization: Organization
    use: OrganizationUsage
    first_user: str | None
    partner: str | None
    """The name of its partner, for operators."""
    included: IncludedUse | None
    """None also if no column shows it."""
    is_suspended_with_partner: bool
    """Whether it is active itself and its partner is suspended; told to operators only."""

    @property
    def status_label(self) -> str:
        if self.is_suspended_with_partner:
            return gettext("Partner suspended")
        return str(STATUS_LABELS[self.organization.status])


def _filters() -> organizations.OrganizationFilter:
    return organizations.OrganizationFilter(
        query=lists.text_filter("q"),
        tier=lists.choice_filter("tier", Tier),
        status=lists.choice_filter("status", OrganizationStatus),
        with_archived=request.args.get("status") == ANY_STATUS,
        closeness=lists.choice_filter("use", LimitCloseness),
        in_trial=lists.choice_filter("trial", InTrial),
        partner_id=lists.id_filter("partner"),
    )


def _load(session: Session, sort: str, cursor: str | None, limit: int) -> Page[OrganizationRow]:
    page = organizations.search(
        session, caller(), _filters(), sort=sort, cursor=cursor, limit=limit
    )
    return Page(_rows(session, page.items), page.next_cursor)


def _rows(session: Session, matches: Sequence[Organization]) -> list[OrganizationRow]:
    ids = [row.id for row in matches]
    use_and_users = organizations.use_and_first_users_of(session, ids)
    included = included_if_shown(session, ORGANIZATIONS, ("included",), ids)
    if caller().is_operator:
        read_plan_names(session, matches)
    partner_ids = {row.partner_id for row in matches}
    portals = partners.names_of(session, caller(), partner_ids) if caller().is_operator else {}
    suspended = partners.suspended_of(session, caller(), partner_ids)
    return [
        OrganizationRow(
            row,
            *use_and_users[row.id],
            portals.get(row.partner_id),
            included.get(row.id),
            row.status is OrganizationStatus.ACTIVE and row.partner_id in suspended,
        )
        for row in matches
    ]


def _item(row: OrganizationRow) -> BulkItem:
    organization = row.organization
    return BulkItem(str(organization.id), organization.name, row.status_label, row)


def _get_many(session: Session, keys: Sequence[str]) -> list[BulkItem]:
    matches = organizations.by_ids(session, caller(), lists.ids_of(keys)).values()
    by_name = sorted(matches, key=lambda each: (each.name_key, each.id))
    return [_item(row) for row in _rows(session, by_name)]


def _plan(row: OrganizationRow) -> str:
    return plan_name(row.organization)


ORGANIZATIONS = ListDefinition(
    name="organizations",
    nouns=(lazy_gettext("organization"), lazy_gettext("organizations")),
    endpoint="portal.organizations.list_organizations",
    columns=(
        name_column("name", lazy_gettext("Name"), lambda row: row.organization.name),
        ListColumn(
            "user", lazy_gettext("First user"), lambda row: row.first_user, is_default=False
        ),
        ListColumn(
            "plan",
            lazy_gettext("Plan"),
            _plan,
            "truncated truncated-short cell-plan phone-first",
            sort="plan",
        ),
        ListColumn(
            "status",
            lazy_gettext("Status"),
            lambda row: row.status_label,
            sort="status",
        ),
        ListColumn("assistants", lazy_gettext("Assistants"), lambda row: row.use.assistants, "end"),
        figure_column(
            "assistant-limit",
            lazy_gettext("Assistant limit"),
            lambda row: row.organization.assistant_limit,
            is_default=False,
        ),
        ListColumn("users", lazy_gettext("Users"), lambda row: row.use.users, "end"),
        figure_column(
            "user-limit",
            lazy_gettext("User limit"),
            lambda row: row.organization.user_limit,
            is_default=False,
        ),
        included_column(lambda row: row.included, is_default=False, default_with="use"),
        ListColumn(
            "conversations",
            lazy_gettext("Conversations"),
            lambda row: row.use.recent_conversations,
            "end phone-below phone-sub",
            is_labelled=True,
            heading=lazy_gettext("Conversations (30 days)"),
        ),
        added_column(lambda row: row.organization.created_at, "end from-desktop"),
    ),
    filters=(
        ListFilter("q", lazy_gettext("Name, email or referral code")),
        ListFilter("tier", lazy_gettext("Plan"), plan_names, lazy_gettext("Any plan")),
        ListFilter(
            "status",
            lazy_gettext("Status"),
            {**STATUS_LABELS, ANY_STATUS: lazy_gettext("All")},
            lazy_gettext("Active and suspended"),
        ),
        ListFilter(
            "use", lazy_gettext("Use of limits"), CLOSENESS_LABELS, lazy_gettext("Any limits")
        ),
        ListFilter(
            "trial",
            lazy_gettext("Trial mode"),
            TRIAL_LABELS,
            lazy_gettext("In or out of trial mode"),
        ),
    ),
    sorts=SORTS,
    default_sort="-created",
    load=_load,
    count=lambda session, most: organizations.count(session, caller(), _filters(), most=most),
    shows_count=True,
    shows_plans=True,
    more_filters=("partner",),
    bulk=ListActions(_item, _get_many, ACTIONS, exports=True),
)
