"""Texts about others that mention a person by a single name.

An erasure leaves them, because many people share a single name. The user who requests it reviews
them first.
"""

import json
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Table, Text, cast, literal, or_, select, tuple_
from sqlalchemy.orm import Session

from app.models import Base
from app.policy import Permission
from app.policy.caller import Caller
from app.services.personal_data.inventory import replaced_columns
from app.services.personal_data.subjects import DataSubject
from app.services.personal_data.sweep import in_scope
from app.services.tenancy import in_groups

MIN_WORD_LENGTH = 3
"""Minimum letters of a name that is searched."""
MAX_MENTIONS = 20
BATCH_SIZE = 5000
"""Rows of contacts and calls that the first statement searches; each further one searches twice as
many, up to `GROWS` times these."""
GROWS = 4
PATIENCE = 3.0
"""Seconds that a page spends on searching."""
AROUND = 40
"""Characters that are shown before and after a name."""
_MESSAGES = ("intro_message", "voicemail_message", "call_instructions")
_SEARCHED: dict[str, tuple[Permission, tuple[str, ...]]] = {
    "agents": (Permission.ASSISTANTS_READ, ("default_intro", "default_voicemail")),
    "outreaches": (Permission.CAMPAIGNS_READ, _MESSAGES),
    "campaigns": (Permission.CAMPAIGNS_READ, ("name",)),
    "do_not_call": (Permission.CONTACTS_READ, ("reason",)),
    "contacts": (Permission.CONTACTS_READ, ("contact_metadata",)),
    "calls": (Permission.CALLS_READ, ("call_metadata", *_MESSAGES)),
}
"""By table: the permission to read it, and the columns in which users write about others."""
_MANY_ROWS = frozenset({"contacts", "calls"})
_IDS = ("id", "campaign_id", "organization_id")


@dataclass(frozen=True, slots=True)
class TextMention:
    """A text that mentions the person: its table, the ids of its page, and the surrounding
    words."""

    table: str
    ids: dict[str, UUID]
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class FoundMentions:
    """``is_complete`` is false if older contacts or calls weren't searched, for lack of time."""

    mentions: Sequence[TextMention]
    is_complete: bool = True


def find_mentions(
    session: Session, caller: Caller, subject: DataSubject, *, seconds: float | None = None
) -> FoundMentions:
    """Return the texts that mention a part of the person's names, among those that the caller may
    read, at most `MAX_MENTIONS`: newest contacts and calls first, within ``seconds`` if given."""
    names = single_names(subject.names)
    if not names:
        return FoundMentions([])
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)", re.IGNORECASE)
    began, found_mentions = time.monotonic(), list[TextMention]()
    searches = [
        _in_table(session, caller, subject, table, names, pattern)
        for table, (needed, _columns) in _SEARCHED.items()
        if caller.may(needed)
    ]
    while searches:
        unfinished = []
        for search in searches:
            some, has_more = next(search)
            found_mentions += some
            if len(found_mentions) >= MAX_MENTIONS:
                return FoundMentions(found_mentions[:MAX_MENTIONS])
            if has_more:
                unfinished.append(search)
        searches = unfinished
        if searches and seconds is not None and time.monotonic() - began > seconds:
            return FoundMentions(found_mentions, is_complete=False)
    return FoundMentions(found_mentions)


def single_names(names: Sequence[str]) -> list[str]:
    """Return the words of names that are long enough for a search, longest first."""
    words = {word for name in names for word in name.split() if len(word) >= MIN_WORD_LENGTH}
    return sorted(words, key=lambda word: (-len(word), word))


def _in_table(
    session: Session,
    caller: Caller,
    subject: DataSubject,
    name: str,
    names: Sequence[str],
    pattern: re.Pattern[str],
) -> Iterator[tuple[list[TextMention], bool]]:
    """Yield the mentions in a table, part by part, newest first; and whether more follows."""
    table, columns = Base.metadata.tables[name], _SEARCHED[name][1]
    ids = [column for column in _IDS if column in table.c]
    search_terms = {each for word in names for each in (word, json.dumps(word)[1:-1])}
    texts = [cast(table.c[column], Text) for column in columns]
    contains_name = or_(
        *(text.icontains(word, autoescape=True) for text in texts for word in search_terms)
    )
    replaced = replaced_columns().get(name, [])
    scope = (in_scope(table, subject), *_readable_conditions(table, caller))
    query = select(*(table.c[column] for column in (*ids, *columns)))
    query = query.where(*scope, *_of_others(table, subject), contains_name)
    query = query.order_by(*(column.desc() for column in table.primary_key))
    batches = _batches(session, table, scope) if name in _MANY_ROWS else iter([((), False)])
    for batch, has_more in batches:
        in_batch: list[TextMention] = []
        rows = session.execute(query.where(*batch).execution_options(yield_per=MAX_MENTIONS))
        for row in rows.mappings():
            for column in columns:
                value = row[column]
                if column in replaced:
                    value = subject.search_terms.replace_in(value, "")
                mention = _first_match(value, pattern)
                if mention is not None:
                    in_batch.append(TextMention(name, {each: row[each] for each in ids}, *mention))
                    break
            if len(in_batch) == MAX_MENTIONS:
                rows.close()
                break
        yield in_batch, has_more


def _batches(
    session: Session, table: Table, scope: Sequence[ColumnElement[bool]]
) -> Iterator[tuple[Sequence[ColumnElement[bool]], bool]]:
    """Return the conditions of each part of a table's rows; and whether more follow."""
    keys = list(table.primary_key)
    query = select(*keys).where(*scope).order_by(*(key.desc() for key in keys))
    after: Sequence[ColumnElement[bool]] = ()
    size = BATCH_SIZE
    while True:
        last = session.execute(query.where(*after).offset(size - 1).limit(1)).one_or_none()
        if last is None:
            yield after, False
            return
        values = [literal(value, key.type) for value, key in zip(last, keys, strict=True)]
        yield (*after, tuple_(*keys) >= tuple_(*values)), True
        after = (tuple_(*keys) < tuple_(*values),)
        size = min(2 * size, GROWS * BATCH_SIZE)


def _readable_conditions(table: Table, caller: Caller) -> list[ColumnElement[bool]]:
    """Return the conditions of rows in the caller's organization, or in the caller's groups."""
    organization_id = caller.organization_id
    return [
        *([table.c.organization_id == organization_id] if organization_id is not None else []),
        in_groups(caller, table.c.organization_id),
    ]


def _of_others(table: Table, subject: DataSubject) -> list[ColumnElement[bool]]:
    """Return the conditions that leave out the rows that an erasure empties or deletes."""
    if table.name == "contacts":
        return [table.c.id.not_in(subject.contacts)]
    if table.name == "calls":
        is_theirs = table.c.contact_id.is_not(None) & table.c.contact_id.in_(subject.contacts)
        return [~is_theirs, table.c.phone_number.not_in(subject.phones)]
    if table.name == "do_not_call":
        return [table.c.phone.not_in(subject.phones)]
    return []


def _first_match(value: Any, pattern: re.Pattern[str]) -> tuple[str, str] | None:
    """Return the first name found in a value, and the surrounding words."""
    for text in _iter_texts(value):
        match = pattern.search(text)
        if match:
            start, end = max(0, match.start() - AROUND), min(len(text), match.end() + AROUND)
            before, after = "…" if start else "", "…" if end < len(text) else ""
            return match.group(), f"{before}{text[start:end].strip()}{after}"
    return None


def _iter_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield f"{key}: {item}"
