"""Inviting several users at once: their rows are checked and fixed on the page first."""

from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from typing import Any
from uuid import UUID

from flask import render_template
from sqlalchemy.orm import Session
from werkzeug.datastructures import FileStorage

from app.enums import Role
from app.errors import CHANGED_MEANWHILE, Conflict, ValidationFailed
from app.extensions import caller, transaction
from app.languages import DEFAULT, gettext, language, ngettext, using_language
from app.portal.users import blueprint
from app.portal.users.forms import InviteManyForm
from app.portal.users.invite_many_messages import review_of
from app.portal.users.views import (
    back_url,
    organization_id_by_name,
    organization_id_of_url,
    own_seats,
    suggested_organizations,
)
from app.portal.web.blueprint import Page
from app.portal.web.checked_rows import (
    DoneRow,
    apply_row_errors,
    corrected_lines,
    file_text,
    use_in_parts,
)
from app.portal.web.editing import run_once
from app.portal.web.formats import ROLE_NAMES
from app.portal.web.messages import flash, redirect_with
from app.services import organizations, pasted_lines, users
from app.services.users import (
    MAX_USERS,
    CheckedInvitee,
    CheckedInvitees,
    InviteDefaults,
    Invitee,
    InviteOutcome,
)
from app.services.users.loading import MEMBERS

MAX_BYTES = 300_000


@blueprint.get("/users/invite-many")
def new_users() -> str:
    form = _form()
    given = organization_id_of_url()
    if given is not None:
        with transaction(read_only=True) as session:
            form.organization.data = organizations.get(session, caller(), given).name
    return _many_page(form)


@blueprint.post("/users/invite-many/check")
def check_users() -> Page:
    """Show each row with its problems; nothing is written."""
    form = _form()
    rows = _sent(form)
    return _check(form, rows) if rows else (_many_page(form), 422)


@blueprint.post("/users/invite-many")
def invite_users() -> Page:
    """Invite the users that the page showed as ready. If the rows, or what they depend on, have
    changed, the page is shown again first."""
    form = _form()
    rows = _sent(form)
    if not rows:
        return _many_page(form), 422
    try:
        with transaction() as session:
            run_once(session, "check", partial(_refuse_changed, session, form, rows))
            defaults = _defaults(form, _chosen(session, form))
    except (ValidationFailed, Conflict) as error:
        return _check_again(form, rows, error)
    return _invite(form, rows, defaults)


def _check_again(
    form: InviteManyForm, rows: Sequence[Invitee], error: ValidationFailed | Conflict
) -> Page:
    if error.code == CHANGED_MEANWHILE:
        flash(error.message, "info")
    return _check(form, rows)


def _invite(form: InviteManyForm, rows: Sequence[Invitee], defaults: InviteDefaults) -> Page:
    """Invite the users in several transactions. Show the remaining rows, or return to where the
    invitation started."""
    results = use_in_parts(rows, users.BATCH_SIZE, partial(_invite_part, defaults))
    invited = [
        DoneRow(row.email, " · ".join(filter(None, (row.name, organization))))
        for row, (outcome, organization) in zip(rows, results, strict=True)
        if outcome == InviteOutcome.INVITED
    ]
    left = [
        row
        for row, (outcome, _organization) in zip(rows, results, strict=True)
        if outcome == InviteOutcome.REFUSED
    ]
    if left:
        with transaction(read_only=True) as session:
            checked = users.check_many(session, caller(), left, defaults)
        return _checked_page(form, checked, invited)
    words = ngettext("%(num)s user invited.", "%(num)s users invited.", len(invited))
    return redirect_with(words, back_url())


def _invite_part(
    defaults: InviteDefaults, session: Session, part: Sequence[Invitee]
) -> list[tuple[InviteOutcome, str]]:
    results = users.invite_many(session, caller(), part, defaults)
    return [(result.outcome, result.organization) for result in results]


def _form() -> InviteManyForm:
    form = InviteManyForm()
    form.set_choices(users.types_for(caller()))
    return form


def _roles() -> dict[str, Role]:
    """Return the roles of members by their names, in the language of the user and in English, and
    by those of the API."""
    roles = {role.value.lower(): role for role in MEMBERS}
    for name in (language(), DEFAULT):
        with using_language(name):
            roles |= {str(ROLE_NAMES[role]).lower(): role for role in MEMBERS}
    return roles


def _many_page(form: InviteManyForm) -> str:
    with transaction(read_only=True) as session:
        seats = own_seats(session)
    return render_template(
        "portal/users/invite_many.html",
        form=form,
        seats=seats,
        organizations=suggested_organizations(),
        max_users=MAX_USERS,
        organization_id=organization_id_of_url(),
        back_url=back_url(),
    )


def _sent(form: InviteManyForm) -> list[Invitee] | None:
    """Return the rows of the page with its input, or those of the first form; None, with the
    reason at its field, if they can't be read."""
    if not form.validate():
        return None
    sent: FileStorage | None = form.file.data
    try:
        if form.rows.data:
            return users.from_lines(corrected_lines(form.rows.data, users.COLUMNS))
        text = _file_text(sent) if sent else form.users.data or ""
        return users.read_invitees(text, _roles())
    except ValidationFailed as error:
        apply_row_errors(form, error)
        return None


def _check(form: InviteManyForm, rows: Sequence[Invitee]) -> Page:
    chosen = None
    with transaction(read_only=True) as session:
        try:
            chosen = _chosen(session, form)
        except ValidationFailed as error:
            form.apply_errors(error)
        checked = users.check_many(session, caller(), rows, _defaults(form, chosen))
    if form.organization.errors and not form.rows.data:
        return _many_page(form), 422
    page = _checked_page(form, checked)
    return (page, 422) if form.organization.errors else page


def _chosen(session: Session, form: InviteManyForm) -> UUID | None:
    """Return the organization for rows that name none. Raises `ValidationFailed`."""
    own = caller().organization_id
    if own is None and form.organization.data:
        return organization_id_by_name(session, form.organization.data)
    return own


def _defaults(form: InviteManyForm, organization_id: UUID | None) -> InviteDefaults:
    return InviteDefaults(organization_id, Role(form.role.data), _roles())


def _mark(checked: Sequence[CheckedInvitee]) -> str:
    """Return a mark that changes with any row or result."""
    results = [(each.row, each.outcome, each.organization_id, each.role) for each in checked]
    return sha256(repr(results).encode()).hexdigest()


def _refuse_changed(
    session: Session, form: InviteManyForm, rows: Sequence[Invitee]
) -> dict[str, Any]:
    """Check the mark. Raises `ValidationFailed`, and `Conflict` if the page showed something
    else."""
    defaults = _defaults(form, _chosen(session, form))
    if form.checked.data != _mark(users.check_many(session, caller(), rows, defaults).rows):
        message = gettext("The list has changed since the check. Review it, then invite.")
        raise Conflict(message, CHANGED_MEANWHILE)
    return {}


def _checked_page(
    form: InviteManyForm, checked: CheckedInvitees, invited: Sequence[DoneRow] = ()
) -> str:
    """Return the page. ``invited`` are the users who were just invited, whose rows aren't among
    those checked."""
    rows = [each.row for each in checked.rows]
    form.rows.data = pasted_lines.as_text(users.COLUMNS, users.to_lines(rows))
    form.checked.data = _mark(checked.rows)
    return render_template(
        "portal/users/invite_many_checked.html",
        form=form,
        review=review_of(form, checked.rows, invited, _roles()),
        valid=[each for each in checked.rows if not each.is_refused],
        full_organizations=checked.full,
        organizations=suggested_organizations(),
    )


def _file_text(sent: FileStorage) -> str:
    """Return the file's text. Raises `ValidationFailed`."""
    message = gettext(
        "The file is larger than 300 kB. Invite at most %(most)s users at a time.", most=MAX_USERS
    )
    return file_text(sent, MAX_BYTES, message)
