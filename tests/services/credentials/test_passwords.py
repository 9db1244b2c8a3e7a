import time
from collections.abc import Iterator

import pytest
from argon2 import PasswordHasher

from app.services.auth import passwords
from tests.fixtures.passwords import real_costs


@pytest.fixture(autouse=True)
def _costs() -> Iterator[None]:
    with real_costs():
        yield


def cpu_seconds(password_hash: str | None) -> float:
    """The CPU time of the fastest of nine checks of a wrong password; other processes don't
    count."""
    taken = []
    for _ in range(9):
        began = time.process_time()
        passwords.verify(password_hash, "wrong password")
        taken.append(time.process_time() - began)
    return min(taken)


def test_only_the_right_password_fits() -> None:
    stored = passwords.hash_password("correct horse battery")
    assert passwords.verify(stored, "correct horse battery")
    wrong = ("correct horse", "", "Correct horse battery", "x" * 2000)
    assert [password for password in wrong if passwords.verify(stored, password)] == []


def test_no_password_fits_an_account_without_one() -> None:
    assert not passwords.verify(None, "")
    assert not passwords.verify(None, "anything")


def test_an_invalid_hash_fits_no_password() -> None:
    assert passwords.verify("plain text", "plain text") is False


def test_any_characters_can_be_a_password() -> None:
    odd = "pass\x00word \ud800 ☎"
    assert passwords.verify(passwords.hash_password(odd), odd) is True


def test_the_same_letters_in_other_code_points_fit() -> None:
    composed, decomposed = "caf\u00e9 noir", "cafe\u0301 noir"
    assert passwords.verify(passwords.hash_password(composed), decomposed) is True
    assert passwords.verify(passwords.hash_password(decomposed), composed) is True


def test_a_hash_from_before_normalization_fits_the_password_as_it_was_typed() -> None:
    typed = "ﬁfty ½ cups"
    stored = PasswordHasher().hash(typed.encode())
    assert passwords.verify(stored, typed)
    assert not passwords.verify(stored, "fifty 1⁄2 cups")


def test_an_unknown_account_costs_as_much_as_a_known_one() -> None:
    known = cpu_seconds(passwords.hash_password("correct horse battery"))
    assert 0.4 < cpu_seconds(None) / known < 2.5


def test_a_hash_with_other_costs_is_to_be_renewed() -> None:
    cheap = PasswordHasher(time_cost=1, memory_cost=8192, parallelism=1).hash("password")
    fresh = passwords.hash_password("password")
    assert passwords.needs_rehash(cheap)
    assert not passwords.needs_rehash(fresh)


def test_a_missing_account_costs_as_much_as_a_stored_password() -> None:
    assert not passwords.needs_rehash(passwords._DUMMY_HASH)
    assert not passwords.verify(None, "password")
