"""What holds calls back: pauses and held calls, the mark that reveals a restored database, and
statistics of the carriers."""

from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey, Integer
from sqlalchemy.orm import Mapped, mapped_column

from app.enums import CarrierKind, Observed
from app.models.base import Base, Created, Line, Name, Short, Time, enum_column, tenant_key


class DispatchPause(Base):
    """A pause: no call that it covers is dialled. There is at most one for each scope.

    ``scope`` is ``all``, ``carrier:twilio``, or ``partner:`` or ``organization:`` and an id.
    """

    __tablename__ = "dialling_pauses"

    scope: Mapped[Short] = mapped_column(primary_key=True)
    carrier: Mapped[CarrierKind | None] = mapped_column(enum_column(CarrierKind))
    partner_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("partners.id", ondelete="CASCADE"), index=True
    )
    organization_id: Mapped[UUID | None] = mapped_column(index=True)
    """Of a pause of one organization; ``partner_id`` is its partner then."""
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
    """One row. ``generation`` only grows while workers live; ``lineage`` names this database and
    every copy of it."""

    __tablename__ = "installation_marks"

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    lineage: Mapped[Short]
    generation: Mapped[int] = mapped_column(BigInteger)


class CarrierObservation(Base):
    """How often a carrier had this outcome in one minute. ``detail`` is its last message."""

    __tablename__ = "carrier_observations"

    minute: Mapped[Time] = mapped_column(primary_key=True)
    carrier: Mapped[CarrierKind] = mapped_column(enum_column(CarrierKind), primary_key=True)
    kind: Mapped[Observed] = mapped_column(enum_column(Observed), primary_key=True)
    code: Mapped[Short] = mapped_column(primary_key=True, default="")
    count: Mapped[int] = mapped_column(Integer)
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
    calls: Mapped[int] = mapped_column(Integer)
