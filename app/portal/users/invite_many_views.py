"""Inviting several users at once: their lines are checked and fixed on the page first."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any
from uuid import UUID

from flask import flash, render_template, request
from sqlalchemy.orm import Session
from werkzeug.datastructures import FileStorage

from app.enums import Role
from app.errors import CHANGED_MEANWHILE, Conflict, ValidationFailed
from app.extensions import caller, transaction
from app.languages import DEFAULT, gettext, language, lazy_gettext, ngettext, using_language
from app.portal.users.forms import InviteManyForm
from app.portal.users.views import (
    back_url,
    given_organization,
    named_organization,
    own_seats,
    suggested_organizations,
)
from app.portal.web.blueprint import Page, portal
from app.portal.web.editing import FormSubmission
from app.portal.web.fields import without_nul
from app.portal.web.messages import redirect_with
from app.portal.web.navigation import ROLE_NAMES
from app.services import organizations, users
from app.services.pasted_lines import decoded
from app.services.users import (
    MAX_USERS,
    FullOrganization,
    InviteDefaults,
    Invitee,
    InviteOutcome,
    LineResult,
)
from app.services.users.loading import MEMBERS

MAX_BYTES = 300_000
CELLS = {
    "email": lazy_gettext("Email"),
    "name": lazy_gettext("Name"),
    "organization": lazy_gettext("Organization"),
    "role": lazy_gettext("Role"),
}
"""The parts of a line that can be fixed on the page, with their columns."""


@portal.get("/users/invite-many")
def users_invite_many() -> str:
    form = _form()
    given = given_organization()
    if given is not None:
        with transaction(read_only=True) as session:
            form.organization.data = organizations.get(session, caller(), given).name
    return _many_page(form)


@portal.post("/users/invite-many/check")
def users_invite_many_check() -> Page:
    """Show each line with its problems; nothing is written."""
    form = _form()
    wanted = _sent(form)
    return _check(form, wanted) if wanted else (_many_page(form), 422)


@portal.post("/users/invite-many")
def users_invite_many_send() -> Page:
    """Invite the users that the page showed as ready. If the lines, or what they depend on, have
    changed, the page is shown again first."""
    form = _form()
    wanted = _sent(form)
    if not wanted:
        return _many_page(form), 422
    try:
        results, full = _invite(form, wanted)
    except (ValidationFailed, Conflict) as error:
        return _check_again(form, wanted, error)
    return _invited_page(form, wanted, results, full)


def _check_again(
    form: InviteManyForm, wanted: Sequence[Invitee], error: ValidationFailed | Conflict
) -> Page:
    if error.code == CHANGED_MEANWHILE:
        flash(error.message, "info")
    return _check(form, wanted)


def _invite(
    form: InviteManyForm, wanted: Sequence[Invitee]
) -> tuple[Sequence[LineResult], Sequence[FullOrganization]]:
    """Invite the users. Raises `ValidationFailed`, and `Conflict` if the page showed something
    else."""
    with transaction() as session:
        submission = FormSubmission(session, notice=gettext("These users were invited before."))
        defaults = _defaults(form, _chosen(session, form))
        results, full = users.invite_within_limits(session, caller(), wanted, defaults)
        _refuse_changed(form, wanted, results)
        submission.led_to(back_url())
    return results, full


def _invited_page(
    form: InviteManyForm,
    wanted: Sequence[Invitee],
    results: Sequence[LineResult],
    full: Sequence[FullOrganization],
) -> Page:
    """Show the remaining lines, or return to where the invitation started."""
    invited = [
        (line, result.organization or "")
        for line, result in zip(wanted, results, strict=True)
        if result.outcome is InviteOutcome.INVITED
    ]
    left = [at for at, result in enumerate(results) if result.outcome is InviteOutcome.REFUSED]
    if left:
        rest, refused = [wanted[at] for at in left], [results[at] for at in left]
        return _checked_page(form, rest, refused, full, invited=invited)
    words = ngettext("%(num)s user invited.", "%(num)s users invited.", len(invited))
    return redirect_with(words, back_url())


def _form() -> InviteManyForm:
    form = InviteManyForm()
    form.offer(users.types_for(caller()))
    return form


def _roles() -> dict[str, Role]:
    """Return the roles of members by their names, in the language of the user and in English, and
    by those of the API."""
    found = {role.value.lower(): role for role in MEMBERS}
    for name in (language(), DEFAULT):
        with using_language(name):
            found |= {str(ROLE_NAMES[role]).lower(): role for role in MEMBERS}
    return found


def _many_page(form: InviteManyForm) -> str:
    with transaction(read_only=True) as session:
        seats = own_seats(session)
    return render_template(
        "portal/users/invite_many.html",
        form=form,
        seats=seats,
        organizations=suggested_organizations(),
        most=MAX_USERS,
        given=given_organization(),
        back_url=back_url(),
    )


def _sent(form: InviteManyForm) -> list[Invitee] | None:
    """Return the lines of the page with its input, or those of the first form; None, with the
    reason at its field, if they can't be read."""
    if not form.validate():
        return None
    sent: FileStorage | None = form.file.data
    try:
        if not form.rows.data:
            text = _file_text(sent) if sent else form.users.data or ""
            return users.read_invitees(text, _roles())
        wanted = _with_fixes(users.from_text(form.rows.data))
        users.check_count(wanted)
    except ValidationFailed as error:
        if sent:
            form.file.errors = (error.message,)
        else:
            form.apply_errors(error)
        return None
    return wanted


def _with_fixes(wanted: Sequence[Invitee]) -> list[Invitee]:
    """Return the lines that weren't left out, with the corrected cells or the organization of the
    pressed button."""
    fixed = []
    for at, line in enumerate(wanted):
        if f"remove-{at}" in request.form:
            continue
        typed: dict[str, Any] = {
            name: " ".join(without_nul(request.form[f"{name}-{at}"]).splitlines()) or None
            for name in CELLS
            if f"{name}-{at}" in request.form
        }
        if "email" in typed:
            typed["email"] = typed["email"] or ""
        if chosen := request.form.get(f"nearest-{at}"):
            typed["organization"] = without_nul(chosen)
        fixed.append(replace(line, **typed))
    return fixed


def _check(form: InviteManyForm, wanted: Sequence[Invitee]) -> Page:
    chosen = None
    try:
        with transaction(read_only=True) as session:
            chosen = _chosen(session, form)
    except ValidationFailed as error:
        form.apply_errors(error)
        if not form.rows.data:
            return _many_page(form), 422
    with transaction() as session:
        results, full = users.check_many(session, caller(), wanted, _defaults(form, chosen))
    page = _checked_page(form, wanted, results, full)
    return (page, 422) if form.organization.errors else page


def _chosen(session: Session, form: InviteManyForm) -> UUID | None:
    """Return the organization for lines that name none. Raises `ValidationFailed`."""
    own = caller().organization_id
    if own is None and form.organization.data:
        return named_organization(session, form.organization.data)
    return own


def _defaults(form: InviteManyForm, organization_id: UUID | None) -> InviteDefaults:
    return InviteDefaults(organization_id, Role(form.role.data), _roles())


def _mark(wanted: Sequence[Invitee], results: Sequence[LineResult]) -> str:
    """Return a mark that changes with any line or result."""
    outcomes = [(each.outcome, each.organization_id, each.role) for each in results]
    return sha256(repr((users.as_text(wanted), outcomes)).encode()).hexdigest()


def _refuse_changed(
    form: InviteManyForm, wanted: Sequence[Invitee], results: Sequence[LineResult]
) -> None:
    """Check the mark. Raises `Conflict` if the page showed something else."""
    if form.checked.data != _mark(wanted, results):
        message = gettext("The list has changed since the check. Review it, then invite.")
        raise Conflict(message, CHANGED_MEANWHILE)


def _checked_page(
    form: InviteManyForm,
    wanted: Sequence[Invitee],
    results: Sequence[LineResult],
    full: Sequence[FullOrganization],
    *,
    invited: Sequence[tuple[Invitee, str]] | None = None,
) -> str:
    """Return the page. ``invited`` are the users who were just invited, with their organizations;
    these lines exclude them."""
    form.rows.data, form.checked.data = users.as_text(wanted), _mark(wanted, results)
    lines = list(zip(wanted, results, strict=True))
    return render_template(
        "portal/users/invite_many_checked.html",
        form=form,
        bad=[
            (at, line, result)
            for at, (line, result) in enumerate(lines)
            if result.outcome is InviteOutcome.REFUSED
        ],
        good=[pair for pair in lines if pair[1].outcome is not InviteOutcome.REFUSED],
        ready=sum(result.outcome is InviteOutcome.INVITED for result in results),
        full=full,
        invited=invited,
        cells=CELLS,
        roles=_roles(),
        organizations=suggested_organizations(),
        given=given_organization(),
        back_url=back_url(),
    )


def _file_text(sent: FileStorage) -> str:
    """Return the file's text. Raises `ValidationFailed`."""
    data = sent.stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        message = gettext(
            "The file is larger than 300 kB. Invite at most %(most)s users at a time.",
            most=MAX_USERS,
        )
        raise ValidationFailed.on("file", "too_large", message)
    return decoded(data)
