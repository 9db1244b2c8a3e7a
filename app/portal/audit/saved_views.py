"""The saved views and exports of lists in the history, in words."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any
from urllib.parse import parse_qsl
from uuid import UUID

from sqlalchemy.orm import Session

from app.extensions import caller
from app.languages import gettext, labelled, lazy_gettext, lazy_pgettext, pgettext
from app.languages.dates import format_date_range
from app.models import AuditEntry
from app.portal.audit.field_labels import field_label
from app.portal.audit.labels import action_label
from app.portal.audit.values import format_value
from app.portal.web.formats import day
from app.portal.web.list_definitions import KNOWN, ListDefinition
from app.portal.web.list_messages import ALL_LABELS
from app.portal.web.user_timezone import TIMES
from app.services import organizations
from app.services.exports.labels import SUBJECT_TITLES
from app.validation.uuids import as_uuid

_FIRST_DAYS, _LAST_DAYS = ("start", "since"), ("end", "until")
Names = Mapping[UUID, str]
_EXTRA_FILTERS: dict[str, tuple[str, Mapping[str, str]]] = {
    "within": (lazy_gettext("Time"), TIMES),
    "round": (lazy_gettext("Campaign round"), {"current": lazy_gettext("Current round")}),
    "live": (
        lazy_gettext("Live or test"),
        {
            "yes": lazy_pgettext("calls", "Live"),
            "no": lazy_gettext("Made with a test key"),
        },
    ),
    "counted": (
        lazy_gettext("Calls"),
        {"yes": lazy_gettext("Counted in usage"), "billed": lazy_gettext("Counted in statements")},
    ),
}
"""Filters that all lists share, besides their own: labels and options."""


def organizations_in(session: Session, entries: Sequence[AuditEntry]) -> Names:
    """Return the names of the organizations in the filters of these entries."""
    queries = [
        side.get("filters") or ""
        for entry in entries
        if entry.target_type in ("saved_view", "list_export")
        for side in (entry.before, entry.after)
    ]
    values = [value for query in queries for _name, value in parse_qsl(query)]
    ids = {organization_id for value in values if (organization_id := as_uuid(value)) is not None}
    return organizations.names_of(session, caller(), ids) if ids else {}


def list_label(name: str) -> str:
    return str({**ALL_LABELS, **SUBJECT_TITLES}.get(name, name))


def filters_label(list_name: str | None, query: str, names: Names) -> str:
    """Return filters, sort order and columns: "Status: Failed; Sort order: Name"."""
    definition = KNOWN.get(list_name or "")
    if definition is None or not query:
        return format_value(query)
    pairs = parse_qsl(query)
    descriptions = filter_labels(definition, query, names)
    labels = {column.name: str(column.label) for column in definition.columns}
    for value in (value for name, value in pairs if name == "sort"):
        sort = value.lstrip("-")
        column_label = next((c.label for c in definition.columns if c.sort == sort), value)
        descriptions.append(gettext("Sorted by: %(column)s", column=column_label))
    if columns := [labels.get(value, value) for name, value in pairs if name == "column"]:
        descriptions.append(gettext("Columns: %(columns)s", columns=", ".join(columns)))
    return "; ".join(descriptions)


def filter_labels(definition: ListDefinition[Any], query: str, names: Names) -> list[str]:
    """Return each filter of the query string: "Status: Failed". A first and a last day are one."""
    filters = [pair for pair in parse_qsl(query) if pair[0] not in ("sort", "column")]
    day_range, ends = days_of_filters(dict(filters)) or (None, ())
    return [
        *filter(None, [day_range]),
        *(
            filter_label(definition, name, value, names)
            for name, value in filters
            if name not in ends
        ),
    ]


def filter_label(definition: ListDefinition[Any], name: str, value: str, names: Names) -> str:
    list_filter = next((each for each in definition.filters if each.name == name), None)
    options = (list_filter.shown_options if list_filter else None) or {}
    label = list_filter.label if list_filter else field_label(name)
    if list_filter is None and name in _EXTRA_FILTERS:
        label, options = _EXTRA_FILTERS[name]
    if name == "action":
        return labelled(label, action_label(value))
    if name in _FIRST_DAYS + _LAST_DAYS and (bound := _day(value)) is not None:
        prefix = (
            pgettext("first day", "From") if name in _FIRST_DAYS else pgettext("last day", "to")
        )
        return f"{prefix} {day(bound)}"
    organization_id = as_uuid(value)
    named = names.get(organization_id, value) if organization_id else value
    text = str(options.get(value) or format_value(named, name=name))
    return text if text.startswith(f"{label} ") else labelled(label, text)


def days_of_filters(filters: Mapping[str, str]) -> tuple[str, tuple[str, str]] | None:
    """Return the days of a list in words, with the names of the filters of its first and last day;
    None unless it has both."""
    for names in zip(_FIRST_DAYS, _LAST_DAYS, strict=True):
        first, last = (_day(filters.get(name, "")) for name in names)
        if first is not None and last is not None and first <= last:
            return format_date_range(first, last), names
    return None


def _day(value: str) -> date | None:
    try:
        return date.fromisoformat(value)
    except ValueError:
        return None
