"""Inviting a user, and changing their address, name and role."""

from uuid import UUID

from flask import redirect, render_template, url_for
from sqlalchemy.orm import Session

from app.enums import Role
from app.errors import Conflict, Forbidden, NotFound, check_all
from app.extensions import caller, transaction
from app.languages import gettext
from app.models import EmailChange, User
from app.portal.users import blueprint
from app.portal.users.forms import InviteForm, UserForm
from app.portal.users.labels import ROLE_SCOPE, abilities, abilities_title
from app.portal.users.views import (
    back_url,
    organization_id_by_name,
    organization_id_of_url,
    own_seats,
    suggested_organizations,
)
from app.portal.web.blueprint import Page
from app.portal.web.editing import FormSubmission
from app.portal.web.forms import saving, saving_edit
from app.portal.web.messages import redirect_with
from app.portal.web.navigation import may_open
from app.schemas.parsing import read
from app.schemas.users import CreateAdminInput
from app.services import organizations, users
from app.services.users import email_changes
from app.services.users.created_items import items_of
from app.services.users.loading import MEMBERS, PARTNER_LEVEL


@blueprint.get("/users/invite")
def new_user() -> Page:
    form = InviteForm()
    organization_id = caller().organization_id or organization_id_of_url()
    if organization_id is not None:
        with transaction(read_only=True) as session:
            organization = organizations.get(session, caller(), organization_id)
            form.full = organizations.no_seat(session, caller(), organization)
        form.organization.data = organization.name
        form.role.data = Role.STANDARD.value
    return _invite_page(form)


@blueprint.post("/users/invite")
def invite_user() -> Page:
    form = InviteForm()
    form.set_choices(_roles_to_invite())
    if not _is_valid(form):
        return _invite_page(form), 422
    with saving(form, lambda: _invite_page(form), validate=False, shows=(Forbidden,)) as session:
        submission = FormSubmission(session)
        invited = _invite(session, form)
        url = submission.finish(url_for("portal.users.show_user", user_id=invited.id))
    return redirect_with(_invited_message(invited), url)


def _invited_message(user: User) -> str:
    return gettext(
        "%(email)s invited. The link in the email works once, for seven days.", email=user.email
    )


@blueprint.get("/users/<uuid:user_id>/edit")
def edit_user(user_id: UUID) -> Page:
    with transaction(read_only=True) as session:
        form = UserForm.showing(users.get(session, caller(), user_id))
    return _edit_page(user_id, form)


@blueprint.post("/users/<uuid:user_id>/edit")
def save_user(user_id: UUID) -> Page:
    form = UserForm()
    form.set_choices(users.types_for(caller()))
    with saving_edit(
        form, "user", user_id, _edit_page, _stored, validate=False, shows=(Forbidden, Conflict)
    ) as session:
        saved = _save(session, user_id, form)
        if not _change_role(session, saved, form.selected_role()):
            confirm_url = url_for(
                "portal.users.confirm_change_role", user_id=user_id, role=form.selected_role()
            )
            return redirect(confirm_url, 303)
        message = _saved_message(saved, email_changes.pending(session, saved))
    return redirect_with(message, url_for("portal.users.show_user", user_id=user_id))


def _change_role(session: Session, user: User, role: Role | None) -> bool:
    """Give the user the role, unless it ends items that they created, which needs a confirmation on
    a separate page."""
    if role is not None and role is not user.role:
        if items_of(session, user, role):
            return False
        users.change_role(session, caller(), user.id, role)
    return True


def _save(session: Session, user_id: UUID, form: UserForm) -> User:
    name, version = form.name.data or "", form.version.data
    check_all(form.to_changes, lambda: users.check_name(name))
    return users.update(
        session, caller(), user_id, form.to_changes(), name=name, expected_version=version
    )


def _saved_message(user: User, change: EmailChange | None) -> str:
    if change is None:
        return gettext("%(email)s saved.", email=user.email)
    return gettext(
        "%(email)s saved. %(new_email)s takes effect when both addresses confirm it.",
        email=user.email,
        new_email=change.email,
    )


def _roles_to_invite() -> tuple[Role, ...]:
    """Return the offered roles: only members' for an organization, and for operators, who have no
    partner's staff."""
    roles = users.types_for(caller())
    only_members = caller().is_operator or organization_id_of_url() is not None
    return tuple(role for role in roles if role in MEMBERS) if only_members else roles


def _is_valid(form: InviteForm) -> bool:
    """Return whether the form is valid, also by the service's rules, so that all problems are shown
    at once. Whether the email is taken is checked only if there are others: a repeated form has
    taken it itself."""
    actor, email, name = caller(), form.submitted_email, form.organization.data or ""
    is_valid = form.validate()
    with transaction(read_only=True) as session:
        if form.role.data in MEMBERS and actor.organization_id is None and name.strip():
            is_valid = form.passes(lambda: organization_id_by_name(session, name)) and is_valid
        if not is_valid and not form.email.errors and actor.partner_id is not None:
            partner_id = actor.partner_id
            form.passes(lambda: users.refuse_known_address(session, partner_id, email))
    return is_valid


def _invite(session: Session, form: InviteForm) -> User:
    email = read(CreateAdminInput, {"email": form.submitted_email}).email
    role = Role(form.role.data)
    organization_id = caller().organization_id
    if role in MEMBERS and organization_id is None:
        organization_id = organization_id_by_name(session, form.organization.data or "")
    name_given = (form.name.data or "").strip() or None
    return users.invite(
        session,
        caller(),
        email=email,
        user_type=role,
        organization_id=organization_id,
        name=name_given,
        refuse_suspended=True,
    )


def _stored(session: Session, user_id: UUID) -> UserForm:
    user = users.get(session, caller(), user_id)
    form = UserForm.showing(user)
    form.set_choices(_roles_for(user))
    return form


def _invite_page(form: InviteForm) -> str:
    roles = _roles_to_invite()
    form.set_choices(roles)
    raise_url = None
    with transaction(read_only=True) as session:
        seats = own_seats(session)
        if form.full and may_open(caller(), "portal.organizations.choose_plan"):
            organization_id = organization_id_by_name(session, form.organization.data or "")
            needed = organizations.seats_taken(session, organization_id) + 1
            raise_url = url_for(
                "portal.organizations.choose_plan", organization_id=organization_id, users=needed
            )
    return render_template(
        "portal/users/invite.html",
        form=form,
        seats=seats,
        raise_url=raise_url,
        back_url=back_url(),
        organizations=suggested_organizations(),
        scopes={role.value: ROLE_SCOPE[role] for role in roles},
        abilities=[(role.value, abilities_title(role), abilities(role)) for role in roles],
    )


def _edit_page(user_id: UUID, form: UserForm) -> str:
    with transaction(read_only=True) as session:
        user = users.get(session, caller(), user_id)
        if user.role not in users.types_for(caller()):
            raise NotFound
        form.set_choices(_roles_for(user))
        return render_template(
            "portal/users/edit.html",
            user=user,
            form=form,
            scopes={role.value: ROLE_SCOPE[role] for role in _roles_for(user)},
        )


def _roles_for(user: User) -> list[Role]:
    """Return the roles that the caller may give this user: of the same kind, and none to
    themselves."""
    if user.id == caller().subject_id:
        return []
    kind = PARTNER_LEVEL if user.role in PARTNER_LEVEL else MEMBERS
    return [role for role in users.types_for(caller()) if role in kind]
