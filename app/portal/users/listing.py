"""The list of users."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, Role, UserStatus
from app.extensions import caller
from app.languages import gettext, lazy_gettext
from app.models import Organization, User
from app.portal.users.bulk import ACTIONS, may_change
from app.portal.web import lists
from app.portal.web.bulk import BulkItem, ListActions
from app.portal.web.formats import ROLE_NAMES
from app.portal.web.list_definitions import (
    ListColumn,
    ListDefinition,
    ListFilter,
    added_column,
    moment_column,
    name_column,
    organization_column,
    status_column,
)
from app.services import organizations, partners, users
from app.services.paging import Page
from app.services.users.loading import SORTS

STATUS_LABELS = {
    UserStatus.ACTIVE: lazy_gettext("Active"),
    UserStatus.INVITED: lazy_gettext("Invited"),
    UserStatus.SUSPENDED: lazy_gettext("Suspended"),
    UserStatus.DEACTIVATED: lazy_gettext("Deactivated"),
}
OF_CUSTOMERS = "customers"
"""The filter value that includes both roles of members."""
OF_CUSTOMERS_LABELS = lazy_gettext("Owners and members")


@dataclass(frozen=True, slots=True)
class UserRow:
    """A user with the name of their organization and, for operators, of their partner."""

    user: User
    organization: str | None = None
    partner: str | None = None
    lockout: str = ""
    """Why the user can't sign in, although the account is active or invited."""

    @property
    def status_label(self) -> str:
        return self.lockout or str(STATUS_LABELS[self.user.status])


def lockout_label(
    user: User, organization: Organization | None, *, is_partner_suspended: bool
) -> str:
    """Return why a user can't sign in, although the account is active or invited; operators alone
    learn that the partner is suspended."""
    if user.status not in (UserStatus.ACTIVE, UserStatus.INVITED):
        return ""
    if organization is not None and organization.status is OrganizationStatus.ARCHIVED:
        return gettext("Organization archived")
    if organization is not None and organization.status is OrganizationStatus.SUSPENDED:
        return gettext("Organization suspended")
    return gettext("Partner suspended") if is_partner_suspended else ""


def chosen_filters() -> users.UserFilter:
    return users.UserFilter(
        query=lists.text_filter("q"),
        user_type=lists.choice_filter("role", Role),
        is_member=lists.text_filter("role") == OF_CUSTOMERS,
        status=lists.choice_filter("status", UserStatus),
        organization=lists.id_or_text("organization"),
        partner_id=lists.id_filter("partner"),
        has_factor={"on": True, "off": False}.get(lists.text_filter("factor") or ""),
    )


def _load(session: Session, sort: str, cursor: str | None, limit: int) -> Page[UserRow]:
    page = users.search(session, caller(), chosen_filters(), sort=sort, cursor=cursor, limit=limit)
    organization_ids = {row.organization_id for row in page.items if row.organization_id}
    owners = organizations.by_ids(session, caller(), organization_ids)
    partner_ids = {row.partner_id for row in page.items if row.partner_id}
    portals = partners.names_of(session, caller(), partner_ids) if caller().is_operator else {}
    suspended = partners.suspended_of(session, caller(), partner_ids)
    rows = [
        UserRow(
            row,
            owner.name if owner else None,
            portals.get(row.partner_id) if row.partner_id else None,
            lockout_label(row, owner, is_partner_suspended=row.partner_id in suspended),
        )
        for row in page.items
        for owner in [owners.get(row.organization_id) if row.organization_id else None]
    ]
    return Page(rows, page.next_cursor)


def _item(row: UserRow) -> BulkItem:
    user = row.user
    return BulkItem(str(user.id), user.email, str(STATUS_LABELS[user.status]), row)


def _get_many(session: Session, keys: Sequence[str]) -> list[BulkItem]:
    matches = users.get_many(session, caller(), lists.ids_of(keys))
    return [_item(UserRow(user)) for user in matches if may_change(user)]


USERS = ListDefinition(
    name="users",
    nouns=(lazy_gettext("user"), lazy_gettext("users")),
    endpoint="portal.users.list_users",
    columns=(
        name_column("name", lazy_gettext("Name"), lambda row: row.user.name),
        name_column("email", lazy_gettext("Email"), lambda row: row.user.email, "wrap from-widest"),
        ListColumn(
            "role",
            lazy_gettext("Role"),
            lambda row: str(ROLE_NAMES[row.user.role]),
            "phone-first",
            sort="role",
        ),
        organization_column(lambda row: row.organization),
        status_column(lambda row: row.status_label, "phone-second"),
        moment_column(
            "last-sign-in",
            lazy_gettext("Last sign-in"),
            lambda row: row.user.last_sign_in,
            "end from-desktop",
            heading=lazy_gettext("Last sign-in (UTC)"),
        ),
        added_column(lambda row: row.user.created_at, "end from-wide"),
        ListColumn(
            "external-id",
            lazy_gettext("External ID"),
            lambda row: row.user.idp_uid,
            "wrap",
            is_default=False,
        ),
    ),
    filters=(
        ListFilter(
            "q",
            lazy_gettext("Name, email or organization"),
            label_of_members=lazy_gettext("Name or email"),
        ),
        ListFilter(
            "role",
            lazy_gettext("Role"),
            {**{role: ROLE_NAMES[role] for role in Role}, OF_CUSTOMERS: OF_CUSTOMERS_LABELS},
            lazy_gettext("Any role"),
        ),
        ListFilter("status", lazy_gettext("Status"), STATUS_LABELS, lazy_gettext("Any status")),
        ListFilter("organization", lazy_gettext("Organization")),
        ListFilter(
            "factor",
            lazy_gettext("Second factor"),
            {
                "on": lazy_gettext("With a second factor"),
                "off": lazy_gettext("Without a second factor"),
            },
            lazy_gettext("With or without"),
        ),
    ),
    sorts=SORTS,
    default_sort="-created",
    load=_load,
    count=lambda session, most: users.count(session, caller(), chosen_filters(), most=most),
    shows_count=True,
    more_filters=("partner",),
    bulk=ListActions(_item, _get_many, ACTIONS),
)
