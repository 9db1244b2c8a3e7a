"""Facts about the installation as a whole."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.models import User

_DEMO_ACCOUNTS = User.email_key.like("%.example")
"""No real mail address ends like this (RFC 2606); all of the demo's do."""


def demo_accounts(session: Session) -> tuple[int, str | None]:
    """Return how many demo accounts there are, and the first of them."""
    count, first = session.execute(
        select(func.count(), func.min(User.email_key)).where(_DEMO_ACCOUNTS)
    ).one()
    return count, first
