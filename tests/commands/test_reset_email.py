"""``flask user reset-email`` and ``flask operator reset-email``: a mailbox is lost."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import CallerKind, Role
from app.errors import Forbidden
from app.models import AuditEntry, LinkPurpose, OneTimeLink, PortalSession, User, utcnow
from app.services.auth import email_changes as pending_changes
from app.services.auth import one_time_links, sessions
from app.services.users import email_changes, operators
from tests.commands.conftest import Shell
from tests.fixtures.mails import send_waiting
from tests.fixtures.tenants import OPERATOR

ABSENT = "0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c01"
NEW = "found@elsewhere.example"


@pytest.fixture
def operator(session: Session, shell: Shell) -> User:
    user = operators.create(
        session, OPERATOR, email="root@platform.example", name=None, password_hash="hash"
    )
    session.commit()
    return user


def open_everything(session: Session, user: User) -> None:
    """The user has a session, a link and a change of the address that waits."""
    user.last_sign_in, user.password_hash = utcnow(), "hash"
    sessions.create(session, user, lifetime=timedelta(hours=12), host="localhost")
    one_time_links.create(session, user.id, LinkPurpose.RESET_PASSWORD)
    pending_changes.create(
        session, user.id, "other@elsewhere.example", requested_by="x", requested_by_id=None
    )
    session.commit()


def still_open(session: Session, user: User) -> list[int]:
    """How many sessions, links and waiting changes the user has."""
    counts = [
        session.scalar(select(func.count()).select_from(model).where(model.user_id == user.id))
        for model in (PortalSession, OneTimeLink)
    ]
    return [*(count or 0 for count in counts), int(bool(pending_changes.pending(session, user.id)))]


def last_row(session: Session) -> tuple[object, ...]:
    row = session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc())).first()
    assert row is not None
    return row.actor_kind, row.actor, row.action, row.target_id, row.before, row.after


def test_a_user_gets_the_new_address_and_everything_open_ends(
    session: Session, shell: Shell, settings: Settings
) -> None:
    user = shell.tenant.user
    before = user.email
    open_everything(session, user)
    result = shell.run("user", "reset-email", user.id, NEW)
    assert (result.exit_code, result.output) == (
        0,
        f"{user.id} now signs in as {NEW}. Sessions and links have ended.\n",
    )
    session.expire_all()
    assert (user.email, user.email_key, still_open(session, user)) == (NEW, NEW, [0, 0, 0])
    assert last_row(session) == (
        CallerKind.SYSTEM,
        "command line",
        "user.updated",
        str(user.id),
        {"email": before},
        {"email": NEW},
    )
    assert [letter.to for letter in send_waiting(session, settings)] == [before, NEW]


def test_an_operator_gets_the_new_address_too(
    session: Session, shell: Shell, operator: User, settings: Settings
) -> None:
    open_everything(session, operator)
    result = shell.run("operator", "reset-email", "Root@platform.example", NEW)
    assert (result.exit_code, result.output) == (
        0,
        f"Root@platform.example now signs in as {NEW}. Sessions and links have ended.\n",
    )
    session.expire_all()
    assert (operator.email, still_open(session, operator)) == (NEW, [0, 0, 0])
    letters = send_waiting(session, settings)
    assert [(letter.to, letter.sender_name) for letter in letters] == [
        ("root@platform.example", "Partner portal"),
        (NEW, "Partner portal"),
    ]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("user", "reset-email", ABSENT, NEW), "There is no such user."),
        (("operator", "reset-email", "no@platform.example", NEW), "There is no such operator."),
        (
            ("operator", "reset-email", "root@platform.example", "no-address"),
            "Enter an email like name@example.com.",
        ),
        (
            ("operator", "reset-email", "root@platform.example", "root@platform.example"),
            "The user has this email address already.",
        ),
        (
            ("operator", "reset-email", "root@platform.example", "ROOT2@platform.example"),
            "A user with this email address exists already.",
        ),
    ],
)
@pytest.mark.usefixtures("operator")
def test_a_refusal_is_one_sentence_and_changes_nothing(
    session: Session, shell: Shell, words: tuple[str, ...], sentence: str
) -> None:
    operators.create(
        session, OPERATOR, email="root2@platform.example", name=None, password_hash="hash"
    )
    session.commit()
    before = sorted(session.scalars(select(User.email)))
    result = shell.run(*words)
    assert (result.exit_code, result.output) == (1, f"Error: {sentence}\n")
    session.expire_all()
    assert sorted(session.scalars(select(User.email))) == before


def test_an_administrator_can_not_reset_an_address(session: Session, shell: Shell) -> None:
    admin = shell.tenant.caller(Role.PARTNER_ADMIN)
    with pytest.raises(Forbidden) as refused:
        email_changes.reset(session, admin, shell.tenant.user.id, NEW)
    assert refused.value.code == "command_line_only"
