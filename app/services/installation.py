"""What the database says of the installation as a whole."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.models import User

_DEMO_ACCOUNTS = User.email_key.like("%.example")
"""No real mail address ends so (RFC 2606); the demo's all do."""


def demo_accounts(session: Session) -> tuple[int, str | None]:
    """How many accounts of the demo there are, and the first of them."""
    count, first = session.execute(
        select(func.count(), func.min(User.email_key)).where(_DEMO_ACCOUNTS)
    ).one()
    return count, first
