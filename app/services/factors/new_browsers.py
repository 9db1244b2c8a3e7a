"""The mail about a sign-in from a browser that the account wasn't used in before."""

from sqlalchemy.orm import Session

from app.models import MailKind, User
from app.services import mail_queue


def mail_about(session: Session, user: User, address: str | None) -> None:
    """Queue the mail to the user."""
    mail_queue.hand_in(
        session,
        MailKind.NEW_BROWSER,
        partner_id=user.partner_id,
        user_id=user.id,
        details={"address": address or "?"},
    )
