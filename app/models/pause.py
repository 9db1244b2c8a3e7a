"""Pauses and held calls, the mark that reveals a restored database; backups and the store of the
files; statistics of the carriers."""

from uuid import UUID

from sqlalchemy import BigInteger, Boolean, ForeignKey, false
from sqlalchemy.orm import Mapped, mapped_column

from app.enums import CarrierKind, Observed
from app.models.base import (
    Base,
    Created,
    Hash,
    Id,
    Line,
    Name,
    PartnerId,
    Short,
    Time,
    enum_column,
    tenant_key,
)


class DispatchPause(Base):
    """A pause: no call that it covers is placed. There is at most one for each scope.

    ``scope`` is ``all``, ``carrier:twilio``, or an id after ``partner:``, ``organization:``, or
    ``own:`` for the pause of the partner's administrators.
    """

    __tablename__ = "dialling_pauses"

    scope: Mapped[Short] = mapped_column(primary_key=True)
    carrier: Mapped[CarrierKind | None] = mapped_column(enum_column(CarrierKind))
    partner_id: Mapped[PartnerId | None] = mapped_column(index=True)
    organization_id: Mapped[UUID | None] = mapped_column(index=True)
    """The organization of a pause for one; ``partner_id`` is then its partner."""
    reason: Mapped[Line]
    paused_by: Mapped[Name]
    paused_at: Mapped[Created]


class HeldCall(Base):
    """A call whose turn came during a pause; the worker queues it again after the pause."""

    __tablename__ = "held_calls"

    call_id: Mapped[UUID] = mapped_column(
        ForeignKey("calls.id", ondelete="CASCADE"), primary_key=True
    )
    partner_id: Mapped[UUID]
    carrier: Mapped[CarrierKind] = mapped_column(enum_column(CarrierKind))
    expires_at: Mapped[Time]
    held_at: Mapped[Created]


class InstallationMark(Base):
    """One row. ``generation`` only increases while workers live; ``lineage`` names this database
    and every copy of it.

    ``server``, ``timeline`` and ``database`` are the database's own identity at the last heartbeat
    (`app.database.identity`), ``written_by`` the transaction of that heartbeat on PostgreSQL: only
    heartbeats may write this row. ``is_labelled``: SQLite's file has a label. ``missing_since``: a
    restore was detected, and events after this moment are missing.
    """

    __tablename__ = "installation_marks"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    lineage: Mapped[Short]
    generation: Mapped[int] = mapped_column(BigInteger)
    server: Mapped[int | None] = mapped_column(BigInteger)
    timeline: Mapped[int | None] = mapped_column(BigInteger)
    database: Mapped[int | None] = mapped_column(BigInteger)
    written_by: Mapped[int | None] = mapped_column(BigInteger)
    is_labelled: Mapped[bool] = mapped_column(Boolean, default=False, server_default=false())
    missing_since: Mapped[Time | None]


class FileStoreMark(Base):
    """One row: the identity of the store that holds this database's files."""

    __tablename__ = "file_store_marks"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    identity: Mapped[Hash]


class Backup(Base):
    """A backup that a worker or the command line started. ``problem`` is why it failed; without one
    and without ``finished_at`` it is running, or was interrupted."""

    __tablename__ = "backups"

    id: Mapped[Id]
    started_at: Mapped[Time] = mapped_column(index=True)
    finished_at: Mapped[Time | None]
    verified_at: Mapped[Time | None]
    file: Mapped[Line]
    size: Mapped[int | None] = mapped_column(BigInteger)
    problem: Mapped[Line | None]


class CarrierObservation(Base):
    """How often a carrier had this result in one minute. ``detail`` is its last message."""

    __tablename__ = "carrier_observations"

    minute: Mapped[Time] = mapped_column(primary_key=True)
    carrier: Mapped[CarrierKind] = mapped_column(enum_column(CarrierKind), primary_key=True)
    kind: Mapped[Observed] = mapped_column(enum_column(Observed), primary_key=True)
    code: Mapped[Short] = mapped_column(primary_key=True, default="")
    count: Mapped[int]
    last_at: Mapped[Time]
    detail: Mapped[Line]


class CallHour(Base):
    """The live calls that an organization placed to a region in an hour (UTC), for four weeks."""

    __tablename__ = "call_hours"
    __table_args__ = (tenant_key("organizations", "partner_id", "organization_id"),)

    organization_id: Mapped[UUID] = mapped_column(primary_key=True)
    hour: Mapped[Time] = mapped_column(primary_key=True, index=True)
    region: Mapped[Short] = mapped_column(primary_key=True)
    partner_id: Mapped[UUID]
    calls: Mapped[int]
