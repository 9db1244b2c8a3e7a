"""The declarative base, and the column types that the models share."""

import os
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from threading import Lock
from typing import Annotated, Any, ClassVar, Self
from uuid import UUID

from sqlalchemy import (
    JSON,
    ColumnElement,
    DateTime,
    Dialect,
    Enum,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    MetaData,
    Select,
    String,
    Text,
    TextClause,
    TypeDecorator,
    Uuid,
    and_,
    event,
    or_,
    select,
    text,
    true,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import (
    DeclarativeBase,
    InstrumentedAttribute,
    Mapped,
    declared_attr,
    mapped_column,
    validates,
)
from sqlalchemy.types import TypeEngine

from app.models.folding import fold, fold_lines, other_spellings


class Clock:
    """The current time of the whole application, and of ids in nanoseconds: this machine's until
    `common_time` sets another one."""

    read: Callable[[], datetime] = staticmethod(lambda: datetime.now(UTC))
    nanoseconds: Callable[[], int] = staticmethod(time.time_ns)


def utcnow() -> datetime:
    return Clock.read()


class _LastId:
    """The last millisecond used and its counter, so that ids of one process ascend."""

    lock = Lock()
    tick = 0


def new_id() -> UUID:
    """A UUIDv7 (RFC 9562, section 5.7): later ids of one process sort after earlier ones.

    The 12 bits after the version are a counter within the millisecond (method 1 of section 6.2). On
    PostgreSQL all processes use the database's time, so a machine's wrong clock doesn't change the
    order. Rows may still become visible in another order than that of their ids: a reader that
    keeps an id as its position must look for rows before it too, as the dispatcher of campaigns
    does.
    """
    with _LastId.lock:
        tick = max(Clock.nanoseconds() * 4096 // 1_000_000, _LastId.tick + 1)
        _LastId.tick = tick
    milliseconds, counter = divmod(tick, 4096)
    random = int.from_bytes(os.urandom(8)) & ((1 << 62) - 1)
    return UUID(int=milliseconds << 80 | 7 << 76 | counter << 64 | 2 << 62 | random)


def new_id_in(seconds: float) -> UUID:
    """`new_id` with the time in so many seconds: of what begins then."""
    return UUID(int=new_id().int + (int(seconds * 1000) << 80))


def id_at(moment: datetime) -> UUID:
    """Return the smallest id of this millisecond, to bound lists ordered by id."""
    return UUID(int=max(0, int(moment.timestamp() * 1000)) << 80)


def new_ids(count: int) -> list[str]:
    """Return ascending ids as text, for bulk writes: only the counter differs."""
    with _LastId.lock:
        first = max(Clock.nanoseconds() * 4096 // 1_000_000, _LastId.tick + 1)
        _LastId.tick = max(first + count - 1, _LastId.tick)
    random = int.from_bytes(os.urandom(8)) & ((1 << 62) - 1)
    end = f"-{random >> 48 | 0x8000:04x}-{random & 0xFFFFFFFFFFFF:012x}"
    ids: list[str] = []
    tick, last = first, first + count
    while tick < last:
        milliseconds, counter = divmod(tick, 4096)
        start = f"{milliseconds >> 16:08x}-{milliseconds & 0xFFFF:04x}-"
        middles = _COUNTERS[counter : counter + last - tick]
        ids += [f"{start}{middle}{end}" for middle in middles]
        tick += len(middles)
    return ids


_COUNTERS = tuple(f"7{counter:03x}" for counter in range(4096))
"""The version and the counter of an id (RFC 9562, section 5.7)."""


class UtcDateTime(TypeDecorator[datetime]):
    """A time with its zone. SQLite drops zones, so they are added again when read."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - signature of the base class
        if value is None:
            return None
        if value.tzinfo is None:
            message = "a moment without a time zone can't be stored"
            raise ValueError(message)
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - signature of the base class
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


Json: TypeEngine[Any] = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
"""JSON as text on SQLite, as jsonb on PostgreSQL; None is SQL NULL."""


def enum_column(kind: type[StrEnum], name: str = "") -> Enum:
    """Stores an enum's values (not its names), with a check constraint of this name, or that of the
    class."""
    return Enum(
        kind,
        values_callable=lambda members: [member.value for member in members],
        native_enum=False,
        create_constraint=True,
        length=40,
        name=name or kind.__name__.lower(),
    )


def partial_index(name: str, *columns: str, where: str | TextClause, unique: bool = False) -> Index:
    """An index of the rows that fulfil a condition, on either database."""
    condition = text(where) if isinstance(where, str) else where
    return Index(name, *columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


def tenant_key(table: str, owner: str, column: str) -> ForeignKeyConstraint:
    """A foreign key that includes the owner: a row can't refer to another tenant's.

    Both tables have the column ``owner``; ``column`` holds the id. Deleting cascades.
    """
    return ForeignKeyConstraint(
        [owner, column], [f"{table}.{owner}", f"{table}.id"], ondelete="CASCADE"
    )


NAME_LENGTH = 200

Id = Annotated[UUID, mapped_column(Uuid, primary_key=True, default=new_id)]
Created = Annotated[datetime, mapped_column(UtcDateTime, default=utcnow)]
Updated = Annotated[datetime, mapped_column(UtcDateTime, default=utcnow, onupdate=utcnow)]
Time = Annotated[datetime, mapped_column(UtcDateTime)]
Name = Annotated[str, mapped_column(String(NAME_LENGTH))]
Email = Annotated[str, mapped_column(String(254))]
Phone = Annotated[str, mapped_column(String(16))]
Short = Annotated[str, mapped_column(String(100))]
Line = Annotated[str, mapped_column(String(500))]
Url = Annotated[str, mapped_column(String(2000))]
Hash = Annotated[str, mapped_column(String(64))]
PartnerId = Annotated[UUID, mapped_column(ForeignKey("partners.id", ondelete="CASCADE"))]
UserId = Annotated[UUID, mapped_column(ForeignKey("users.id", ondelete="CASCADE"))]


class Base(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


def contains_words(
    key: ColumnElement[str] | InstrumentedAttribute[str],
    texts: Sequence[InstrumentedAttribute[Any]],
    query: str,
    *,
    after: str = "",
) -> ColumnElement[bool]:
    """Return the condition that ``key``, the texts folded, contains the words ``after`` a
    character: in any case, with or without accents, and with umlauts in either spelling."""
    conditions = [key.contains(f"{after}{fold(query)}", autoescape=True)]
    for spelling, umlauts in other_spellings(query):
        has = key.contains(f"{after}{spelling}", autoescape=True)
        conditions.append(and_(has, has_umlauts(texts, umlauts)))
    return or_(*conditions)


def has_umlauts(texts: Sequence[InstrumentedAttribute[Any]], umlauts: str) -> ColumnElement[bool]:
    """Return the condition that the texts have each of the umlauts, in any case."""
    return and_(true(), *(_has_umlaut(texts, umlaut) for umlaut in umlauts))


def _has_umlaut(texts: Sequence[InstrumentedAttribute[Any]], umlaut: str) -> ColumnElement[bool]:
    """Compare each case, which SQLite distinguishes, and a diaeresis stored as a separate
    character."""
    spellings = (umlaut, umlaut.upper(), "\u0308")
    return or_(*(text.contains(each) for text in texts for each in spellings))


def name_key(name: str) -> str:
    """Return the form in which names are sorted and compared, see `folding.fold`."""
    return fold(name)[:NAME_LENGTH]


def _key_of_name(context: Any) -> str:
    return name_key(context.get_current_parameters()["name"])


class Named:
    """A name and its key, which changes with the name and is what indexes use."""

    name: Mapped[Name]
    name_key: Mapped[Name] = mapped_column(default=_key_of_name)

    @validates("name")
    def _keep_key(self, _attribute: str, name: str) -> str:
        self.name_key = name_key(name)
        return name

    @classmethod
    def named(cls, query: str) -> ColumnElement[bool]:
        """Return the condition that the name contains the words, as `contains_words`."""
        return contains_words(cls.name_key, (cls.name,), query)


DUE_BATCH = 100


class Refreshed:
    """Rows that are requested from another machine regularly: the times of the last request and of
    the last one that was answered."""

    asked_at: Mapped[Time]
    checked_at: Mapped[Time | None]

    @classmethod
    def due(cls, is_lacking: ColumnElement[bool]) -> Select[Self]:
        """Return rows to ask for again, locked: after a day, and after an hour where something
        ``is_lacking`` or was never answered."""
        now = utcnow()
        is_unsettled = or_(is_lacking, cls.checked_at.is_(None))
        is_due = or_(
            cls.asked_at < now - timedelta(days=1),
            is_unsettled & (cls.asked_at < now - timedelta(hours=1)),
        )
        rows = select(cls).where(is_due).order_by(cls.asked_at).limit(DUE_BATCH)
        return rows.with_for_update(skip_locked=True)


class Searched:
    """Texts that are searched by any part of them, and their folded form, one per line.

    Updates outside the session have to set ``search_words`` themselves.
    """

    searched: ClassVar[tuple[str, ...]]

    @declared_attr
    @classmethod
    def search_words(cls) -> Mapped[str]:
        def of_row(context: Any) -> str:
            values = context.get_current_parameters()
            return fold_lines(values.get(name) for name in cls.searched)

        return mapped_column(Text, default=of_row)

    @classmethod
    def found_by(cls, query: str) -> ColumnElement[bool]:
        """Return the condition that one of the texts contains the words, as `contains_words`."""
        texts = [getattr(cls, name) for name in cls.searched]
        return contains_words(cls.search_words, texts, query)


@event.listens_for(Searched, "before_update", propagate=True)
def _keep_search_words(_mapper: Any, _connection: Any, row: Searched) -> None:
    row.search_words = fold_lines(getattr(row, name) for name in row.searched)
