"""Messages from the chat window: they become a mail to support."""

from dataclasses import dataclass
from datetime import timedelta

from babel.numbers import format_decimal
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.errors import NotFound, Problem, RateLimited, raise_problems
from app.languages import gettext, locale, ngettext
from app.models import Mail, MailKind, Partner, utcnow
from app.services import mail_queue
from app.services.auth import throttle
from app.services.auth.throttle import FailureCounter, ThrottleRule
from app.services.branding.brand import of_partner
from app.validation.emails import is_email

MAX_CHARACTERS = 2000
MAX_FROM_ONE_SENDER = 5
MAX_TO_ONE_PARTNER = 100
"""Maximum messages to one partner in ten minutes."""
SAME_AGAIN = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class VisitorMessage:
    """A visitor's message, and the email address for the answer."""

    text: str
    email: str
    name: str = ""


def send(
    session: Session, partner: Partner, message: VisitorMessage, *, sender: str | None
) -> None:
    """Send a message as a mail to the partner's support address. The same message again within ten
    minutes is one message.

    ``sender`` is the key of the rate limit: the signed-in user, else the IP address, which a whole
    office may share.

    Raises `NotFound` if the partner offers no chat, `ValidationFailed` and `RateLimited`
    (``too_many_messages``).
    """
    if not of_partner(partner).show_chat:
        raise NotFound
    _check(message)
    details = {"name": message.name, "email": message.email, "message": message.text}
    recent = select(Mail.details).where(
        Mail.partner_id == partner.id,
        Mail.kind == MailKind.CHAT_MESSAGE.value,
        Mail.created_at > utcnow() - SAME_AGAIN,
    )
    if details in session.scalars(recent).all():
        return
    _charge_sender(session, partner, str(sender), MAX_FROM_ONE_SENDER)
    _charge_sender(session, partner, "everyone", MAX_TO_ONE_PARTNER)
    mail_queue.enqueue(
        session,
        MailKind.CHAT_MESSAGE,
        partner_id=partner.id,
        to=partner.support_email,
        details=details,
    )


def _check(message: VisitorMessage) -> None:
    problems = []
    if not message.text.strip():
        problems.append(Problem("message", "required", gettext("Enter a message.")))
    elif len(message.text) > MAX_CHARACTERS:
        error_message = gettext(
            "%(count)s characters are too many. Use at most %(most)s.",
            count=format_decimal(len(message.text), locale=locale()),
            most=format_decimal(MAX_CHARACTERS, locale=locale()),
        )
        problems.append(Problem("message", "too_long", error_message))
    if not message.email.strip():
        error_message = gettext("Enter your email address for the answer.")
        problems.append(Problem("email", "required", error_message))
    elif not is_email(message.email):
        error_message = gettext("Enter an email like name@example.com.")
        problems.append(Problem("email", "invalid_email", error_message))
    if len(message.name) > 200:
        problems.append(Problem("name", "too_long", gettext("At most 200 characters.")))
    raise_problems(problems)


def _charge_sender(session: Session, partner: Partner, sender: str, limit: int) -> None:
    pause = SAME_AGAIN.total_seconds() / limit
    counter = FailureCounter(
        throttle.key_of("chat", str(partner.id), sender), ThrottleRule(limit, pause, pause, pause)
    )
    try:
        throttle.charge(session, [counter])
    except RateLimited as error:
        minutes = max(1, -(-error.retry_after // 60))
        message = ngettext(
            "Too many messages. This one was not sent. Send it again in %(num)s minute.",
            "Too many messages. This one was not sent. Send it again in %(num)s minutes.",
            minutes,
        )
        raise RateLimited(message, error.retry_after, "too_many_messages") from error
