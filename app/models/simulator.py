"""The simulated carrier's own ledger: what it dialled, and when."""

from datetime import datetime

from sqlalchemy import Integer
from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Base, Phone, Short, Time, UtcDateTime


class SimulatedCall(Base):
    """One dialling. Nothing is unique here, so that a call placed twice shows as two rows."""

    __tablename__ = "simulated_calls"

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    reference: Mapped[Short] = mapped_column(index=True)
    from_number: Mapped[Phone]
    to_number: Mapped[Phone] = mapped_column(index=True)
    placed_at: Mapped[Time]
    hung_up_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
