"""What holds the dialler back: pauses, the calls that wait for their end, the mark by which a
database that was put back from a backup is known, and how the carriers behave."""

from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey, Integer
from sqlalchemy.orm import Mapped, mapped_column

from app.enums import CarrierKind, Observed
from app.models.base import Base, Created, Line, Name, Short, Time, enum_column


class DiallingPause(Base):
    """While the row is there, no call that it covers is dialled; at most one for each scope.

    ``scope`` is ``all``, ``carrier:twilio`` or ``partner:`` and an id.
    """

    __tablename__ = "dialling_pauses"

    scope: Mapped[Short] = mapped_column(primary_key=True)
    carrier: Mapped[CarrierKind | None] = mapped_column(enum_column(CarrierKind))
    partner_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("partners.id", ondelete="CASCADE"), index=True
    )
    reason: Mapped[Line]
    paused_by: Mapped[Name]
    paused_at: Mapped[Created]


class HeldCall(Base):
    """A call whose turn came during a pause: in no queue until the worker hands it in again."""

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
    """How often a carrier behaved like this in one minute. ``detail`` is its last words."""

    __tablename__ = "carrier_observations"

    minute: Mapped[Time] = mapped_column(primary_key=True)
    carrier: Mapped[CarrierKind] = mapped_column(enum_column(CarrierKind), primary_key=True)
    kind: Mapped[Observed] = mapped_column(enum_column(Observed), primary_key=True)
    code: Mapped[Short] = mapped_column(primary_key=True, default="")
    count: Mapped[int] = mapped_column(Integer)
    last_at: Mapped[Time]
    detail: Mapped[Line]
