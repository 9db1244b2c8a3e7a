"""Which notifications a user has marked as read one by one."""

from uuid import UUID

from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Base, UserId


class ReadNotification(Base):
    """An entry of the history that a user has read, newer than `User.notifications_read_at`."""

    __tablename__ = "read_notifications"

    user_id: Mapped[UserId] = mapped_column(primary_key=True)
    entry_id: Mapped[UUID] = mapped_column(primary_key=True)
