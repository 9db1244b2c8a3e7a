"""The history: who changed what, when and from where, with the values before and after."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from flask import redirect, render_template, url_for

from app.extensions import caller, transaction
from app.models import AuditEntry
from app.portal.audit.labels import ACTION_WORDS, ACTOR_WORDS, field_words
from app.portal.audit.listing import HISTORY
from app.portal.audit.values import value_words
from app.portal.web import organization_picker
from app.portal.web.blueprint import Page, portal
from app.portal.web.list_pages import list_page
from app.portal.web.navigation import may_open
from app.portal.web.user_timezone import zone
from app.services.audit import search as audit_search

PAGES = {
    "organization": ("portal.organization", "organization_id"),
    "user": ("portal.user", "user_id"),
    "campaign": ("portal.campaign", "campaign_id"),
    "upload": ("portal.upload", "upload_id"),
    "call": ("portal.call", "call_id"),
    "agent": ("portal.assistant", "assistant_id"),
    "api_key": ("portal.api_key", "key_id"),
    "client": ("portal.api_client", "client_id"),
}
"""The pages of records; records of these kinds are never deleted."""


@dataclass(frozen=True, slots=True)
class Change:
    field: str
    old: str | None
    new: str | None


@portal.get("/audit", endpoint="audit")
def show_audit() -> Page:
    problems = HISTORY.problems()
    with transaction(read_only=True) as session:
        page = list_page(session, HISTORY)
        if page.default_url:
            return redirect(page.default_url)
        names = audit_search.organization_names(session, page.rows)
        assistants = audit_search.assistant_names(session, page.rows)
        named = organization_picker.named_in_filter(session)
    answer = render_template(
        "portal/audit/page.html",
        list=page,
        names=names,
        named=named,
        changes=partial(_changes, assistants=assistants),
        url_of=_url_of,
        actors=ACTOR_WORDS,
        actions=dict(sorted(ACTION_WORDS.items(), key=lambda entry: str(entry[1]))),
        problems=problems,
    )
    return (answer, 422) if problems else answer


def _changes(entry: AuditEntry, assistants: Mapping[str, str]) -> list[Change]:
    old, new = entry.before or {}, entry.after or {}

    def words(name: str, side: Mapping[str, Any]) -> str | None:
        if name not in side:
            return None
        if name in audit_search.ASSISTANT_FIELDS and side[name] in assistants:
            return assistants[side[name]]
        return value_words(side[name], zone(), name)

    found = [
        Change(field_words(name), words(name, old), words(name, new)) for name in {**old, **new}
    ]
    return sorted(found, key=lambda change: change.field)


def _url_of(entry: AuditEntry) -> str | None:
    """Return the URL of the changed record's page, if there is one that the user may open. Records
    of no partner, such as operators, have none."""
    endpoint, parameter = PAGES.get(entry.target_type, (None, ""))
    if endpoint is None or entry.partner_id is None or not may_open(caller(), endpoint):
        return None
    values: dict[str, Any] = {parameter: entry.target_id}
    return url_for(endpoint, **values)
