"""The entries of the history."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from sqlalchemy.orm import Session

from app.extensions import caller
from app.languages import lazy_gettext, lazy_pgettext
from app.models import AuditEntry
from app.models.carrier_account import with_masked_sids
from app.models.folding import contains_text
from app.portal.audit.field_labels import field_label, find_fields
from app.portal.audit.kinds import SIGN_INS_KIND, WITHIN, is_of
from app.portal.audit.labels import ACTION_LABELS, KIND_LABELS, action_label
from app.portal.audit.sentences import plain_change
from app.portal.audit.values import sides
from app.portal.web import lists
from app.portal.web.bulk import BulkItem, ListActions
from app.portal.web.list_definitions import ListColumn, ListDefinition, ListFilter, moment_column
from app.portal.web.user_timezone import Problems, day_bounds, zone
from app.services.audit import search as audit_search
from app.services.audit.refusals import SIGN_INS
from app.services.audit.search import HistoryFilter
from app.services.paging import Page

CALL_REQUESTS = ("call.scheduled",)
"""Requests of calls, left out unless they are filtered for: a campaign requests hundreds of calls,
which would hide the rest."""


def chosen_filters() -> tuple[HistoryFilter, Problems]:
    """Return the filters of the URL and their problems; an invalid one is ignored."""
    since, before, problems = day_bounds(zone())
    kind, action = lists.text_filter("kind"), lists.text_filter("action")
    kind = kind if kind == SIGN_INS_KIND or kind in KIND_LABELS else None
    query = lists.text_filter("q")
    filters = HistoryFilter(
        actor=lists.text_filter("actor"),
        target_types=WITHIN.get(kind, (kind,)) if kind and kind != SIGN_INS_KIND else (),
        actions=SIGN_INS if kind == SIGN_INS_KIND else (),
        action=action if action in ACTION_LABELS and is_of(action, kind) else None,
        organization=lists.id_or_text("organization"),
        target=query,
        called=_actions_named(query) if query else (),
        fields=find_fields(query) if query else (),
        without=() if shows_calls() else CALL_REQUESTS,
        without_by_actor=() if asks_for_calls() else CALL_REQUESTS,
        since=since,
        before=before,
    )
    return filters, problems


def shows_calls() -> bool:
    """Return whether requested calls are listed: if the filters include them, or a search finds
    them."""
    return asks_for_calls() or lists.text_filter("q") is not None


def leaves_calls_out() -> bool:
    """Whether requested calls may be left out: other kinds of entries hold none, and a search
    without letters is for no user's name."""
    query = lists.text_filter("q")
    if asks_for_calls() or lists.text_filter("kind") is not None:
        return False
    return query is None or any(map(str.isalpha, query))


def asks_for_calls() -> bool:
    """Return whether the filters include requested calls: a search for a user doesn't include those
    that the user requested."""
    return (
        lists.text_filter("calls") is not None
        or lists.text_filter("kind") == "call"
        or lists.text_filter("action") is not None
    )


def _actions_named(query: str) -> tuple[str, ...]:
    """Return the actions whose names, in the reader's language or in the code, contain these
    words."""
    return tuple(
        action
        for action in ACTION_LABELS
        if contains_text(f"{action} {action_label(action)}", query)
    )


def _load(session: Session, sort: str, cursor: str | None, limit: int) -> Page[AuditEntry]:
    return audit_search.search(
        session, caller(), chosen_filters()[0], sort=sort, cursor=cursor, limit=limit
    )


def _item(entry: AuditEntry) -> BulkItem:
    return BulkItem(str(entry.id), action_label(entry.action), entry.actor, entry)


def _get_many(session: Session, keys: Sequence[str]) -> list[BulkItem]:
    return [_item(each) for each in audit_search.get_many(session, caller(), lists.ids_of(keys))]


def _json(values: Mapping[str, Any] | None) -> str:
    return with_masked_sids(orjson.dumps(values).decode()) if values else ""


def _changes_text(entry: AuditEntry) -> str:
    """Return the changed fields as the page words them, with times in UTC."""
    changed = (
        (name, *sides(entry, name)) for name in {**(entry.before or {}), **(entry.after or {})}
    )
    text = "; ".join(
        plain_change(field_label(name), old, new)
        for name, old, new in changed
        if (old, new) != (None, None)
    )
    return with_masked_sids(text)


HISTORY = ListDefinition(
    name="history",
    nouns=(lazy_gettext("entry"), lazy_gettext("entries")),
    endpoint="portal.audit.show_audit",
    columns=(
        moment_column("at", lazy_gettext("When"), lambda row: row.at, "", heading="When (UTC)"),
        ListColumn("actor", lazy_gettext("Who"), lambda row: row.actor),
        ListColumn("actor-kind", lazy_gettext("Kind of actor"), lambda row: row.actor_kind),
        ListColumn("ip", lazy_gettext("Address"), lambda row: row.ip),
        ListColumn("what", lazy_gettext("What"), lambda row: action_label(row.action)),
        ListColumn("action", lazy_gettext("Action"), lambda row: row.action),
        ListColumn("kind", lazy_gettext("Kind"), lambda row: row.target_type),
        ListColumn("target", lazy_gettext("Thing"), lambda row: with_masked_sids(row.target or "")),
        ListColumn("target-id", lazy_gettext("ID"), lambda row: row.target_id),
        ListColumn("before", lazy_gettext("Before"), lambda row: _json(row.before)),
        ListColumn("after", lazy_gettext("After"), lambda row: _json(row.after)),
        ListColumn("request", lazy_gettext("Request"), lambda row: row.request_id),
        ListColumn("changes", lazy_gettext("Changes"), _changes_text),
    ),
    filters=(
        ListFilter("q", lazy_gettext("Action, field, name or ID")),
        ListFilter(
            "kind",
            lazy_gettext("Kind"),
            {SIGN_INS_KIND: lazy_gettext("Sign-ins")} | KIND_LABELS,
            lazy_gettext("Any kind"),
        ),
        ListFilter("actor", lazy_gettext("User, client or key")),
        ListFilter(
            "calls",
            lazy_gettext("Requested calls"),
            {"shown": lazy_pgettext("requested calls", "Shown")},
            lazy_pgettext("requested calls", "Left out"),
        ),
    ),
    sorts=audit_search.SORTS,
    default_sort="-at",
    load=_load,
    count=lambda session, most: audit_search.count(
        session, caller(), chosen_filters()[0], most=most
    ),
    shows_plans=True,
    count_if_few=lambda session, most: audit_search.count_if_few(
        session, caller(), chosen_filters()[0], most
    ),
    bulk=ListActions(_item, _get_many, exports=True),
    problems=lambda: chosen_filters()[1],
    more_filters=("organization", "action", "start", "end"),
    has_fixed_columns=True,
)
