"""What the page of checked rows says before organizations are added."""

from collections.abc import Sequence

from flask import url_for

from app.languages import gettext, lazy_gettext, ngettext, pgettext
from app.portal.web.checked_rows import Cell, DoneRow, Review, RowToFix, add_label, messages_by_cell
from app.portal.web.formats import number
from app.portal.web.region_choices import named_regions
from app.services.organization_templates import CheckedRow, OpenedTemplate

LABELS = {
    "name": lazy_gettext("Name"),
    "email": lazy_gettext("Email"),
    "user_name": lazy_gettext("First user"),
    "country": lazy_gettext("Country"),
    "timezone": lazy_gettext("Time zone"),
}
"""The cells of a row, in the order of the columns."""
OF_FIRST_USER = {"email", "user_name"}
_CELLS = {
    "email": "email",
    "userName": "user_name",
    "defaultRegion": "country",
    "timezone": "timezone",
}
"""The cells by the field of a problem."""


def review_of(
    opened: OpenedTemplate, checked: Sequence[CheckedRow], created: Sequence[CheckedRow]
) -> Review:
    template_id = opened.template.id
    invites = opened.content.first_role is not None
    names = [name for name in LABELS if invites or name not in OF_FIRST_USER]
    refused = sum(bool(each.problems) for each in checked)
    ready = len(checked) - refused
    start = url_for(
        "portal.organization_templates.new_organizations_from_template", template_id=template_id
    )
    countries = {choice.value: choice.label for choice in named_regions()}
    return Review(
        title=_title(len(created)),
        lead="" if created else gettext("Nothing is added yet."),
        trail=[
            (gettext("Organizations"), url_for("portal.organizations.list_organizations")),
            (gettext("Templates"), url_for("portal.organization_templates.list_templates")),
            (
                opened.template.name,
                url_for("portal.organization_templates.show_template", template_id=template_id),
            ),
            (gettext("From a file"), start),
            (gettext("Review"), None),
        ],
        check_url=url_for(
            "portal.organization_templates.check_organizations", template_id=template_id
        ),
        use_url=url_for(
            "portal.organization_templates.create_organizations_from_template",
            template_id=template_id,
        ),
        apply_label=add_label(ready, refused, _all_ready_label(ready)),
        busy_label=gettext("Adding…"),
        start_url=start,
        done_url=url_for("portal.organizations.list_organizations"),
        to_fix=[
            RowToFix(position, each.row.number, _cells(each, names, countries))
            for position, each in enumerate(checked)
            if each.problems
        ],
        ready=ready,
        done=[_added(each) for each in created],
        done_title=pgettext("organizations", "Added"),
        symbol="building",
    )


def _title(created: int) -> str:
    if not created:
        return gettext("Review rows")
    return ngettext(
        "%(num)s organization added", "%(num)s organizations added", created, num=number(created)
    )


def _all_ready_label(ready: int) -> str:
    return ngettext(
        "Add %(num)s organization", "Add %(num)s organizations", ready, num=number(ready)
    )


def _added(created: CheckedRow) -> DoneRow:
    details = created.row.details
    url = url_for("portal.organizations.show_organization", organization_id=created.organization_id)
    return DoneRow(details.name, details.email or "", url)


def _cells(checked: CheckedRow, names: Sequence[str], countries: dict[str, str]) -> list[Cell]:
    messages = messages_by_cell(checked.problems, _CELLS, "name")
    values = {name: getattr(checked.row.details, name) or "" for name in names}
    values["country"] = countries.get(values["country"], values["country"])
    return [
        Cell(
            name=name,
            label=LABELS[name],
            value=values[name],
            problems=messages.get(name, ()),
            options=f"row-{name}" if name in {"country", "timezone"} else "",
        )
        for name in names
    ]
