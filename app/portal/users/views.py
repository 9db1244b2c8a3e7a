"""Users: the list and one user."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from flask import render_template, request, url_for
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, Role, UserStatus
from app.extensions import caller, transaction
from app.languages import gettext, lazy_gettext
from app.models import Organization, User, is_erased
from app.policy import Permission
from app.portal.access.missing_actions import may_or_note_missing
from app.portal.users import blueprint
from app.portal.users.bulk import may_change
from app.portal.users.labels import abilities, abilities_title, list_message
from app.portal.users.listing import (
    OF_CUSTOMERS,
    OF_CUSTOMERS_LABELS,
    STATUS_LABELS,
    USERS,
    lockout_label,
)
from app.portal.web import lists, organization_picker
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.formats import ROLE_NAMES
from app.portal.web.list_pages import list_page
from app.portal.web.organization_choice import organization_called
from app.portal.web.page_frame import read_frame
from app.services import audit, organizations, partners, users
from app.services.users import email_changes, viewing
from app.services.users.loading import MEMBERS, PARTNER_LEVEL
from app.validation.uuids import as_uuid

SUSPENDING = (
    lazy_gettext("Signed out immediately, in every browser, and can’t sign in."),
    lazy_gettext("The seat stays taken."),
    lazy_gettext("Nothing is deleted; you can reactivate the account at any time."),
)
KEPT_WORKING = lazy_gettext("What they created keeps working. Deactivate the account to end it.")
DEACTIVATING = (
    lazy_gettext("Signed out immediately, in every browser, and can’t sign in."),
    lazy_gettext("The seat becomes free for another user."),
    lazy_gettext("Nothing is deleted; the account can be reactivated while there is a free seat."),
)


@dataclass(frozen=True, slots=True)
class Seats:
    used: int
    limit: int

    @property
    def are_used(self) -> bool:
        return self.used >= self.limit


def own_seats(session: Session) -> Seats | None:
    """Return the seats of a member's own organization; None for others and without a limit."""
    own_id = caller().organization_id
    if own_id is None:
        return None
    limit = organizations.get(session, caller(), own_id).user_limit
    return Seats(organizations.seats_taken(session, own_id), limit) if limit else None


@blueprint.get("/users")
def list_users() -> str:
    with transaction(read_only=True) as session:
        return render_template(
            "portal/users/list.html",
            list=list_page(session, USERS),
            filter_labels=organization_picker.named_in_filter(session),
            summary=list_message(
                partners.named_in_filter(session, caller(), lists.id_filter("partner"))
            ),
            roles=_visible_roles(),
            seats=own_seats(session),
        )


@blueprint.get("/users/<uuid:user_id>")
def show_user(user_id: UUID) -> str:
    with transaction(read_only=True) as session:
        user, organization = users.get_with_organization(session, caller(), user_id)
        read_frame(session, partner_id=user.partner_id)
        return render_template(
            "portal/users/detail.html",
            user=user,
            **_membership(session, user, organization),
            **_changes(session, user),
            may_view_as=viewing.may_view_as(session, caller(), user),
            status=STATUS_LABELS[user.status],
            offers=actions_of(user),
            suspending=suspend_confirmation(user),
            deactivating=deactivate_confirmation(user),
        )


def _changes(session: Session, user: User) -> dict[str, Any]:
    """Return the latest changes of the user, and the pending change of the email."""
    return {
        "changes": audit.latest_of_target(session, caller(), "user", user.id),
        "email_change": email_changes.pending(session, user),
    }


def _membership(session: Session, user: User, organization: Organization | None) -> dict[str, Any]:
    """Return the organization of a member, for operators the partner's name, and what the role
    allows."""
    partner_id = user.partner_id if caller().is_operator else None
    partner = partners.get(session, caller(), partner_id) if partner_id else None
    is_open = organization is None or organization.status is OrganizationStatus.ACTIVE
    is_partner_suspended = partner is not None and partner.suspended_at is not None
    return {
        "organization": organization,
        "partner": partner.name if partner else None,
        "lockout": lockout_label(user, organization, is_partner_suspended=is_partner_suspended),
        "takes_invitations": is_open and not is_partner_suspended,
        "abilities": abilities(user.role),
        "abilities_title": abilities_title(user.role),
        "is_staff": user.user_type in PARTNER_LEVEL,
    }


def suspend_confirmation(user: User) -> ConfirmationPage:
    is_staff = user.user_type in PARTNER_LEVEL
    return user_confirmation(
        user,
        url_for("portal.users.suspend_user", user_id=user.id),
        gettext("Suspend %(name)s?", name=user.name or user.email),
        (*SUSPENDING, KEPT_WORKING) if is_staff else SUSPENDING,
        gettext("Suspend user"),
        gettext("Keep active"),
    )


def deactivate_confirmation(user: User) -> ConfirmationPage:
    return user_confirmation(
        user,
        url_for("portal.users.deactivate_user", user_id=user.id),
        gettext("Deactivate %(name)s?", name=user.name or user.email),
        DEACTIVATING,
        gettext("Deactivate account"),
        gettext("Keep the account"),
    )


def user_confirmation(
    user: User,
    action: str,
    title: str,
    consequences: Sequence[str],
    action_label: str,
    keep_label: str,
) -> ConfirmationPage:
    """Return the confirmation of an action on a user, below the user's page."""
    user_url = url_for("portal.users.show_user", user_id=user.id)
    return ConfirmationPage(
        action=action,
        title=title,
        consequences=consequences,
        action_label=action_label,
        keep_label=keep_label,
        keep_url=user_url,
        crumbs=[
            (gettext("Users"), url_for("portal.users.list_users")),
            (user.name or user.email, user_url),
        ],
    )


def suggested_organizations() -> list[str] | None:
    """Return names of organizations for an invitation; None if the caller can invite only into
    their own."""
    if caller().organization_id is not None:
        return None
    with transaction(read_only=True) as session:
        return organization_picker.suggested_names(session)


def organization_id_of_url() -> UUID | None:
    """Return the organization in the URL; owners have one anyway."""
    if caller().organization_id is not None:
        return None
    return as_uuid(request.args.get("organization", ""))


def organization_id_by_name(session: Session, name: str) -> UUID:
    """Return the organization with the name; the one in the URL is preferred among several of the
    same name. Raises `ValidationFailed`, and `NotFound` for one in the URL that doesn't exist."""
    organization_id = organization_id_of_url()
    preferred = organizations.get(session, caller(), organization_id) if organization_id else None
    return organization_called(session, name, preferred).id


def back_url() -> str:
    """Return where an invitation started: at an organization or at the users."""
    organization_id = organization_id_of_url()
    if organization_id is None:
        return url_for("portal.users.list_users")
    return url_for("portal.organizations.list_organization_users", organization_id=organization_id)


@dataclass(frozen=True, slots=True)
class UserActions:
    """The actions that are offered on the page of a user."""

    edit: bool
    change_role: bool
    sign_out: bool
    suspend: bool
    deactivate: bool
    reactivate: bool
    resend_invitation: bool
    erase: bool


def actions_of(user: User) -> UserActions:
    changeable = may_change(user)
    may_act = changeable and user.id != caller().subject_id
    is_locked_out = user.status in (UserStatus.SUSPENDED, UserStatus.DEACTIVATED)
    never_signed_in = user.status is UserStatus.INVITED or (
        user.status is UserStatus.ACTIVE and user.password_hash is None
    )
    return UserActions(
        edit=changeable,
        change_role=may_act,
        sign_out=may_act and user.status is UserStatus.ACTIVE,
        suspend=may_act and not is_locked_out,
        deactivate=may_act and user.status is not UserStatus.DEACTIVATED,
        reactivate=may_act and is_locked_out,
        resend_invitation=changeable and never_signed_in,
        erase=may_act
        and may_or_note_missing(Permission.PERSONAL_DATA)
        and not is_erased(user.email),
    )


def _visible_roles() -> dict[str, str]:
    """Return the roles that the caller's list can contain; if these aren't only members, also the
    choice of all members."""
    if caller().role in (Role.ADMIN, Role.OWNER):
        return {role: name for role, name in ROLE_NAMES.items() if role in MEMBERS}
    choices: dict[str, str] = {
        role: name for role, name in ROLE_NAMES.items() if role is not Role.OPERATOR
    }
    return {**choices, OF_CUSTOMERS: OF_CUSTOMERS_LABELS}
