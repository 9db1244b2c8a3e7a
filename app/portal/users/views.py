"""Users: the list and one user."""

from typing import Any
from uuid import UUID

from flask import render_template, request

from app.enums import Role, UserStatus
from app.extensions import caller, transaction
from app.models import User
from app.policy import Permission
from app.portal.users.labels import abilities
from app.portal.web import lists
from app.portal.web.blueprint import portal
from app.portal.web.navigation import ROLE_NAMES
from app.services import audit, organizations, users
from app.services.paging import MOST_COUNTED
from app.services.users import email_changes
from app.services.users.loading import PARTNER_LEVEL, SORTS
from app.validation.uuids import as_uuid

STATUS_NAMES = {
    UserStatus.ACTIVE: "Active",
    UserStatus.INVITED: "Invited",
    UserStatus.SUSPENDED: "Suspended",
    UserStatus.DEACTIVATED: "Deactivated",
}
STATUS_TONES = {
    UserStatus.ACTIVE: "success",
    UserStatus.INVITED: "info",
    UserStatus.SUSPENDED: "danger",
    UserStatus.DEACTIVATED: "neutral",
}
LATEST_CHANGES = 8
SUSPENDING = (
    "Signed out at once, in every browser, and can’t sign in.",
    "The seat stays taken.",
    "Nothing is deleted; you can reactivate the account at any time.",
)
KEPT_WORKING = "What they created keeps working. Deactivate the account to end it."
DEACTIVATING = (
    "Signed out at once, in every browser, and can’t sign in.",
    "The seat becomes free for another user.",
    "Nothing is deleted; the account can be reactivated while there is a free seat.",
)


@portal.get("/people", endpoint="users")
def list_users() -> str:
    place, sort = lists.place(), lists.sort_filter(SORTS, "-created")
    chosen = users.Filter(
        query=lists.text_filter("q"),
        user_type=lists.choice_filter("role", Role),
        status=lists.choice_filter("status", UserStatus),
        organization_id=as_uuid(request.args.get("organization", "")),
    )
    with transaction(read_only=True) as session:
        page = users.search(
            session, caller(), chosen, sort=sort, cursor=place.cursor, limit=lists.PAGE_SIZE
        )
        belonging = {row.organization_id for row in page.items if row.organization_id}
        if chosen.organization_id:
            belonging.add(chosen.organization_id)
        names = organizations.names_of(session, caller(), belonging)
        whole = place.is_first and page.next_cursor is None
        count = len(page.items) if whole else users.count(session, caller(), chosen)
    return render_template(
        "portal/users/list.html",
        rows=page.items,
        names=names,
        within=chosen.organization_id,
        count=count,
        most_counted=MOST_COUNTED,
        changeable={row.id for row in page.items if may_change(row)},
        place=place,
        next_url=place.next_url(page.next_cursor),
        sort=sort,
        sort_url=lists.sort_url,
        sort_direction=lists.sort_direction,
        roles=_roles_seen(),
        statuses=STATUS_NAMES,
        tones=STATUS_TONES,
        clear_url=lists.clear_url("q", "role", "status", "organization"),
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
        email_change = email_changes.pending(session, found)
        changes = audit.latest_of_target(session, caller(), "user", found.id, LATEST_CHANGES)
    return render_template(
        "portal/users/detail.html",
        user=found,
        organization=organization,
        abilities=abilities(found.user_type),
        changes=changes,
        email_change=email_change,
        suspending=suspending_words(found),
        is_staff=found.user_type in PARTNER_LEVEL,
        deactivating=DEACTIVATING,
        **actions_of(found),
    )


def suspending_words(user: User) -> tuple[str, ...]:
    """Return the consequences of suspending the user."""
    return (*SUSPENDING, KEPT_WORKING) if user.user_type in PARTNER_LEVEL else SUSPENDING


def may_change(user: User) -> bool:
    """Whether the caller may change users like this one."""
    return caller().may(Permission.USERS_WRITE) and user.user_type in users.types_for(caller())


def actions_of(user: User) -> dict[str, Any]:
    """Return a user's state and the actions on offer, for pages about the user."""
    changeable = may_change(user)
    others = changeable and user.id != caller().subject_id
    shut_out = user.status in (UserStatus.SUSPENDED, UserStatus.DEACTIVATED)
    never_came = user.status is UserStatus.INVITED or (
        user.status is UserStatus.ACTIVE and user.password_hash is None
    )
    return {
        "status": STATUS_NAMES[user.status],
        "tone": STATUS_TONES[user.status],
        "may_edit": changeable,
        "may_suspend": others and not shut_out,
        "may_deactivate": others and user.status is not UserStatus.DEACTIVATED,
        "may_reactivate": others and shut_out,
        "may_resend": changeable and never_came,
    }


def _roles_seen() -> dict[Role, str]:
    """Return the roles that the caller's list can contain."""
    if caller().role is Role.ADMIN:
        return {Role.STANDARD: ROLE_NAMES[Role.STANDARD]}
    return {role: name for role, name in ROLE_NAMES.items() if role is not Role.OPERATOR}
