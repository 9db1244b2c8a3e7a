"""The rules of a new password: long, and hard to guess (NIST SP 800-63B-4, 3.1.1.2).

A password may be the only factor, so it has 15 characters or more. No kind of character is
required, and no password expires: such rules make passwords alike, not stronger.
"""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from app.errors import ValidationFailed
from app.languages import gettext, ngettext
from app.models import Organization, Partner, User
from app.services.auth.password_checks import PasswordChecks
from app.services.auth.password_strength import contains_word, is_guessable
from app.services.auth.passwords import MAX_LENGTH, hash_password, normalized

MIN_LENGTH = 15


def hash_new(password: str, *, known: Sequence[str], checks: PasswordChecks) -> str:
    """Return the hash of a new password that meets the rules. Slow; never inside a transaction.

    Raises as `check`, and `RateLimited` (``sign_in_busy``).
    """
    check(password, known=known)
    with checks.slot():
        return hash_password(password)


def check(password: str, *, known: Sequence[str] = ()) -> None:
    """Raise `ValidationFailed` on ``password`` (``too_short``, ``too_long``, ``too_common``,
    ``too_close``). ``known`` are the `known_words` of the user, which it must not consist of."""
    length = len(normalized(password[: MAX_LENGTH + 1]))
    if length < MIN_LENGTH:
        message = ngettext(
            "Too short: %(num)s character. Use at least %(least)s.",
            "Too short: %(num)s characters. Use at least %(least)s.",
            length,
            least=MIN_LENGTH,
        )
        raise _password_error("too_short", message)
    if len(password) > MAX_LENGTH:
        message = gettext("Too long. Use at most %(most)s characters.", most=MAX_LENGTH)
        raise _password_error("too_long", message)
    if not is_guessable(normalized(password), known):
        return
    if contains_word(normalized(password), known):
        message = gettext(
            "This password is too close to your name, email or company. "
            "Use four or more unrelated words."
        )
        raise _password_error("too_close", message)
    message = gettext("This password is too common. Use four or more unrelated words.")
    raise _password_error("too_common", message)


def known_words(session: Session, user: User) -> Sequence[str]:
    """Return what a new password must not consist of: the user's name and address, and the names
    and domains of partner, product and organization."""
    partner = session.get(Partner, user.partner_id) if user.partner_id else None
    organization = session.get(Organization, user.organization_id) if user.organization_id else None
    texts = [user.email, user.name]
    if partner is not None:
        texts += [partner.name, partner.product_name, partner.slug]
        texts += [partner.domain, partner.email_domain]
    if organization is not None:
        texts.append(organization.name)
    return [text for text in texts if text]


def _password_error(code: str, message: str) -> ValidationFailed:
    return ValidationFailed.on("password", code, message)
