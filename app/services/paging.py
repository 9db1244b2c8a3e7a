"""Lists in three forms: by page number, in chunks to be streamed, by cursor for screens."""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, Generic, TypeVar
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Integer,
    Select,
    Uuid,
    case,
    func,
    or_,
    select,
    tuple_,
)
from sqlalchemy.orm import InstrumentedAttribute, QueryableAttribute, Session
from sqlalchemy.types import TypeEngine

from app.errors import ValidationFailed
from app.languages import gettext
from app.models.base import UtcDateTime

M = TypeVar("M")
R = TypeVar("R")
CHUNK = 1000
Position = str | int | datetime | UUID | None
"""The value of a row in the column that a list is sorted by."""


@dataclass(frozen=True, slots=True)
class Listing(Generic[M, R]):
    """An authorized list, in a stable order: created, then id.

    It holds no transaction: each query takes a session, so that a long list can be sent without a
    transaction that stays open.
    """

    rows: Select[M]
    created: InstrumentedAttribute[datetime]
    id: InstrumentedAttribute[UUID]
    make: Callable[[M], R]

    def total(self, session: Session) -> int:
        ids = self.rows.with_only_columns(self.id).order_by(None).subquery()
        return session.scalar(select(func.count()).select_from(ids)) or 0

    def page(self, session: Session, number: int, size: int) -> list[R]:
        """Return page ``number``, counted from 1; empty beyond the end."""
        query = self._ordered().limit(size).offset((number - 1) * size)
        return [self.make(row) for row in session.scalars(query)]

    def chunk(self, session: Session, after: M | None = None) -> tuple[list[R], M | None]:
        """Return the next rows after ``after``, and the row to continue from; None at the end."""
        query = self._ordered().limit(CHUNK)
        if after is not None:
            position = (getattr(after, self.created.key), getattr(after, self.id.key))
            query = query.where(tuple_(self.created, self.id) > position)
        rows = session.scalars(query).all()
        return [self.make(row) for row in rows], rows[-1] if len(rows) == CHUNK else None

    def _ordered(self) -> Select[M]:
        return self.rows.order_by(self.created, self.id)


@dataclass(frozen=True, slots=True)
class Page(Generic[M]):
    """A page of a screen. ``next_cursor`` is None at the end of the list."""

    items: Sequence[M]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class SortOrder:
    """A sort order of a screen; ``read`` returns the value of a row if the column isn't its own."""

    column: ColumnElement[Any] | QueryableAttribute[Any]
    descending: bool = False
    read: Callable[[Any], Position] | None = None

    @property
    def is_nullable(self) -> bool:
        """Return whether rows can be without a value; they come last."""
        return bool(getattr(self.column, "nullable", False))

    def value_of(self, row: Any) -> Position:
        read = self.read or attrgetter(str(self.column.key))
        value: Position = read(row)
        return value


def both_ways(**columns: InstrumentedAttribute[Any]) -> dict[str, SortOrder]:
    """Return the orders by these columns under their names, descending with a ``-`` in front."""
    up = {name: SortOrder(column) for name, column in columns.items()}
    return up | {f"-{name}": SortOrder(column, descending=True) for name, column in columns.items()}


def by_expression(
    name: str,
    column: ColumnElement[Any] | QueryableAttribute[Any],
    read: Callable[[Any], Position],
) -> dict[str, SortOrder]:
    """Return the orders by an indexed expression, as `both_ways`; ``read`` returns its value."""
    return {
        f"{direction}{name}": SortOrder(column, direction == "-", read) for direction in ("", "-")
    }


MAX_COUNTED = 10_000


def count_up_to(session: Session, rows: Select[Any], limit: int = MAX_COUNTED) -> int:
    """Count the rows up to ``limit``; ``limit + 1`` means "more", so that counting stays cheap."""
    return session.scalar(counting_up_to(rows, limit)) or 0


def counting_up_to(rows: Select[Any], limit: int = MAX_COUNTED) -> Select[int]:
    """Return the statement of `count_up_to`."""
    limited = rows.order_by(None).limit(limit + 1).subquery()
    return select(func.count()).select_from(limited)


def count_among(
    session: Session, rows: Select[Any], few: Select[Any], limit: int = MAX_COUNTED
) -> int | None:
    """Count the rows, which are among ``few`` that an index finds, so that counting
    stays cheap however rare they are; None if the few are more than ``limit``. One query."""
    few_count, row_count = (counting_up_to(each, limit).scalar_subquery() for each in (few, rows))
    return session.scalar(select(case((few_count <= limit, row_count))))


def sort_named(name: str, sorts: Mapping[str, SortOrder]) -> SortOrder:
    """Return the sort order of this name. Raises `ValidationFailed` (``unknown_sort``)."""
    if name not in sorts:
        raise ValidationFailed.on(
            "sort", "unknown_sort", gettext("Sort by one of %(names)s.", names=", ".join(sorts))
        )
    return sorts[name]


def keyset_page(
    session: Session,
    rows: Select[M],
    sort: SortOrder,
    *,
    cursor: str | None,
    limit: int,
    key: InstrumentedAttribute[Any] | None = None,
) -> Page[M]:
    """Return the rows after ``cursor`` in the order of ``sort``, then id, those without a value
    last: the cost is that of one page, at any position. ``key`` identifies rows without an id. A
    query of several columns returns rows of them. Raises `ValidationFailed`
    (``invalid_cursor``)."""
    column = sort.column
    id_column = rows.column_descriptions[0]["entity"].id if key is None else key
    # An id that is named twice costs SQLite a sort of all rows.
    columns = (column,) if column is id_column else (column, id_column)
    order = [each.desc() for each in columns] if sort.descending else list(columns)
    value, beyond = None, None
    if cursor:
        value, identifier = _decode(cursor, sort, id_column.type)
        beyond = id_column < identifier if sort.descending else id_column > identifier
        if column is not id_column and value is not None:
            further = column < value if sort.descending else column > value
            bound = column <= value if sort.descending else column >= value
            beyond = bound & or_(further, (column == value) & beyond)
    after = rows if beyond is None else rows.where(beyond)
    items: list[Any] = []
    read: Callable[..., Any] = (
        session.scalars if len(rows.column_descriptions) == 1 else session.execute
    )
    if not cursor or value is not None:
        filled = after.where(column.is_not(None)) if sort.is_nullable else after
        items += read(filled.order_by(*order).limit(limit + 1))
        after = rows
    if sort.is_nullable and len(items) <= limit:
        blank = after.where(column.is_(None)).order_by(order[-1])
        items += read(blank.limit(limit + 1 - len(items)))
    if len(items) <= limit:
        return Page(items, None)
    last = items[limit - 1]
    return Page(items[:limit], _encode(sort.value_of(last), getattr(last, id_column.key)))


def _encode(value: Position, identifier: Position) -> str:
    text = value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value
    data = json.dumps([str(text) if isinstance(text, UUID) else text, str(identifier)]).encode()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _decode(cursor: str, sort: SortOrder, key: TypeEngine[Any]) -> tuple[Position, Position]:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        value, identifier = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        is_blank = value is None and sort.is_nullable
        position = None if is_blank else _position(value, sort.column.type)
        return position, _position(identifier, key)
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        message = gettext("This position in the list is not valid. Start from the first page.")
        raise ValidationFailed.on("cursor", "invalid_cursor", message) from error


def _position(value: Any, kind: TypeEngine[Any]) -> Position:
    if isinstance(kind, Integer):
        upper_bound = 2**63 if isinstance(kind, BigInteger) else 2**31
        if type(value) is not int or not 0 <= value < upper_bound:
            raise ValueError
        return value
    text: str = value.encode().decode()
    if "\x00" in text:
        raise ValueError
    if isinstance(kind, UtcDateTime):
        return datetime.fromisoformat(text).astimezone(UTC)
    return UUID(text) if isinstance(kind, Uuid) else text
