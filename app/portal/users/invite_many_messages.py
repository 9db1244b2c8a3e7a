"""What the page of checked invitations says."""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import url_for
from wtforms.fields.choices import SelectChoice

from app.enums import Role
from app.extensions import caller
from app.languages import gettext, lazy_gettext, ngettext, pgettext
from app.portal.users.forms import InviteManyForm
from app.portal.users.views import back_url, organization_id_of_url
from app.portal.web.checked_rows import Cell, DoneRow, Review, RowToFix, messages_by_cell
from app.portal.web.formats import number
from app.services.users import CheckedInvitee

LABELS = {
    "email": lazy_gettext("Email"),
    "name": lazy_gettext("Name"),
    "organization": lazy_gettext("Organization"),
    "role": lazy_gettext("Role"),
}
"""The cells of a row, in the order of the columns."""


def review_of(
    form: InviteManyForm,
    checked: Sequence[CheckedInvitee],
    invited: Sequence[DoneRow],
    roles: Mapping[str, Role],
) -> Review:
    """Return the page; ``roles`` are those of members by their names."""
    given = organization_id_of_url()
    refused = [each for each in checked if each.is_refused]
    ready = sum(each.is_ready for each in checked)
    start = url_for("portal.users.new_users", organization=given)
    return Review(
        title=_title(len(invited)),
        lead="" if invited else gettext("No one is invited yet."),
        trail=[
            (gettext("Users"), url_for("portal.users.list_users")),
            (gettext("Invite several"), start),
            (gettext("Review"), None),
        ],
        check_url=url_for("portal.users.check_users", organization=given),
        use_url=url_for("portal.users.invite_users", organization=given),
        apply_label=_invite_label(ready, len(refused)),
        busy_label=gettext("Inviting…"),
        start_url=start,
        done_url=back_url(),
        to_fix=[
            RowToFix(position, each.row.number, _cells(form, each, roles))
            for position, each in enumerate(checked)
            if each.is_refused
        ],
        ready=ready,
        done=invited,
        done_title=pgettext("users", "Invited"),
        symbol="user",
        asks=_asks_for_organization(form, refused),
    )


def _title(invited: int) -> str:
    if not invited:
        return gettext("Review rows")
    return ngettext("%(num)s user invited", "%(num)s users invited", invited, num=number(invited))


def _invite_label(ready: int, refused: int) -> str:
    if refused:
        return gettext(
            "Invite %(good)s, leave out %(bad)s", good=number(ready), bad=number(refused)
        )
    return ngettext("Invite %(num)s user", "Invite %(num)s users", ready, num=number(ready))


def _asks_for_organization(form: InviteManyForm, refused: Sequence[CheckedInvitee]) -> bool:
    """Whether the page asks for the organization of rows that name none."""
    is_missing = any(each.row.organization is None for each in refused)
    return caller().organization_id is None and (bool(form.organization.errors) or is_missing)


def _cells(form: InviteManyForm, checked: CheckedInvitee, roles: Mapping[str, Role]) -> list[Cell]:
    row = checked.row
    messages = messages_by_cell(checked.problems, {name: name for name in LABELS}, "organization")

    def cell(name: str, **more: Any) -> Cell:
        value = getattr(row, name) or ""
        problems = messages.get(name, [])
        return Cell(name=name, label=LABELS[name], value=value, problems=problems, **more)

    return [
        cell("email"),
        cell("name"),
        cell(
            "organization",
            options="" if caller().organization_id else "row-organizations",
            placeholder=form.organization.data or "",
            suggestion=checked.nearest,
        ),
        cell("role", choices=_role_choices(form, row.role or "", roles)),
    ]


def _role_choices(
    form: InviteManyForm, written: str, roles: Mapping[str, Role]
) -> list[SelectChoice]:
    """Return the roles, each with the text that means it in this row, and before them a text that
    means none."""
    role = roles.get(written.lower())
    choices = [] if role or not written else [SelectChoice(written, written)]
    for choice in form.role.choices:
        if choice.value == role:
            value = written
        elif choice.value == form.role.data:
            value = ""
        else:
            value = choice.value
        choices.append(SelectChoice(value, choice.label))
    return choices
