"""A sign-in that began with the old password ends when the password is replaced meanwhile."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from app.config import Settings
from app.database import Database
from app.enums import Role
from app.errors import Unauthenticated
from app.models import PortalSession, User, utcnow
from app.policy.caller import system_caller
from app.services import users
from app.services.auth import passwords, sessions, sign_in
from app.services.auth.password_checks import PasswordChecks
from app.services.auth.sign_in import SignInOutcome
from tests.fixtures.tenants import make_tenant

PASSWORD = "correct horse battery"
NEW_HASH = passwords.hash_password("a long way to the sea")
HOUR = timedelta(hours=1)


@pytest.fixture
def email(fresh_database: Database) -> str:
    with fresh_database.transaction() as session:
        admin = session.get_one(User, make_tenant(session).caller(Role.PARTNER_ADMIN).user_id)
        admin.password_hash = passwords.hash_password(PASSWORD)
        return admin.email


def sign_in_with_old_password(database: Database, email: str) -> SignInOutcome:
    settings = Settings(env="test", secret_key="k" * 64)
    with database.transaction() as session:
        attempt = sign_in.begin(
            session, email=email, ip="192.0.2.1", partner_id=None, settings=settings
        )
    proven = sign_in.verify(attempt, PASSWORD, PasswordChecks(2, 2))
    with database.transaction() as session:
        return sign_in.finish(session, attempt, proven)


def user_of(database: Database, email: str) -> User:
    with database.transaction(read_only=True) as session:
        return session.scalars(select(User).where(User.email == email)).one()


def replace_password(database: Database, email: str) -> None:
    with database.transaction() as session:
        user = session.scalars(select(User).where(User.email == email)).one()
        users.set_password(session, system_caller("tests"), user, NEW_HASH)


def refuses_session(database: Database, user: User) -> bool:
    with pytest.raises(Unauthenticated), database.transaction() as session:
        sessions.create(session, user, lifetime=HOUR, host="localhost")
    with database.transaction(read_only=True) as session:
        return session.scalar(select(func.count()).select_from(PortalSession)) == 0


def test_a_password_that_was_replaced_after_it_was_checked_opens_no_session(
    fresh_database: Database, email: str
) -> None:
    outcome = sign_in_with_old_password(fresh_database, email)
    assert outcome.user is not None
    replace_password(fresh_database, email)
    assert refuses_session(fresh_database, outcome.user)


def test_a_second_step_is_not_skipped_by_a_sign_in_that_began_before_it(
    fresh_database: Database, email: str
) -> None:
    outcome = sign_in_with_old_password(fresh_database, email)
    assert outcome.user is not None
    with fresh_database.transaction() as session:
        user = session.scalars(select(User).where(User.email == email)).one()
        user.second_factor_at = utcnow()
    assert refuses_session(fresh_database, outcome.user)


def test_hashing_a_checked_password_again_never_brings_back_a_replaced_one(
    fresh_database: Database, email: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passwords, "needs_rehash", lambda _hash: True)
    with ThreadPoolExecutor(1) as pool:
        with fresh_database.transaction() as session:
            attempt = sign_in.begin(
                session,
                email=email,
                ip="192.0.2.1",
                partner_id=None,
                settings=Settings(env="test", secret_key="k" * 64),
            )
        proven = sign_in.verify(attempt, PASSWORD, PasswordChecks(2, 2))

        def finish() -> SignInOutcome:
            with fresh_database.transaction() as session:
                return sign_in.finish(session, attempt, proven)

        with fresh_database.transaction() as session:
            user = session.scalars(select(User).where(User.email == email)).one()
            users.set_password(session, system_caller("tests"), user, NEW_HASH)
            finishing = pool.submit(finish)
            time.sleep(0.5)
        assert finishing.result().refused
    assert user_of(fresh_database, email).password_hash == NEW_HASH
