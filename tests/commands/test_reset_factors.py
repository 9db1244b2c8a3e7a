"""``flask user reset-factors`` and ``flask operator reset-factors``: every factor is lost."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import CallerKind, Role
from app.errors import Forbidden
from app.models import AuditEntry, AuthenticatorApp, PortalSession, RecoveryCode, User, utcnow
from app.services.auth import sessions
from app.services.factors import recovery_codes
from app.services.users import factor_reset, operators
from tests.commands.conftest import Shell
from tests.fixtures.mails import send_waiting
from tests.fixtures.tenants import OPERATOR

ABSENT = "0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c01"


@pytest.fixture
def operator(session: Session, shell: Shell) -> User:
    return operators.create(
        session, OPERATOR, email="root@platform.example", name=None, password_hash="hash"
    )


def protect(session: Session, user: User) -> None:
    user.second_factor_at = utcnow()
    session.add(AuthenticatorApp(user_id=user.id, secret="sealed", confirmed_at=utcnow()))
    recovery_codes.replace(session, user.id)
    sessions.create(session, user, lifetime=timedelta(hours=12), host="localhost")
    session.commit()


def remaining_factors(session: Session, user: User) -> list[object]:
    session.expire_all()
    counts = [
        session.scalar(select(func.count()).select_from(model).where(model.user_id == user.id))
        for model in (AuthenticatorApp, RecoveryCode, PortalSession)
    ]
    return [user.second_factor_at, *counts]


def test_the_last_administrator_of_a_partner_can_sign_in_again(
    session: Session, shell: Shell, settings: Settings
) -> None:
    user = shell.tenant.staff[Role.PARTNER_ADMIN]
    protect(session, user)
    result = shell.run("user", "reset-factors", user.id)
    assert (result.exit_code, result.output) == (
        0,
        f"{user.email} has no second factor any more. All sessions have ended.\n",
    )
    assert remaining_factors(session, user) == [None, 0, 0, 0]
    row = session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc())).first()
    assert row is not None
    assert (row.actor_kind, row.action, row.target_id) == (
        CallerKind.SYSTEM,
        "user.factors_reset",
        str(user.id),
    )
    (letter,) = send_waiting(session, settings)
    assert letter.to == user.email
    assert "removed all second factors of your account" in letter.text


def test_an_operator_can_sign_in_again(session: Session, shell: Shell, operator: User) -> None:
    protect(session, operator)
    result = shell.run("operator", "reset-factors", "Root@platform.example")
    assert result.exit_code == 0
    assert remaining_factors(session, operator) == [None, 0, 0, 0]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("user", "reset-factors", ABSENT), "There is no such user."),
        (("operator", "reset-factors", "no@platform.example"), "There is no such operator."),
    ],
)
def test_an_unknown_user_is_named(shell: Shell, words: tuple[str, ...], sentence: str) -> None:
    result = shell.run(*words)
    assert result.exit_code != 0
    assert sentence in result.stderr


def test_no_user_can_use_the_reset_of_the_command_line(session: Session, shell: Shell) -> None:
    caller = shell.tenant.caller(Role.PARTNER_ADMIN)
    with pytest.raises(Forbidden) as refused:
        factor_reset.reset_by_operator(session, caller, shell.tenant.user.id)
    assert refused.value.code == "command_line_only"
