"""Search the history: filtered, newest first, page by page, for a screen and for a file."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, Select, Text, and_, cast, false, func, or_, select, union_all
from sqlalchemy.orm import Session

from app.database import read_once
from app.enums import CallerKind
from app.models import Assistant, AuditEntry, Campaign, Organization, User
from app.models.base import Named, id_at
from app.models.folded_text import holds_words
from app.policy import Permission
from app.policy.caller import Caller
from app.services import name_search
from app.services.audit.log import NUMBER_LISTED, VIEWS, is_shown_to
from app.services.paging import (
    MAX_COUNTED,
    Page,
    both_ways,
    count_among,
    count_up_to,
    keyset_page,
    sort_named,
)
from app.services.tenancy import of_tenant
from app.validation.uuids import as_uuid

ASSISTANT_FIELDS = ("agentId", "agent_id")
"""The fields of an entry that hold an assistant's id; older entries have the second."""
SORTS = both_ways(at=AuditEntry.id)
"""The sort orders of `search`; ids begin with the time."""
MIN_DIGITS = 6
"""Minimum digits of a search for a phone number."""
SLACK = timedelta(days=1)
"""The maximum difference between the time in an entry's id and its stored time."""


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """The filters. ``actor`` and ``target`` are parts of names, those in the history or the current
    ones, ``organization`` is an id or part of a name; no ``target_types`` means all, and so do no
    ``actions``. With ``target``, ``called`` and ``fields`` match too: the actions and the changed
    fields, by their names on the wire and in columns, whose words contain it. So does who did it,
    except for the actions ``without_by_actor``. ``without`` are actions to leave out."""

    actor: str | None = None
    target_types: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    action: str | None = None
    organization: UUID | str | None = None
    target: str | None = None
    called: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    without_by_actor: tuple[str, ...] = ()
    since: datetime | None = None
    before: datetime | None = None


def search(
    session: Session,
    caller: Caller,
    filters: HistoryFilter,
    *,
    sort: str = "-at",
    cursor: str | None = None,
    limit: int = 50,
) -> Page[AuditEntry]:
    """Return matching entries of the caller's partner; for an operator, of all partners.

    At most five queries. Raises `Forbidden` and `ValidationFailed` (``unknown_sort``,
    ``invalid_cursor``).
    """
    rows = _query_entries(session, caller, filters)
    return keyset_page(session, rows, sort_named(sort, SORTS), cursor=cursor, limit=limit)


def count(
    session: Session, caller: Caller, filters: HistoryFilter, *, most: int = MAX_COUNTED
) -> int:
    """Return how many entries match, as `paging.count_up_to`. Raises `Forbidden`."""
    return count_up_to(
        session, _query_entries(session, caller, filters).with_only_columns(AuditEntry.id), most
    )


def count_if_few(
    session: Session, caller: Caller, filters: HistoryFilter, limit: int
) -> int | None:
    """Return how many entries match, as `paging.count_among` those of the days and of the
    organization with this id. Raises `Forbidden`."""
    organization_id = filters.organization if isinstance(filters.organization, UUID) else None
    base_filters = HistoryFilter(
        organization=organization_id, since=filters.since, before=filters.before
    )
    rows, base_rows = (
        _query_entries(session, caller, each).with_only_columns(AuditEntry.id)
        for each in (filters, base_filters)
    )
    return count_among(session, rows, base_rows, limit)


def get_many(session: Session, caller: Caller, ids: Collection[UUID]) -> Sequence[AuditEntry]:
    """Return those of the entries that the caller may see, newest first. Raises `Forbidden`."""
    caller.require(Permission.AUDIT_READ)
    rows = of_tenant(select(AuditEntry), caller, AuditEntry.partner_id)
    rows = rows.where(AuditEntry.id.in_(ids))
    return session.scalars(rows.order_by(AuditEntry.id.desc())).all()


def organization_names(session: Session, entries: Sequence[AuditEntry]) -> dict[UUID, str]:
    """Return the names of the entries' organizations; the caller has loaded the entries."""
    ids = {entry.organization_id for entry in entries if entry.organization_id is not None}
    rows = select(Organization.id, Organization.name).where(Organization.id.in_(ids))
    return {row.id: row.name for row in session.execute(rows)}


def assistant_names(session: Session, entries: Sequence[AuditEntry]) -> dict[str, str]:
    """Return the names of the entries' assistants by id; the caller has loaded the entries."""
    values = [side or {} for entry in entries for side in (entry.before, entry.after)]
    ids = {UUID(side[name]) for side in values for name in ASSISTANT_FIELDS if side.get(name)}
    if not ids:
        return {}
    rows = select(Assistant.id, Assistant.name).where(Assistant.id.in_(ids))
    return {str(row.id): row.name for row in session.execute(rows)}


def user_names(
    session: Session,
    caller: Caller,
    entries: Sequence[AuditEntry],
    known_names: Mapping[UUID, str | None],
) -> dict[UUID, str]:
    """Return the names of the users who acted and who were changed, of those that have a name and
    are the caller's. Those that are ``known_names`` are not read."""
    ids = {entry.actor_id for entry in entries if entry.actor_kind == CallerKind.USER}
    ids |= {as_uuid(entry.target_id) for entry in entries if entry.target_type == "user"}
    names = dict(known_names)
    if unknown := ids - {None} - names.keys():
        rows = of_tenant(select(User), caller, User.partner_id).where(User.id.in_(unknown))
        users = session.execute(rows.with_only_columns(User.id, User.name))
        names |= {row.id: row.name for row in users}
    return {key: name for key, name in names.items() if name}


def _query_entries(session: Session, caller: Caller, filters: HistoryFilter) -> Select[AuditEntry]:
    caller.require(Permission.AUDIT_READ)
    rows = of_tenant(select(AuditEntry), caller, AuditEntry.partner_id)
    if filters.actor is not None:
        has_name = holds_words(AuditEntry.actor, filters.actor)
        users = _ids_by_name(session, caller, filters.actor, User)
        rows = rows.where(has_name | AuditEntry.actor_id.in_(users))
    if filters.target is not None:
        has_name = holds_words(AuditEntry.target, filters.target)
        ids = _ids_by_name(session, caller, filters.target, User, Organization, Assistant, Campaign)
        is_target = AuditEntry.target_id.in_([filters.target, *map(str, ids)])
        is_actor = holds_words(AuditEntry.actor, filters.target) | AuditEntry.actor_id.in_(ids)
        if filters.without_by_actor:
            is_actor &= AuditEntry.action.not_in(filters.without_by_actor)
        called = AuditEntry.action.in_(filters.called) | _lists_number(filters.target)
        rows = rows.where(
            has_name | is_target | is_actor | called | _has_field(session, filters.fields)
        )
    if filters.target_types:
        rows = rows.where(AuditEntry.target_type.in_(filters.target_types))
    rows = rows.where(*_action_conditions(filters))
    if filters.action not in VIEWS:
        rows = rows.where(is_shown_to(caller))
    if filters.organization is not None:
        organization_id = AuditEntry.organization_id
        rows = rows.where(
            name_search.is_of_organization(session, organization_id, filters.organization)
        )
    if filters.since is not None:
        rows = rows.where(
            AuditEntry.at >= filters.since, AuditEntry.id >= id_at(filters.since - SLACK)
        )
    if filters.before is not None:
        rows = rows.where(
            AuditEntry.at < filters.before, AuditEntry.id < id_at(filters.before + SLACK)
        )
    return rows


def _lists_number(text: str) -> ColumnElement[bool]:
    """Return the entries about several numbers of a do-not-call list, this one among them."""
    digits = re.sub(r"[\s().+/-]", "", text)
    if not digits.isdecimal() or len(digits) < MIN_DIGITS:
        return false()
    contains_number = cast(AuditEntry.after, Text).contains(digits)
    return and_(AuditEntry.action == NUMBER_LISTED, contains_number)


def _has_field(session: Session, names: Sequence[str]) -> ColumnElement[bool]:
    if not names:
        return false()
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    pairs = func.json_each if is_sqlite else func.jsonb_each
    tables = (pairs(side).table_valued("key") for side in (AuditEntry.before, AuditEntry.after))
    return or_(*(select(1).where(side.c.key.in_(names)).exists() for side in tables))


def _action_conditions(filters: HistoryFilter) -> Iterator[ColumnElement[bool]]:
    if filters.actions:
        yield AuditEntry.action.in_(filters.actions)
    if filters.action is not None:
        yield AuditEntry.action == filters.action
    if filters.without:
        yield AuditEntry.action.not_in(filters.without)


def _ids_by_name(
    session: Session,
    caller: Caller,
    query: str,
    *models: type[User | Organization | Assistant | Campaign],
) -> Sequence[UUID]:
    """Return the records of the caller whose current names contain the words, up to
    `name_search.FEW`; a transaction that only reads searches once. The history names users by their
    email addresses."""
    key = ("called", caller, query, models)
    return read_once(session, key, lambda: _search_ids(session, caller, query, models))


def _search_ids(
    session: Session,
    caller: Caller,
    query: str,
    models: Iterable[type[User | Organization | Assistant | Campaign]],
) -> Sequence[UUID]:
    called = [
        of_tenant(select(model.id), caller, model.partner_id).where(
            model.named(query) if issubclass(model, Named) else model.found_by(query)
        )
        for model in models
    ]
    return session.scalars(union_all(*called).limit(name_search.FEW)).all()
