"""Groups of organizations: the list, one group, and the users limited to each."""

from collections.abc import Callable, Sequence
from functools import partial
from uuid import UUID

from flask import render_template, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.enums import Role
from app.errors import NotFound
from app.extensions import caller, transaction
from app.languages import gettext
from app.models import OAuthClient, Organization, OrganizationGroup, User
from app.portal.organization_groups import blueprint
from app.portal.organization_groups.forms import (
    ALL,
    SOME,
    GroupFields,
    GroupLimitForm,
    NewGroupForm,
    OrganizationGroupForm,
)
from app.portal.web.blueprint import Page
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.editing import FormSubmission
from app.portal.web.forms import saving, saving_edit, stored_page
from app.portal.web.messages import redirect_with
from app.services import oauth_clients, organization_groups, organizations, users
from app.services.organization_groups import GroupInput
from app.services.organizations import by_ids
from app.validation.uuids import as_hyphenated_uuid

OFFERED = 200
"""Maximum organizations to choose from; others are typed."""


@blueprint.get("/settings/groups")
def list_groups() -> str:
    with transaction(read_only=True) as session:
        rows = organization_groups.listing(session, caller())
    return render_template("portal/organization_groups/list.html", rows=rows)


@blueprint.get("/settings/groups/new")
def new_group() -> str:
    return _new_page(NewGroupForm())


@blueprint.post("/settings/groups/new")
def create_group() -> Page:
    form = NewGroupForm()
    with saving(form, lambda: _new_page(form), validate=False) as session:
        submission = FormSubmission(session)
        group_input = GroupInput(form.name.data or "", _selected_ids(session, form))
        group = organization_groups.create(session, caller(), group_input)
        submission.finish(url_for("portal.organization_groups.list_groups"))
    message = gettext("Group %(name)s added.", name=group.name)
    return redirect_with(message, url_for("portal.organization_groups.list_groups"))


@blueprint.get("/settings/groups/<uuid:group_id>")
def edit_group(group_id: UUID) -> str:
    return stored_page(group_id, _page, _stored)


@blueprint.post("/settings/groups/<uuid:group_id>")
def save_group(group_id: UUID) -> Page:
    form = OrganizationGroupForm()
    with saving_edit(
        form, "organization_group", group_id, _page, _stored, validate=False
    ) as session:
        group_input = GroupInput(form.name.data or "", _selected_ids(session, form))
        version = form.version.data
        organization_groups.update(
            session, caller(), group_id, group_input, expected_version=version
        )
    return redirect_with(gettext("Group saved."), url_for("portal.organization_groups.list_groups"))


@blueprint.get("/settings/groups/<uuid:group_id>/delete")
def confirm_delete_group(group_id: UUID) -> str:
    with transaction(read_only=True) as session:
        group = organization_groups.get(session, caller(), group_id)
    return _delete_confirmation(group).page()


def _delete_confirmation(group: OrganizationGroup) -> ConfirmationPage:
    return ConfirmationPage(
        action=url_for("portal.organization_groups.delete_group", group_id=group.id),
        title=gettext("Delete the group %(name)s?", name=group.name),
        consequences=[
            gettext("Its organizations stay as they are."),
            gettext(
                "Admins and clients limited to this group alone lose access to all organizations."
            ),
        ],
        action_label=gettext("Delete group"),
        keep_label=gettext("Keep group"),
        keep_url=url_for("portal.organization_groups.edit_group", group_id=group.id),
    )


@blueprint.post("/settings/groups/<uuid:group_id>/delete")
def delete_group(group_id: UUID) -> Response:
    with transaction() as session:
        group = organization_groups.remove(session, caller(), group_id)
    message = gettext("Group %(name)s deleted.", name=group.name)
    return redirect_with(message, url_for("portal.organization_groups.list_groups"))


def _selected_ids(session: Session, form: GroupFields) -> set[UUID]:
    """Return the organizations that are selected, and those of the names and ids that were typed.
    Raises `ValidationFailed` (codes of `users.organization_by_name`)."""
    selected = form.kept_ids
    for line in form.lines:
        identifier = as_hyphenated_uuid(line)
        by_id = by_ids(session, caller(), [identifier]) if identifier else {}
        found = next(iter(by_id), None)
        selected.add(found or users.organization_by_name(session, caller(), line).id)
    return selected


def _set_choices(session: Session, form: GroupFields, present: Sequence[Organization] = ()) -> None:
    """Offer the organizations of the group and the first of the others, by name."""
    first = organizations.search(session, caller(), sort="name", limit=OFFERED)
    organizations_by_id = {each.id: each for each in (*present, *first.items)}
    by_name = sorted(organizations_by_id.values(), key=lambda each: (each.name_key, each.id))
    form.set_choices(by_name, has_more=first.next_cursor is not None)


def _stored(session: Session, group_id: UUID) -> OrganizationGroupForm:
    group = organization_groups.get(session, caller(), group_id)
    present = organization_groups.organizations_of(session, group)
    form = OrganizationGroupForm.showing(group, present)
    _set_choices(session, form, present)
    return form


def _new_page(form: NewGroupForm) -> str:
    with transaction(read_only=True) as session:
        organization_groups.listing(session, caller())  # refuses operators
        _set_choices(session, form)
    return render_template("portal/organization_groups/new.html", form=form)


def _page(group_id: UUID, form: OrganizationGroupForm) -> str:
    with transaction(read_only=True) as session:
        group = organization_groups.get(session, caller(), group_id)
        _set_choices(session, form, organization_groups.organizations_of(session, group))
    return render_template("portal/organization_groups/group.html", form=form, group=group)


Load = Callable[..., User | OAuthClient]
"""Return the user or client with an id, locked if it is ``for_change``."""


@blueprint.get("/users/<uuid:user_id>/groups")
def edit_user_groups(user_id: UUID) -> str:
    return _edit_limits(_load_user, user_id)


@blueprint.post("/users/<uuid:user_id>/groups")
def save_user_groups(user_id: UUID) -> Page:
    return _save_limits(_load_user, "user", user_id)


@blueprint.get("/api-access/clients/<uuid:client_id>/groups")
def edit_client_groups(client_id: UUID) -> str:
    return _edit_limits(_load_client, client_id)


@blueprint.post("/api-access/clients/<uuid:client_id>/groups")
def save_client_groups(client_id: UUID) -> Page:
    return _save_limits(_load_client, "client", client_id)


def _load_user(session: Session, user_id: UUID, *, for_change: bool = False) -> User:
    return users.get(session, caller(), user_id, for_change=for_change)


def _load_client(session: Session, client_id: UUID, *, for_change: bool = False) -> OAuthClient:
    return oauth_clients.get(session, caller(), client_id, for_change=for_change)


def _edit_limits(load: Load, subject_id: UUID) -> str:
    return stored_page(subject_id, partial(_limits_page, load), partial(_stored_limits, load))


def _save_limits(load: Load, kind: str, subject_id: UUID) -> Page:
    form = GroupLimitForm()
    page, stored = partial(_limits_page, load), partial(_stored_limits, load)
    with saving_edit(form, kind, subject_id, page, stored, validate=False) as session:
        form.set_choices(organization_groups.listing(session, caller()))
        subject, version = load(session, subject_id, for_change=True), form.version.data
        organization_groups.limit(
            session, caller(), subject, form.group_ids, expected_version=version
        )
    return redirect_with(
        gettext("Access saved. It counts from the next request."), _url_of(subject)
    )


def _stored_limits(load: Load, session: Session, subject_id: UUID) -> GroupLimitForm:
    subject = load(session, subject_id)
    if subject.role is not Role.ADMIN:
        raise NotFound
    form = GroupLimitForm.from_object(
        reach=SOME if subject.is_limited else ALL,
        groups=[str(group.id) for group in organization_groups.groups_of(session, subject)],
        version=organization_groups.limit_version(session, subject),
    )
    form.set_choices(organization_groups.listing(session, caller()))
    return form


def _limits_page(load: Load, subject_id: UUID, form: GroupLimitForm) -> str:
    with transaction(read_only=True) as session:
        subject = load(session, subject_id)
        rows = organization_groups.listing(session, caller())
    form.set_choices(rows)
    name = subject.name or (subject.email if isinstance(subject, User) else "")
    return render_template(
        "portal/organization_groups/limit.html",
        form=form,
        name=name,
        back=_url_of(subject),
        has_groups=bool(rows),
    )


def _url_of(subject: User | OAuthClient) -> str:
    if isinstance(subject, User):
        return url_for("portal.users.show_user", user_id=subject.id)
    return url_for("portal.api_access.show_client", client_id=subject.id)
