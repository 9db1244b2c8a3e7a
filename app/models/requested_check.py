"""Checks of accounts that the worker does on request."""

from datetime import timedelta

from sqlalchemy import Text
from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Time, utcnow

GIVEN_UP_AFTER = timedelta(minutes=10)
"""Time after which a check without a result can be requested again."""


class RequestedCheck:
    """The columns of the last check. It is running while ``requested_at`` is set and ``checked_at``
    is None; ``message`` is the result."""

    requested_at: Mapped[Time | None]
    checked_at: Mapped[Time | None]
    works: Mapped[bool | None]
    message: Mapped[str] = mapped_column("words", Text, default="")

    @property
    def is_running(self) -> bool:
        return (
            self.requested_at is not None
            and self.checked_at is None
            and utcnow() - self.requested_at < GIVEN_UP_AFTER
        )

    def restart(self) -> None:
        """Store that the check was requested now and has no result yet."""
        self.requested_at, self.checked_at, self.works, self.message = utcnow(), None, None, ""

    def end(self, works: bool, message: str) -> None:
        self.checked_at, self.works, self.message = utcnow(), works, message
