"""People: the list and one of them."""

from uuid import UUID

from flask import render_template

from app.enums import Role, UserStatus
from app.extensions import caller, transaction
from app.portal import lists
from app.portal.blueprint import portal
from app.portal.navigation import ROLE_NAMES
from app.services import audit, organizations, users
from app.services.users.loading import SORTS

STATUS_NAMES = {
    UserStatus.ACTIVE: "Active",
    UserStatus.INVITED: "Invited",
    UserStatus.SUSPENDED: "Suspended",
    UserStatus.DEACTIVATED: "Deactivated",
}
LATEST_CHANGES = 8


@portal.get("/people", endpoint="users")
def list_users() -> str:
    place, sort = lists.place(), lists.sort_filter(SORTS, "-created")
    with transaction(read_only=True) as session:
        page = users.search(
            session,
            caller(),
            query=lists.text_filter("q"),
            user_type=lists.choice_filter("role", Role),
            status=lists.choice_filter("status", UserStatus),
            sort=sort,
            cursor=place.cursor,
            limit=lists.PAGE_SIZE,
        )
        belonging = {row.organization_id for row in page.items if row.organization_id}
        names = organizations.names_of(session, caller(), belonging)
    return render_template(
        "portal/users/list.html",
        rows=page.items,
        names=names,
        place=place,
        next_url=place.next_url(page.next_cursor),
        sort=sort,
        sort_url=lists.sort_url,
        sort_direction=lists.sort_direction,
        roles={role: name for role, name in ROLE_NAMES.items() if role is not Role.OPERATOR},
        statuses=STATUS_NAMES,
        clear_url=lists.clear_url("q", "role", "status"),
    )


@portal.get("/people/<uuid:user_id>")
def user(user_id: UUID) -> str:
    with transaction(read_only=True) as session:
        found = users.get(session, caller(), user_id)
        organization = (
            organizations.get(session, caller(), found.organization_id)
            if found.organization_id
            else None
        )
        changes = audit.latest_of_target(session, caller(), "user", found.id, LATEST_CHANGES)
    return render_template(
        "portal/users/detail.html",
        user=found,
        organization=organization,
        statuses=STATUS_NAMES,
        changes=changes,
    )
