"""Find called people by name, email or number, also those who are in no campaign."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Select, func, select
from sqlalchemy.orm import Session

from app.models import Call
from app.models.folding import contains_text
from app.policy import Permission
from app.policy.caller import Caller
from app.services.calls.queries import visible
from app.services.number_search import numbers_meant
from app.validation.texts import trim

NAMED_AMONG = 20_000
"""How many of the newest calls without a contact are searched by name: no index has these names."""
_BATCH_SIZE = 1000


def last_calls_to(session: Session, caller: Caller, text: str, *, limit: int) -> Sequence[Call]:
    """Return the last call to each number of an organization that is the whole number in the text,
    in any notation; else to those with the whole email address, or with a name whose parts begin
    with all the words, that aren't to a contact. Newest first; empty for callers who may not read
    calls."""
    query = trim(text)
    if not query or not caller.may(Permission.CALLS_READ):
        return []
    if any(map(str.isdecimal, query)) and not any(map(str.isalpha, query)):
        numbers = numbers_meant(session, caller, query)
        return _last_of_each(session, caller, [Call.phone_number.in_(numbers)], limit)
    keys = _find_named(session, caller, query, limit)
    return _last_of_each(session, caller, [Call.id.in_(keys)], limit) if keys else []


def _last_of_each(
    session: Session, caller: Caller, conditions: Sequence[ColumnElement[bool]], limit: int
) -> Sequence[Call]:
    rank = func.row_number().over(
        partition_by=(Call.organization_id, Call.phone_number), order_by=Call.id.desc()
    )
    ranked = (
        visible(caller).where(*conditions).with_only_columns(Call.id, rank.label("rank")).subquery()
    )
    last = select(ranked.c.id).where(ranked.c.rank == 1)
    query = select(Call).where(Call.id.in_(last)).order_by(Call.id.desc()).limit(limit)
    return session.scalars(query).all()


def _find_named(session: Session, caller: Caller, query: str, limit: int) -> list[UUID]:
    """Return the newest call to each of up to ``limit`` numbers with this name or address."""
    call_ids: dict[tuple[UUID, str], UUID] = {}
    for row in session.execute(_newest_query(caller)).yield_per(_BATCH_SIZE):
        if _matches(row, query):
            call_ids.setdefault((row.organization_id, row.phone_number), row.id)
        if len(call_ids) == limit:
            break
    return list(call_ids.values())


def _newest_query(caller: Caller) -> Select[tuple[UUID, UUID, str, dict[str, str]]]:
    return (
        visible(caller)
        .where(Call.contact_id.is_(None))
        .with_only_columns(Call.id, Call.organization_id, Call.phone_number, Call.contact)
        .order_by(Call.id.desc())
        .limit(NAMED_AMONG)
    )


def _matches(row: Row[tuple[UUID, UUID, str, dict[str, str]]], query: str) -> bool:
    if "@" in query:
        return (row.contact.get("email") or "").lower() == query.lower()
    name = f" {_full_name(row.contact)}"
    return all(contains_text(name, f" {word}") for word in query.split())


def _full_name(contact: dict[str, str]) -> str:
    return " ".join(filter(None, (contact.get("firstName"), contact.get("lastName"))))
