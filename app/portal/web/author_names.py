"""Names of authors; for customers the staff of the partner appears as the company."""

from collections.abc import Collection

from flask import g
from flask_login import current_user
from sqlalchemy.orm import Session

from app.enums import Role
from app.extensions import caller
from app.models import is_erased
from app.services.users import loading

SEE_NO_STAFF = frozenset({Role.ADMIN, Role.OWNER, Role.STANDARD})


def author_names(session: Session, emails: Collection[str]) -> dict[str, str]:
    """Return the names of the users with these addresses, for `author_label`; for callers who see
    no staff, the name of the company for each user that they can't see. No query for the current
    user and for parts of the system."""
    names_by_email: dict[str, str | None] = {current_user.email: current_user.name}
    other_emails = {email for email in emails if "@" in email} - names_by_email.keys()
    if other_emails:
        names_by_email |= loading.seen_by_email(session, caller(), other_emails)
    names = {email: name for email, name in names_by_email.items() if name}
    if caller().role not in SEE_NO_STAFF:
        return names
    unseen = {email for email in other_emails if not is_erased(email)} - names_by_email.keys()
    return dict.fromkeys(unseen, g.brand.partner_name) | names
