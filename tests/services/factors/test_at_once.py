"""Eight clients at one code, one sign-in and one passkey: exactly one gets through."""

import json
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from uuid import UUID

import pyotp
import pytest
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from app.database import Database
from app.enums import Role
from app.errors import DomainError
from app.models import AuthenticatorApp, Passkey, RecoveryCode, User, utcnow
from app.policy.caller import Caller
from app.services.auth import second_step
from app.services.credentials.encryption import seal
from app.services.factors import authenticator_apps, own_factors, passkeys, recovery_codes
from app.services.factors.passkeys import BrowserSite
from tests.fixtures.authenticator import Authenticator
from tests.fixtures.tenants import make_tenant
from tests.matrix import rounds

CLIENTS = 8
ROUNDS = rounds(1)
KEYS = ["k" * 32]
SITE = BrowserSite("localhost", "http://localhost")


@pytest.fixture
def caller(fresh_database: Database) -> Caller:
    with fresh_database.transaction() as session:
        return make_tenant(session).caller(Role.PARTNER_ADMIN)


@pytest.fixture
def user_id(caller: Caller) -> UUID:
    assert caller.user_id is not None
    return caller.user_id


def at_once(database: Database, attempts: Iterable[Callable[[Session], object]]) -> int:
    """How many of the clients succeed."""
    start = Barrier(CLIENTS)

    def client(attempt: Callable[[Session], object]) -> bool:
        start.wait()
        try:
            with database.transaction() as session:
                return bool(attempt(session))
        except DomainError:
            return False

    with ThreadPoolExecutor(CLIENTS) as pool:
        return sum(pool.map(client, attempts))


def challenges_for(
    database: Database, user_id: UUID, keys: Iterable[Authenticator]
) -> list[tuple[str, str]]:
    """A challenge of its own for each key, with the answer."""
    found = []
    for key in keys:
        with database.transaction() as session:
            user = session.get_one(User, user_id)
            each = passkeys.ask_to_register(session, user, SITE, "Portal")
            found.append((each.challenge, key.make(json.loads(each.options))))
    return found


def adding(caller: Caller, challenge: str, answer: str) -> Callable[[Session], object]:
    """Adds a passkey; whether that succeeded or, with the first factor, which codes it made."""
    return lambda session: (
        own_factors.add_passkey(session, caller, SITE, challenge, answer, "Laptop") or "no codes"
    )


def remove_passkeys(database: Database) -> int:
    """Remove all factors for the next round; return how many passkeys there were."""
    with database.transaction() as session:
        number = session.scalar(select(func.count()).select_from(Passkey)) or 0
        for kind in (Passkey, RecoveryCode):
            session.execute(delete(kind))
        return number


def test_a_recovery_code_is_used_once(fresh_database: Database, user_id: UUID) -> None:
    for _ in range(ROUNDS):
        with fresh_database.transaction() as session:
            code = recovery_codes.replace(session, user_id)[0]
        assert at_once(fresh_database, [_using(user_id, code)] * CLIENTS) == 1
        with fresh_database.transaction() as session:
            assert recovery_codes.count_left(session, user_id) == recovery_codes.COUNT - 1


def test_a_code_of_an_app_is_used_once(fresh_database: Database, user_id: UUID) -> None:
    secret = pyotp.random_base32()
    with fresh_database.transaction() as session:
        sealed = seal(secret, authenticator_apps.PURPOSE, KEYS)
        session.add(AuthenticatorApp(user_id=user_id, secret=sealed, confirmed_at=utcnow()))
    code = pyotp.TOTP(secret).now()
    uses = [lambda session: authenticator_apps.use_code(session, user_id, code, KEYS)] * CLIENTS
    assert at_once(fresh_database, uses) == 1


def test_a_waiting_sign_in_is_used_once(fresh_database: Database, user_id: UUID) -> None:
    with fresh_database.transaction() as session:
        token = second_step.begin(session, user_id, host="localhost")
    uses = [lambda session: second_step.redeem(session, token)] * CLIENTS
    assert at_once(fresh_database, uses) == 1


def test_an_answer_registers_one_passkey(
    fresh_database: Database, caller: Caller, user_id: UUID
) -> None:
    for _ in range(ROUNDS):
        (answer,) = challenges_for(fresh_database, user_id, [Authenticator()])
        assert at_once(fresh_database, [adding(caller, *answer)] * CLIENTS) == 1
        assert remove_passkeys(fresh_database) == 1


def test_a_passkey_is_registered_once_for_any_number_of_challenges(
    fresh_database: Database, caller: Caller, user_id: UUID
) -> None:
    for _ in range(ROUNDS):
        answers = challenges_for(fresh_database, user_id, [Authenticator()] * CLIENTS)
        assert at_once(fresh_database, [adding(caller, *answer) for answer in answers]) == 1
        assert remove_passkeys(fresh_database) == 1


def test_passkeys_registered_at_once_are_no_more_than_the_limit(
    fresh_database: Database, caller: Caller, user_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = challenges_for(fresh_database, user_id, [Authenticator() for _ in range(CLIENTS)])
    monkeypatch.setattr(passkeys, "MAX_PASSKEYS", 1)
    assert at_once(fresh_database, [adding(caller, *answer) for answer in answers]) == 1
    assert remove_passkeys(fresh_database) == 1


def test_of_first_factors_added_at_once_one_makes_the_recovery_codes(
    fresh_database: Database, caller: Caller, user_id: UUID
) -> None:
    for _ in range(ROUNDS):
        answers = challenges_for(fresh_database, user_id, [Authenticator() for _ in range(CLIENTS)])
        adds = [_first_codes(caller, *answer) for answer in answers]
        assert at_once(fresh_database, adds) == 1
        with fresh_database.transaction() as session:
            assert recovery_codes.count_left(session, user_id) == recovery_codes.COUNT
        assert remove_passkeys(fresh_database) == CLIENTS


def _first_codes(caller: Caller, challenge: str, answer: str) -> Callable[[Session], object]:
    """Adds a passkey; the codes that it made."""
    return lambda session: own_factors.add_passkey(
        session, caller, SITE, challenge, answer, "Laptop"
    )


def _using(user_id: UUID, code: str) -> Callable[[Session], object]:
    return lambda session: recovery_codes.redeem(session, user_id, code)
