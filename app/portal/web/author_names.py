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
    """Return the names of the users with these addresses, for `author_words`; for callers who see
    no staff, the name of the company for each user that they can't see. No query for the current
    user and for parts of the system."""
    seen: dict[str, str | None] = {current_user.email: current_user.name}
    others = {email for email in emails if "@" in email} - seen.keys()
    if others:
        seen |= loading.seen_by_email(session, caller(), others)
    names = {email: name for email, name in seen.items() if name}
    if caller().role not in SEE_NO_STAFF:
        return names
    unseen = {email for email in others if not is_erased(email)} - seen.keys()
    return dict.fromkeys(unseen, g.brand.partner_name) | names
