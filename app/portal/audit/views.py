"""The history: who changed what, when and from where, with the values before and after."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

import orjson
from flask import render_template, stream_with_context, url_for
from werkzeug.wrappers import Response

from app.errors import ValidationFailed
from app.extensions import caller, transaction
from app.models import AuditEntry, utcnow
from app.portal.audit.labels import (
    ACTION_WORDS,
    ACTOR_WORDS,
    KIND_WORDS,
    change_words,
    field_words,
    value_words,
)
from app.portal.web import lists
from app.portal.web.blueprint import portal
from app.portal.web.lists import csv_file
from app.portal.web.navigation import may_open
from app.portal.web.user_timezone import Problems, day_bounds, zone
from app.services import csv_files, organizations
from app.services.audit import search as audit_search
from app.services.audit.refusals import SIGN_INS
from app.services.audit.search import Chosen

FILTERS = ("actor", "kind", "action", "organization", "start", "end", "q")
CHUNK = 1000
COLUMNS = (
    *("When (UTC)", "Who", "Kind of actor", "Address", "What", "Action", "Kind"),
    *("Thing", "Id", "Before", "After", "Request"),
)
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
WITHIN = {"campaign": ("campaign", "contact")}
"""Filter value -> the record types that it includes."""
SIGN_INS_KIND = "sign_in"
"""The filter for sign-ins and refused attempts; the others are record types."""


@dataclass(frozen=True, slots=True)
class Change:
    field: str
    old: str | None
    new: str | None


@portal.get("/audit", endpoint="audit")
def show_audit() -> str | tuple[str, int]:
    place = lists.place()
    chosen, problems = _chosen()
    named = None
    with transaction(read_only=True) as session:
        page = audit_search.search(
            session, caller(), chosen, cursor=place.cursor, limit=lists.PAGE_SIZE
        )
        names = audit_search.organization_names(session, page.items)
        assistants = audit_search.assistant_names(session, page.items)
        if isinstance(chosen.organization, UUID):
            named = organizations.get(session, caller(), chosen.organization).name
    answer = render_template(
        "portal/audit/page.html",
        entries=page.items,
        names=names,
        named=named,
        changes=partial(_changes, assistants=assistants),
        url_of=_url_of,
        actors=ACTOR_WORDS,
        kinds={SIGN_INS_KIND: "Sign-ins"} | KIND_WORDS,
        actions=dict(sorted(ACTION_WORDS.items(), key=lambda entry: entry[1])),
        problems=problems,
        place=place,
        next_url=place.next_url(page.next_cursor),
        clear_url=lists.clear_url(*FILTERS),
        file_url=url_for("portal.audit_file", **lists.present(*FILTERS)),
    )
    return (answer, 422) if problems else answer


@portal.get("/audit.csv")
def audit_file() -> Response:
    """Export the filtered entries, newest first."""
    chosen, problems = _chosen()
    if problems:
        raise ValidationFailed.on(problems[0][0], "invalid_date", problems[0][1])
    name = f"history-{utcnow():%Y-%m-%d}"
    return csv_file(name, stream_with_context(_parts(chosen)))


def _parts(chosen: Chosen) -> Iterator[bytes]:
    yield csv_files.first_line(COLUMNS)
    cursor: str | None = ""
    while cursor is not None:
        with transaction(read_only=True) as session:
            page = audit_search.search(session, caller(), chosen, cursor=cursor, limit=CHUNK)
            part = csv_files.lines(map(_cells, page.items))
        cursor = page.next_cursor
        yield part


def _cells(entry: AuditEntry) -> tuple[str | datetime | None, ...]:
    return (
        *(entry.at, entry.actor, entry.actor_kind, entry.ip, change_words(entry.action)),
        *(entry.action, entry.target_type, entry.target, entry.target_id),
        *(_json(entry.before), _json(entry.after), entry.request_id),
    )


def _json(values: Mapping[str, Any] | None) -> str:
    return orjson.dumps(values).decode() if values else ""


def _chosen() -> tuple[Chosen, Problems]:
    """Return the filters of the URL and the problems in them; an invalid one filters nothing."""
    since, before, problems = day_bounds(zone())
    kind, action = lists.text_filter("kind"), lists.text_filter("action")
    chosen = Chosen(
        actor=lists.text_filter("actor"),
        target_types=WITHIN.get(kind, (kind,)) if kind in KIND_WORDS else (),
        actions=SIGN_INS if kind == SIGN_INS_KIND else (),
        action=action if action in ACTION_WORDS else None,
        organization=lists.id_or_words("organization"),
        target=lists.text_filter("q"),
        since=since,
        before=before,
    )
    return chosen, problems


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
