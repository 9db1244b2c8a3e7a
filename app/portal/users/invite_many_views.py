"""Inviting several users at once, with a result for each of them."""

from collections.abc import Sequence

from flask import render_template, request
from werkzeug.datastructures import FileStorage

from app.enums import Role
from app.errors import ValidationFailed
from app.extensions import caller, transaction
from app.languages import DEFAULT, gettext, language, speaking
from app.portal.users.forms import InviteManyForm
from app.portal.users.views import suggested_organizations
from app.portal.web.blueprint import portal
from app.portal.web.forms import refused
from app.portal.web.navigation import ROLE_NAMES
from app.services import organizations, users
from app.services.pasted_lines import decoded
from app.services.users import LineResult, Outcome
from app.services.users.inviting import MOST_USERS
from app.services.users.loading import MEMBERS
from app.validation.uuids import as_uuid

Page = str | tuple[str, int]

MOST_BYTES = 300_000


@portal.get("/people/invite-many")
def users_invite_many() -> str:
    form = _form()
    given = as_uuid(request.args.get("organization", ""))
    if given is not None and caller().organization_id is None:
        with transaction(read_only=True) as session:
            form.organization.data = organizations.get(session, caller(), given).name
    return _many_page(form)


@portal.post("/people/invite-many")
def users_invite_many_send() -> Page:
    """Invite line by line; in a repeated form, users invited before are skipped without a second
    mail."""
    form = _form()
    if not form.validate():
        return _many_page(form), 422
    sent: FileStorage | None = form.file.data
    try:
        text = _file_text(sent) if sent else form.users.data or ""
        wanted = users.read_invitees(text)
    except ValidationFailed as error:
        if sent:
            form.file.errors = (error.message,)
            return _many_page(form), 422
        return refused(error, form, lambda: _many_page(form))
    usual = (form.organization.data or "").strip()
    try:
        with transaction() as session:
            chosen = caller().organization_id
            if usual and chosen is None:
                chosen = users.by_name(session, caller(), usual).id
            results, full = users.invite_where_all_fit(
                session,
                caller(),
                wanted,
                organization_id=chosen,
                role=Role(form.role.data),
                roles=_roles(),
            )
    except ValidationFailed as error:
        return refused(error, form, lambda: _many_page(form))
    form.users.data = _refused_lines(results, text)
    return render_template(
        "portal/users/invited.html",
        results=results,
        full=full,
        counts={outcome: sum(r.outcome is outcome for r in results) for outcome in Outcome},
        form=form,
        organizations=suggested_organizations(),
    )


def _form() -> InviteManyForm:
    form = InviteManyForm()
    form.offer(users.types_for(caller()))
    return form


def _roles() -> dict[str, Role]:
    """Return the roles of members by their names, in the language of the user and in English, and
    by those of the API."""
    found = {role.value.lower(): role for role in MEMBERS}
    for name in (language(), DEFAULT):
        with speaking(name):
            found |= {str(ROLE_NAMES[role]).lower(): role for role in MEMBERS}
    return found


def _many_page(form: InviteManyForm) -> str:
    return render_template(
        "portal/users/invite_many.html",
        form=form,
        organizations=suggested_organizations(),
        most=MOST_USERS,
    )


def _file_text(sent: FileStorage) -> str:
    """Return the file's text. Raises `ValidationFailed`."""
    data = sent.stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        message = gettext(
            "The file is larger than 300 kB. Invite at most %(most)s users at a time.",
            most=MOST_USERS,
        )
        raise ValidationFailed.on("file", "too_large", message)
    return decoded(data)


def _refused_lines(results: Sequence[LineResult], text: str) -> str:
    """Return the lines to fix, as they were typed."""
    lines = text.splitlines()
    refused = [result.line for result in results if result.outcome is Outcome.REFUSED]
    numbers = dict.fromkeys(refused)
    return "\n".join(lines[number - 1] for number in numbers if number <= len(lines))
