"""The entries of the history, as its table shows them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from flask import url_for
from sqlalchemy.orm import Session

from app.extensions import caller
from app.languages import gettext, ngettext
from app.models import AuditEntry
from app.policy import Permission
from app.portal.access.labels import PERMISSION_LABELS, permission_label
from app.portal.alerts.views import titles_of
from app.portal.audit import saved_views
from app.portal.audit.field_labels import field_label
from app.portal.audit.values import format_value, sides
from app.portal.branding.labels import PICTURE_FIELDS
from app.portal.personal_data.labels import TABLE_LABELS
from app.portal.web.formats import size
from app.portal.web.navigation import may_open
from app.portal.web.user_timezone import zone
from app.services import alerts, audit
from app.services.audit import search as audit_search
from app.services.exports.labels import SUBJECT_TITLES

PAGES = {
    "organization": ("portal.organizations.show_organization", "organization_id"),
    "user": ("portal.users.show_user", "user_id"),
    "campaign": ("portal.campaigns.show_campaign", "campaign_id"),
    "upload": ("portal.uploads.show_upload", "upload_id"),
    "call": ("portal.calls.show_call", "call_id"),
    "agent": ("portal.assistants.show_assistant", "assistant_id"),
    "api_key": ("portal.api_access.show_key", "key_id"),
    "client": ("portal.api_access.show_client", "client_id"),
    "alert": ("portal.alerts.list_alerts", None),
    "alert_rule": ("portal.alerts.list_alerts", None),
    "webhook": ("portal.webhooks.list_webhooks", None),
    "phone_number": ("portal.phone_numbers.list_numbers", None),
    "organization_template": ("portal.organization_templates.list_templates", None),
    "plan_version": ("portal.pricing.show_pricing", None),
    "brand_version": ("portal.branding.show_branding", None),
    "brand_image": ("portal.branding.show_branding", None),
}
"""The pages of records, with the name of the id in their URLs if these kinds are never deleted,
else those that list them."""
VERSION_PAGES = {
    "branding.published": "portal.branding.show_version",
    "pricing.published": "portal.pricing.show_version",
}
"""The pages of published versions, from which users can roll back."""
_PICTURES = {picture.kind: picture.name for picture in PICTURE_FIELDS}
_VERSION = re.compile(r"Version (\d+)")


UNSHOWN = {
    *(("alert_rule", "measure"), ("alert_rule", "scope")),
    *(("call", "live"), ("list_export", "list"), ("history", "digest")),
    *(("do_not_call", "numbers"), ("do_not_call", "reasons")),
}
"""Fields that are not shown: those that the words of a record repeat, those that mislead (a call
with the simulated carrier is requested as a live one), and those that only `flask audit verify`
reads."""


UNSHOWN_OF_SUBJECTS = {(name, "filters") for name in SUBJECT_TITLES}
"""The ids of the person whose data an export has."""


@dataclass(frozen=True, slots=True)
class EntryChange:
    field: str
    old: str | None
    new: str | None


def table_of(
    session: Session, entries: Sequence[AuditEntry], names: Mapping[UUID, str] | None = None
) -> dict[str, Any]:
    """Return what the table of these entries needs besides them; the ``names`` of their
    organizations are read unless they are given."""
    if names is None:
        names = audit_search.organization_names(session, entries)
    assistants = audit_search.assistant_names(session, entries)
    in_filters = saved_views.organizations_in(session, entries)
    return {
        "names": names,
        "targets": targets_of(session, entries, names),
        "changes": partial(_changes, assistants=assistants, organizations={**names, **in_filters}),
        "url_of": url_of,
    }


def targets_of(
    session: Session, entries: Sequence[AuditEntry], names: Mapping[UUID, str] | None = None
) -> dict[UUID, str]:
    """Return the targets whose names differ from the stored English ones, by the ids of the
    entries; ``names`` as `table_of`."""
    titles = titles_of(session, entries)
    words_by_entry = {
        entry.id: titles[entry.target_id] for entry in entries if entry.target_id in titles
    }
    words_by_entry |= {
        entry.id: saved_views.list_label(entry.target or "")
        for entry in entries
        if entry.target_type == "list_export"
    }
    words_by_entry |= {
        entry.id: str(_PICTURES.get(entry.target or "", entry.target))
        for entry in entries
        if entry.target_type == "brand_image"
    }
    words_by_entry |= {
        entry.id: gettext("Version %(number)s", number=version[1])
        for entry in entries
        if entry.target_type in ("brand_version", "plan_version")
        and (version := _VERSION.fullmatch(entry.target or ""))
    }
    words_by_entry |= {
        entry.id: ngettext("%(num)s number", "%(num)s numbers", count)
        for entry in entries
        if entry.action == audit.NUMBER_LISTED
        and isinstance(count := (entry.after or {}).get("numbers"), int)
        and count > 1
    }
    words_by_entry |= {
        entry.id: permission_label(Permission(entry.target), entry.target_id)
        for entry in entries
        if entry.target_type == "request" and entry.target in PERMISSION_LABELS
    }
    return words_by_entry | alerts.sentences_of(session, caller(), entries, names)


def _changes(
    entry: AuditEntry, assistants: Mapping[str, str], organizations: Mapping[UUID, str]
) -> list[EntryChange]:
    if entry.action == "brand_image.uploaded":
        return _picture_change(entry.after or {})
    old, new = entry.before or {}, entry.after or {}
    is_view = entry.target_type in ("saved_view", "list_export")
    tables = TABLE_LABELS if entry.action.endswith((".erased", ".erasure_failed")) else {}
    list_name = new.get("list") or old.get("list")

    def record_label(name: str, side: Mapping[str, Any]) -> str | None:
        """Return the words of values that name other records."""
        if name not in side:
            return None
        if name in audit_search.ASSISTANT_FIELDS and side[name] in assistants:
            return assistants[side[name]]
        if name == "organizationId" and side[name] and UUID(side[name]) in organizations:
            return organizations[UUID(side[name])]
        if is_view and name == "filters":
            return saved_views.filters_label(list_name, side[name], organizations)
        if is_view and name == "list":
            return saved_views.list_label(side[name])
        return None

    def change(name: str) -> EntryChange:
        before, after = sides(entry, name, zone())
        label = str(tables.get(name, field_label(name)))
        return EntryChange(
            label, record_label(name, old) or before, record_label(name, new) or after
        )

    changes = [
        change(name)
        for name in {**old, **new}
        if (entry.target_type, name) not in UNSHOWN
        if (list_name, name) not in UNSHOWN_OF_SUBJECTS
        if name in old or new[name] is False or new[name] != 0
    ]
    changes += [
        EntryChange(
            format_value(phone), None, format_value(reason) if reason else gettext("no reason")
        )
        for phone, reason in new.get("reasons", {}).items()
    ]
    repeated = (None, entry.target)  # the name of the added record
    visible = [each for each in changes if (each.old, each.new) not in ((None, None), repeated)]
    return sorted(visible, key=lambda change: change.field)


def _picture_change(details: Mapping[str, Any]) -> list[EntryChange]:
    """Return the measures of a picture as one value."""
    measures = gettext(
        "%(width)s × %(height)s pixels, %(size)s",
        width=details.get("width"),
        height=details.get("height"),
        size=size(details.get("size") or 0),
    )
    return [EntryChange(gettext("New picture"), None, measures)]


def url_of(entry: AuditEntry) -> str | None:
    """Return the URL of the changed record's page, if there is one that the user may open. Records
    of no partner, such as operators, have none."""
    if version := _VERSION.fullmatch(entry.target or ""):
        page = VERSION_PAGES.get(entry.action)
        is_own_partner = page is not None and entry.partner_id == caller().partner_id
        return (
            url_for(page, number=version[1])
            if page and is_own_partner and may_open(caller(), page)
            else None
        )
    endpoint, parameter = PAGES.get(entry.target_type, (None, None))
    if endpoint is None or entry.partner_id is None or not may_open(caller(), endpoint):
        return None
    if parameter is None:
        return url_for(endpoint) if entry.partner_id == caller().partner_id else None
    values: dict[str, Any] = {parameter: entry.target_id}
    return url_for(endpoint, **values)
