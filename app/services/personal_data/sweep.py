"""Searching all tables for the words of a subject, some rows at a time."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Table, and_, delete, literal, or_, select, tuple_, update
from sqlalchemy.orm import Session

from app.models import Base
from app.services.personal_data.inventory import replaced_columns
from app.services.personal_data.subjects import DataSubject

BATCH_SIZE = 500
PARENTS = {
    "call_events": ("call_id", "calls"),
    "email_changes": ("user_id", "users"),
    "import_rows": ("import_id", "contact_imports"),
    "legacy_exchanges": ("client_id", "oauth_clients"),
    "webhook_deliveries": ("endpoint_id", "webhook_endpoints"),
}
"""For tables without a tenant: the column with the id of a row that has one."""
OF_NO_TENANT = frozenset({"carrier_observations"})
DELETED_ROWS = {
    "webhook_deliveries": ("payload", "last_answer", "attempt_log"),
    "legacy_exchanges": ("request", "answer", "shadow_answer"),
}
"""Copies of messages: a row that names the person is deleted."""


class SweptTable(NamedTuple):
    """A table to search; ``deletes`` rows, or replaces the words in them."""

    table: str
    columns: Sequence[str]
    deletes: bool = False


def swept_tables() -> list[SweptTable]:
    """Return every table in whose texts a person is replaced or deleted."""
    elsewhere = {"idempotency_records"}  # its tenant is that of a credential: `copies`
    return [
        *(
            SweptTable(name, columns)
            for name, columns in replaced_columns().items()
            if name not in elsewhere
        ),
        *(SweptTable(name, columns, deletes=True) for name, columns in DELETED_ROWS.items()),
    ]


def sweep_next(
    session: Session,
    subject: DataSubject,
    swept: SweptTable,
    pseudonym: str,
    after: Sequence[Any] | None,
) -> tuple[int, Sequence[Any] | None]:
    """Change the next rows of a table that name the person; return how many, and the key of the
    last row that was read, None at the end."""
    table = Base.metadata.tables[swept.table]
    terms = subject.search_terms
    if not terms.spellings:
        return 0, None
    keys = list(table.primary_key.columns)
    columns = [table.c[name] for name in swept.columns]
    query = select(*keys, *columns).where(terms.match_columns(*columns), in_scope(table, subject))
    if after is not None:
        last = [literal(value, key.type) for value, key in zip(after, keys, strict=True)]
        query = query.where(tuple_(*keys) > tuple_(*last))
    rows = session.execute(query.order_by(*keys).limit(BATCH_SIZE)).all()
    changed = 0
    for row in rows:
        values, is_row = row[len(keys) :], and_(*(key == row[n] for n, key in enumerate(keys)))
        new = {
            column.name: cut_to_length(terms.replace_in(value, pseudonym), column)
            for column, value in zip(columns, values, strict=True)
        }
        if all(new[column.name] == value for column, value in zip(columns, values, strict=True)):
            continue
        changed += 1
        if swept.deletes:
            session.execute(delete(table).where(is_row))
        else:
            session.execute(update(table).where(is_row).values(_untouched_times(table) | new))
    return changed, tuple(rows[-1][: len(keys)]) if len(rows) == BATCH_SIZE else None


def in_scope(table: Table, subject: DataSubject) -> ColumnElement[bool]:
    """Return the condition of rows that may name the person: the organization's for a contact, the
    partner's for a user."""
    if table.name in OF_NO_TENANT:
        return literal(value=True)
    if table.name in PARENTS:
        name, parent = PARENTS[table.name]
        above = Base.metadata.tables[parent]
        return table.c[name].in_(select(above.c.id).where(in_scope(above, subject)))
    conditions: list[ColumnElement[bool]] = []
    if "partner_id" in table.c:
        conditions.append(table.c.partner_id == subject.partner_id)
    elif subject.organization_id is None:
        organizations = Base.metadata.tables["organizations"]
        organization_ids = select(organizations.c.id).where(
            organizations.c.partner_id == subject.partner_id
        )
        conditions.append(table.c.organization_id.in_(organization_ids))
    if subject.organization_id is not None and "organization_id" in table.c:
        organization = table.c.organization_id
        conditions.append(or_(organization == subject.organization_id, organization.is_(None)))
    return and_(*conditions)


def cut_to_length(value: Any, column: ColumnElement[Any]) -> Any:
    """Return a text cut to the length of its column; any other value as it is."""
    length = getattr(column.type, "length", None)
    return value[:length] if isinstance(value, str) and length else value


def _untouched_times(table: Table) -> dict[str, Any]:
    """Keep the update times: an erasure isn't a change of the record."""
    return {"updated_at": table.c.updated_at} if "updated_at" in table.c else {}
