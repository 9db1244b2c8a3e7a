"""The filters of a list that aren't among its fields, in words."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID

from flask import request
from sqlalchemy.orm import Session

from app.errors import Forbidden, NotFound
from app.extensions import caller, transaction
from app.portal.audit.saved_views import days_of_filters, filter_label
from app.portal.web.blueprint import portal
from app.portal.web.list_pages import ListPage
from app.services import assistants, campaigns, organizations, partners
from app.validation.uuids import as_uuid


@portal.app_template_global()
def filters_in_use(page: ListPage[Any], names: Sequence[str]) -> int:
    """Return how many of these filters are set; a first and a last day are one."""
    filters = page.kept(*names)
    return len(filters) - (days_of_filters(dict(filters)) is not None)


@portal.app_template_global()
def filter_chips(page: ListPage[Any]) -> list[tuple[str, str]]:
    """Return each filter in words with the URL of the list without it."""
    definition = page.definition
    in_view = {*(each.name for each in definition.first_filters), *definition.sticky}
    extra_filters = [
        (name, value)
        for name in definition.parameters
        if name not in in_view and (value := request.args.get(name))
    ]
    if not extra_filters:
        return []
    chips = []
    days = days_of_filters(dict(extra_filters))
    if days is not None:
        label, ends = days
        chips.append((label, page.url_without(ends)))
        extra_filters = [(name, value) for name, value in extra_filters if name not in ends]
    with transaction(read_only=True) as session:
        names = names_in(session, request.args)
    return chips + [
        (filter_label(definition, name, value, names), page.url_without([name]))
        for name, value in extra_filters
    ]


def names_in(session: Session, values: Mapping[str, str]) -> dict[UUID, str]:
    """Return the names of the records whose ids the filters have."""
    names = {}
    for name, get in (
        ("organization", organizations.get),
        ("agent", assistants.get),
        ("campaign", campaigns.get),
        ("partner", partners.get),
    ):
        if (record_id := as_uuid(values.get(name, ""))) is not None:
            with suppress(Forbidden, NotFound):
                names[record_id] = get(session, caller(), record_id).name
    return names
