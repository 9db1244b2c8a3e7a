"""What is counted per day (UTC) for the whole installation, across partners."""

from datetime import date

from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Base, Short


class DailyCount(Base):
    """The number of events of a day; ``subject`` names their kind and the tenant or number."""

    __tablename__ = "daily_counts"

    day: Mapped[date] = mapped_column(primary_key=True)
    subject: Mapped[Short] = mapped_column(primary_key=True)
    count: Mapped[int]
