"""Find called people by name, email or number, including those who are no contact of a campaign."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Select, func, select
from sqlalchemy.orm import Session

from app.models import Call
from app.models.folding import holds
from app.policy import Permission
from app.policy.caller import Caller
from app.services.calls.queries import visible
from app.services.number_search import numbers_meant
from app.validation.texts import trimmed

NAMED_AMONG = 20_000
"""How many of the newest calls without a contact are searched by name: no index has these names."""
_AT_ONCE = 1000


def last_calls_to(session: Session, caller: Caller, text: str, *, limit: int) -> Sequence[Call]:
    """Return the last call to each number of an organization that is the whole number in the text,
    in any notation; else to those with the whole email address, or with a name whose parts begin
    with all the words, that aren't to a contact. Newest first; empty for callers who may not read
    calls."""
    words = trimmed(text)
    if not words or not caller.may(Permission.CALLS_READ):
        return []
    if any(map(str.isdecimal, words)) and not any(map(str.isalpha, words)):
        numbers = numbers_meant(session, caller, words)
        return _last_of_each(session, caller, [Call.phone_number.in_(numbers)], limit)
    keys = _named(session, caller, words, limit)
    return _last_of_each(session, caller, [Call.id.in_(keys)], limit) if keys else []


def _last_of_each(
    session: Session, caller: Caller, conditions: Sequence[ColumnElement[bool]], limit: int
) -> Sequence[Call]:
    rank = func.row_number().over(
        partition_by=(Call.organization_id, Call.phone_number), order_by=Call.id.desc()
    )
    ranked = (
        visible(caller)
        .where(*conditions)
        .with_only_columns(Call.id, rank.label("place"))
        .subquery()
    )
    last = select(ranked.c.id).where(ranked.c.place == 1)
    query = select(Call).where(Call.id.in_(last)).order_by(Call.id.desc()).limit(limit)
    return session.scalars(query).all()


def _named(session: Session, caller: Caller, words: str, limit: int) -> list[UUID]:
    """Return the newest call to each of up to ``limit`` numbers with this name or address."""
    call_ids: dict[tuple[UUID, str], UUID] = {}
    for row in session.execute(_newest(caller)).yield_per(_AT_ONCE):
        if _is_called(row, words):
            call_ids.setdefault((row.organization_id, row.phone_number), row.id)
        if len(call_ids) == limit:
            break
    return list(call_ids.values())


def _newest(caller: Caller) -> Select[tuple[UUID, UUID, str, dict[str, str]]]:
    return (
        visible(caller)
        .where(Call.contact_id.is_(None))
        .with_only_columns(Call.id, Call.organization_id, Call.phone_number, Call.contact)
        .order_by(Call.id.desc())
        .limit(NAMED_AMONG)
    )


def _is_called(row: Row[tuple[UUID, UUID, str, dict[str, str]]], words: str) -> bool:
    if "@" in words:
        return (row.contact.get("email") or "").lower() == words.lower()
    name = f" {_name(row.contact)}"
    return all(holds(name, f" {word}") for word in words.split())


def _name(contact: dict[str, str]) -> str:
    return " ".join(filter(None, (contact.get("firstName"), contact.get("lastName"))))
