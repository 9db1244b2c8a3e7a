"""The simulated carrier's own ledger: which calls it placed, and when."""

from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Base, Phone, Short, Time


class SimulatedCall(Base):
    """One placed call. Nothing is unique here, so that a call placed twice shows as two rows."""

    __tablename__ = "simulated_calls"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    reference: Mapped[Short] = mapped_column(index=True)
    from_number: Mapped[Phone]
    to_number: Mapped[Phone] = mapped_column(index=True)
    placed_at: Mapped[Time]
    hung_up_at: Mapped[Time | None]
