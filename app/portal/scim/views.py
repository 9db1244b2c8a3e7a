"""The directory of the partner: tokens, the default role, and the roles of its groups."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from flask import render_template, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.errors import Conflict, Forbidden
from app.extensions import caller, public_url, transaction
from app.languages import gettext, lazy_gettext, pgettext
from app.models import ScimGroup, ScimToken
from app.portal.api_access.credential_pages import rotate_page
from app.portal.api_access.forms import RotateForm
from app.portal.api_access.labels import CredentialBadge, ago, end_of, status_by_end
from app.portal.scim import blueprint
from app.portal.scim.forms import ChoicesForm, GroupForm, TokenForm
from app.portal.web.blueprint import Page
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.current_user import refuse_operators
from app.portal.web.editing import FormSubmission
from app.portal.web.formats import ROLE_NAMES, last_day
from app.portal.web.forms import saving, saving_edit, stored_page
from app.portal.web.messages import redirect_with
from app.portal.web.user_timezone import zone
from app.services import organizations, partners, users
from app.services.credentials import scim_tokens
from app.services.credentials.scim_tokens import NewToken
from app.services.scim import PREFIX, choices, groups
from app.services.users.loading import MEMBERS

ALREADY_SHOWN = lazy_gettext("Already done. The token was shown once. Lost it? Rotate it.")
"""The message for a form that was sent twice."""


@blueprint.get("/settings/directory")
def edit_directory() -> str:
    with transaction(read_only=True) as session:
        refuse_operators()
        form = _stored(session)
    return _page(form)


@blueprint.post("/settings/directory")
def save_directory() -> Page:
    form, target = ChoicesForm(), ("partner", partners.own_partner_id(caller()))
    with saving(
        form, lambda: _page(form), stored=_stored, target=target, validate=False
    ) as session:
        refuse_operators()
        role, version = form.default_role.data or None, form.version.data
        choices.save(session, caller(), role, expected_version=version)
    return redirect_with(gettext("The directory was saved."), url_for("portal.scim.edit_directory"))


def _stored(session: Session) -> ChoicesForm:
    return ChoicesForm.showing(choices.get(session, caller()))


@blueprint.get("/settings/directory/tokens/new")
def new_token() -> str:
    refuse_operators()
    return render_template("portal/scim/token_new.html", form=TokenForm())


@blueprint.post("/settings/directory/tokens/new")
def create_token() -> Page:
    """Show the page with the secret this once: no URL holds it."""
    form = TokenForm()
    with saving(form, lambda: render_template("portal/scim/token_new.html", form=form)) as session:
        refuse_operators()
        submission = FormSubmission(session, notice=str(ALREADY_SHOWN))
        new = scim_tokens.create(
            session, caller(), name=form.name.data or "", expires_at=form.expires_at
        )
        submission.finish(url_for("portal.scim.edit_directory"))
    return _page_with(new, gettext("“%(name)s” was created", name=new.token.name))


@blueprint.get("/settings/directory/tokens/<uuid:token_id>/rotate")
def confirm_rotate_token(token_id: UUID) -> str:
    return _rotate_page(token_id, RotateForm())


@blueprint.post("/settings/directory/tokens/<uuid:token_id>/rotate")
def rotate_token(token_id: UUID) -> Page:
    form = RotateForm()
    with saving(form, lambda: _rotate_page(token_id, form), shows=(Conflict,)) as session:
        submission = FormSubmission(session, notice=str(ALREADY_SHOWN))
        new = scim_tokens.rotate(session, caller(), token_id, **form.to_period())
        submission.finish(url_for("portal.scim.edit_directory"))
    return _page_with(new, gettext("“%(name)s” was rotated", name=new.token.name))


@blueprint.get("/settings/directory/tokens/<uuid:token_id>/revoke")
def confirm_revoke_token(token_id: UUID) -> str:
    with transaction(read_only=True) as session:
        token = scim_tokens.get(session, caller(), token_id)
    return _revoke_confirmation(token).page()


def _revoke_confirmation(token: ScimToken) -> ConfirmationPage:
    return ConfirmationPage(
        action=url_for("portal.scim.revoke_token", token_id=token.id),
        title=gettext("Revoke “%(name)s”?", name=token.name),
        consequences=[
            gettext("The directory can no longer change users with this token."),
            gettext("Users and their roles stay as they are."),
            gettext("This can’t be undone. You can create a new token at any time."),
        ],
        action_label=gettext("Revoke token"),
        keep_label=gettext("Keep token"),
        keep_url=url_for("portal.scim.edit_directory"),
    )


@blueprint.post("/settings/directory/tokens/<uuid:token_id>/revoke")
def revoke_token(token_id: UUID) -> Response:
    with transaction() as session:
        token = scim_tokens.revoke(session, caller(), token_id)
    message = gettext("“%(name)s” was revoked. It no longer works.", name=token.name)
    return redirect_with(message, url_for("portal.scim.edit_directory"))


@blueprint.get("/settings/directory/groups/<uuid:group_id>")
def edit_directory_group(group_id: UUID) -> str:
    return stored_page(group_id, _group_page, _stored_group)


@blueprint.post("/settings/directory/groups/<uuid:group_id>")
def save_directory_group(group_id: UUID) -> Page:
    form = GroupForm()
    with saving_edit(
        form,
        "scim_group",
        group_id,
        _group_page,
        _stored_group,
        validate=False,
        shows=(Conflict, Forbidden),
    ) as session:
        group = groups.map_to(
            session,
            caller(),
            group_id,
            form.selected_role(),
            _organization_id(session, form),
            expected_version=form.version.data,
        )
    message = gettext("The role of “%(name)s” was saved.", name=group.display_name)
    return redirect_with(message, url_for("portal.scim.edit_directory"))


def _organization_id(session: Session, form: GroupForm) -> UUID | None:
    """Return the organization of the form's role. Raises `ValidationFailed`."""
    name = (form.organization.data or "").strip()
    if form.selected_role() not in MEMBERS or not name:
        return None
    return users.organization_by_name(session, caller(), name).id


def _page_with(new: NewToken, success_title: str) -> str:
    with transaction(read_only=True) as session:
        form = _stored(session)
    return _page(form, new.secret, success_title)


def _page(form: ChoicesForm, secret: str | None = None, success_title: str = "") -> str:
    with transaction(read_only=True) as session:
        tokens = scim_tokens.listing(session, caller())
        scim_groups = groups.listing(session, caller())
        sizes = groups.sizes(session, scim_groups)
        names = _organization_names(session, scim_groups)
    return render_template(
        "portal/scim/page.html",
        form=form,
        address=public_url() + PREFIX,
        tokens=[_token_row(token) for token in tokens],
        groups=[
            {
                "group": group,
                "role": ROLE_NAMES[group.role] if group.role else None,
                "organization": names.get(group.organization_id) if group.organization_id else None,
                "size": sizes.get(group.id, 0),
            }
            for group in scim_groups
        ],
        secret=secret,
        done=success_title,
    )


def _token_row(token: ScimToken) -> dict[str, Any]:
    days_in, works = zone(), not token.is_over
    if token.revoked_at is not None:
        status = CredentialBadge(pgettext("SCIM token", "Revoked"), "danger")
    elif token.replaced_by is not None and not works:
        status = CredentialBadge(pgettext("SCIM token", "Rotated"), "neutral")
    elif token.replaced_by is not None:
        end = last_day(token.expires_at, days_in)
        status = CredentialBadge(gettext("Works until %(day)s", day=end), "warning")
    else:
        active = CredentialBadge(pgettext("SCIM token", "Active"), "success")
        status = status_by_end(token.expires_at) or active
    return {
        "token": token,
        "status": status,
        "used": ago(token.last_used_at, days_in),
        "end": end_of(token, days_in),
        "works": works,
        "can_rotate": works and token.replaced_by is None,
    }


def _rotate_page(token_id: UUID, form: RotateForm) -> str:
    with transaction(read_only=True) as session:
        token = scim_tokens.get(session, caller(), token_id)
    return rotate_page(
        form,
        gettext("Rotate “%(name)s”", name=token.name),
        gettext("A new token with the same name replaces it. Enter it in your directory."),
        gettext("Rotate token"),
        [
            (gettext("Settings"), url_for("portal.settings.edit_settings")),
            (gettext("Directory"), url_for("portal.scim.edit_directory")),
        ],
    )


def _stored_group(session: Session, group_id: UUID) -> GroupForm:
    group = groups.get(session, caller(), group_id)
    names = _organization_names(session, [group])
    organization = names.get(group.organization_id) if group.organization_id else None
    return GroupForm.showing(group, organization)


def _group_page(group_id: UUID, form: GroupForm) -> str:
    with transaction(read_only=True) as session:
        group = groups.get(session, caller(), group_id)
        size = groups.sizes(session, [group]).get(group.id, 0)
    return render_template("portal/scim/group.html", form=form, group=group, size=size)


def _organization_names(session: Session, scim_groups: Sequence[ScimGroup]) -> dict[UUID, str]:
    ids = {group.organization_id for group in scim_groups if group.organization_id is not None}
    return organizations.names_of(session, caller(), ids)
