"""Guessers wait longer and longer wherever they come from; owners sign in and recover."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import Settings
from app.database import Database
from app.enums import Role
from app.models import ThrottleCounter, User, utcnow
from app.services import retention
from app.services.auth import known_devices, passwords, recovery, sign_in, throttle
from app.services.auth.sign_in import ProvenAccount, SignInAttempt
from app.services.auth.throttle import FailureCounter, ThrottleRule, TooManyFailures
from app.services.users import mailed_links
from app.validation.networks import networks
from tests.fixtures.clock import SetClock
from tests.fixtures.mails import path_in, send_waiting
from tests.fixtures.settings import SECRET_KEY
from tests.fixtures.tenants import Tenant, make_tenant

SETTINGS = Settings(
    env="test",
    secret_key=SECRET_KEY,
    failed_sign_ins=10,
    failed_sign_ins_network=30,
    failed_sign_ins_site=100,
)
HASH = passwords.hash_password("correct horse battery")
HOME = "203.0.113.5"

pytestmark = pytest.mark.usefixtures("clock")


@pytest.fixture
def tenant(session: Session) -> Tenant:
    tenant = make_tenant(session)
    for user in (tenant.user, *tenant.staff.values()):
        user.password_hash = HASH
    session.flush()
    return tenant


def begin(session: Session, email: str, ip: str, cookie: str | None = None) -> SignInAttempt:
    return sign_in.begin(
        session, email=email, ip=ip, partner_id=None, settings=SETTINGS, device_cookie=cookie
    )


def guess(session: Session, email: str, ip: str, cookie: str | None = None) -> int | None:
    """A wrong password; the seconds to wait where it was not even checked."""
    begun = begin(session, email, ip, cookie)
    if begun.refusal:
        return begun.refusal.retry_after
    assert sign_in.finish(session, begun, []).refused
    return None


def enter(session: Session, user: User, ip: str, cookie: str | None = None) -> bool:
    """The right password, without its slow check; whether it signs in."""
    begun = begin(session, user.email_key, ip, cookie)
    if begun.refusal:
        return False
    proven = [ProvenAccount(account, None) for account in begun.accounts]
    return sign_in.finish(session, begun, proven).user == user


def spray(number: int) -> tuple[str, str]:
    return f"user{number}@northwind.example", "192.0.2.1"


def spray_from_one_site(number: int) -> tuple[str, str]:
    return f"user{number}@northwind.example", f"2001:db8:7:{number:x}::1"


def stuff(number: int) -> tuple[str, str]:
    return "olga@northwind.example", f"198.51.100.{number}"


def everywhere(number: int) -> tuple[str, str]:
    return f"user{number}@northwind.example", f"10.{number // 250}.{number % 250}.1"


ATTACKS = {
    "one address, 60 accounts": (spray, 60, 30),
    "60 networks of one IPv6 /48, 60 accounts": (spray_from_one_site, 60, 30),
    "100 addresses, one account": (stuff, 100, 20),
    "200 addresses, 200 accounts": (everywhere, 200, 100),
}


@pytest.mark.alternating
@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attacker_gets_few_guesses_while_the_user_can_sign_in_and_recover(
    session: Session, settings: Settings, tenant: Tenant, attack: str
) -> None:
    names, times, most = ATTACKS[attack]
    owner = tenant.user
    cookie = known_devices.remember(None, owner.id, HASH, SETTINGS.secret_keys)
    answers = [guess(session, *names(number)) for number in range(times)]
    assert answers == [None] * most + [1] * (times - most)

    attacked_network = names(0)[1]
    assert enter(session, owner, attacked_network, cookie)  # in a browser of theirs
    recovery.enqueue_recovery(session, email=owner.email, partner_id=None, ip=HOME)
    (letter,) = send_waiting(session, settings)
    token = path_in(letter).rsplit("/", 1)[1]
    used = mailed_links.accept(
        session, token, mailed_links.PASSWORD, tenant.partner.id, password_hash=HASH, ip=HOME
    )
    assert used.user == owner


def test_each_failure_doubles_the_wait_up_to_a_limit(session: Session, clock: SetClock) -> None:
    one = FailureCounter("one", ThrottleRule(3, 3600, 900))
    waits = []
    for _ in range(15):
        try:
            throttle.charge(session, [one])
        except TooManyFailures as error:
            waits.append(error.retry_after)
            clock.pass_by(seconds=error.retry_after - 1)
            with pytest.raises(TooManyFailures):  # an early attempt is refused and not counted
                throttle.charge(session, [one])
            clock.pass_by(seconds=1)
            throttle.charge(session, [one])
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]


def test_failures_are_forgotten_with_time(session: Session, clock: SetClock) -> None:
    one = FailureCounter("one", ThrottleRule(3, 60, 900))
    for _ in range(3):
        throttle.charge(session, [one])
    with pytest.raises(TooManyFailures) as refused:
        throttle.charge(session, [one])
    assert str(refused.value) == "Too many failed attempts. Try again in 1 second."
    clock.pass_by(minutes=2)
    for _ in range(2):
        throttle.charge(session, [one])
    with pytest.raises(TooManyFailures):
        throttle.charge(session, [one])


def test_an_account_under_attack_gets_one_guess_each_quarter_of_an_hour(
    session: Session, clock: SetClock, tenant: Tenant
) -> None:
    passed, end = 0, utcnow() + timedelta(hours=6)
    while utcnow() < end:
        wait = guess(session, tenant.user.email, f"198.51.100.{passed}")
        passed += wait is None
        clock.pass_by(seconds=wait or 0)
    assert passed == 20 + 10 + 23  # at once, with doubling waits, and in the rest of six hours


def test_an_office_of_200_signs_in_from_one_address_without_a_wait(
    session: Session, tenant: Tenant
) -> None:
    users = [tenant.user, *tenant.staff.values()]
    assert all(enter(session, users[number % 4], HOME) for number in range(200))
    assert {round(each) for each in session.scalars(select(ThrottleCounter.failures))} == {0}


def test_a_success_resets_the_account_but_not_the_network(session: Session, tenant: Tenant) -> None:
    for number in range(29):
        assert guess(session, f"user{number}@northwind.example", HOME) is None
    assert guess(session, tenant.user.email, HOME) is None
    assert guess(session, tenant.user.email, "192.0.2.9") is None
    assert enter(session, tenant.user, "192.0.2.9")
    assert guess(session, "user1@northwind.example", HOME) == 1
    for _ in range(10):
        assert guess(session, tenant.user.email, "192.0.2.9") is None


def test_a_password_that_could_not_be_checked_is_no_failure(
    session: Session, tenant: Tenant
) -> None:
    for _ in range(50):
        sign_in.withdraw(session, begin(session, tenant.user.email, HOME))
    assert enter(session, tenant.user, HOME)


def test_guesses_in_a_known_browser_are_counted_apart(session: Session, tenant: Tenant) -> None:
    cookie = known_devices.remember(None, tenant.user.id, HASH, SETTINGS.secret_keys)
    answers = [guess(session, tenant.user.email, HOME, cookie) for _ in range(12)]
    assert answers == [None] * 10 + [1, 1]
    assert enter(session, tenant.user, HOME)


def other_account(session: Session, tenant: Tenant) -> str:
    editor = tenant.staff[Role.PARTNER_EDITOR]
    return known_devices.remember(None, editor.id, HASH, SETTINGS.secret_keys)


def before_a_new_password(session: Session, tenant: Tenant) -> str:
    tenant.user.password_hash = passwords.hash_password("another long password")
    session.flush()
    return known_devices.remember(None, tenant.user.id, HASH, SETTINGS.secret_keys)


def foreign_key(session: Session, tenant: Tenant) -> str:
    return known_devices.remember(None, tenant.user.id, HASH, ["another key"])


def of_another_browser(session: Session, tenant: Tenant) -> str:
    cookie = known_devices.remember(None, tenant.user.id, HASH, SETTINGS.secret_keys)
    return f"{'x' * 22}{cookie[22:]}"


@pytest.mark.parametrize(
    "make", [other_account, before_a_new_password, foreign_key, of_another_browser]
)
def test_an_invalid_cookie_makes_no_browser_known(
    session: Session, tenant: Tenant, make: Callable[[Session, Tenant], str]
) -> None:
    cookie = make(session, tenant)
    for number in range(20):
        assert guess(session, tenant.user.email, f"198.51.100.{number}") is None
    assert guess(session, tenant.user.email, HOME, cookie) == 1


def test_a_browser_remembers_its_last_five_accounts_also_after_a_change_of_keys(
    tenant: Tenant,
) -> None:
    users = [tenant.user, tenant.plus_user, *tenant.staff.values()]
    cookie: str | None = None
    for user in [*users, users[0]]:
        cookie = known_devices.remember(cookie, user.id, HASH, ["old"])
    found = [
        known_devices.known_device_id(cookie, [(user.id, HASH)], ["new", "old"]) for user in users
    ]
    assert len(users) == 5
    assert found == [found[0]] * 5
    assert re.fullmatch(r"[\w-]{22}", found[0] or "")
    more = known_devices.remember(cookie, tenant.partner.id, HASH, ["old"])
    gone = [
        user
        for user in users
        if not known_devices.known_device_id(more, [(user.id, HASH)], ["old"])
    ]
    assert gone == [users[1]]


def test_strangers_can_not_flood_the_mailbox_or_end_a_link(
    session: Session, settings: Settings, tenant: Tenant, clock: SetClock
) -> None:
    recovery.enqueue_recovery(session, email=tenant.user.email, partner_id=None, ip=HOME)
    (first,) = send_waiting(session, settings)
    letters = []
    for number in range(50):
        clock.pass_by(seconds=60)
        recovery.enqueue_recovery(
            session, email=tenant.user.email, partner_id=None, ip=f"198.51.100.{number}"
        )
        letters += send_waiting(session, settings)
    assert len(letters) == 7
    token = path_in(first).rsplit("/", 1)[1]
    mailed_links.accept(
        session, token, mailed_links.PASSWORD, tenant.partner.id, password_hash=HASH, ip=HOME
    )
    recovery.enqueue_recovery(session, email=tenant.user.email, partner_id=None, ip=HOME)
    assert [letter.to for letter in send_waiting(session, settings)] == [
        tenant.user.email,  # that the password was changed
        tenant.user.email,  # a new link, though many were asked for
    ]


def test_a_network_that_asks_for_links_waits_a_minute_at_most(
    session: Session, clock: SetClock
) -> None:
    waits = []
    for number in range(30):
        try:
            recovery.enqueue_recovery(
                session, email=f"a{number}@b.example", partner_id=None, ip=HOME
            )
        except TooManyFailures as error:
            waits.append(error.retry_after)
            clock.pass_by(seconds=error.retry_after)
    assert waits[:5] == [1, 2, 4, 8, 16]
    assert max(waits) <= 60


def test_attempts_at_once_get_no_more_guesses_than_one_by_one(
    fresh_database: Database,
) -> None:
    few = Settings(env="test", secret_key=SECRET_KEY, failed_sign_ins=3)

    def is_admitted(_: int) -> bool:
        with fresh_database.transaction() as session:
            begun = sign_in.begin(
                session, email="a@b.example", ip=None, partner_id=None, settings=few
            )
        return begun.refusal is None

    with ThreadPoolExecutor(8) as pool:
        admitted = list(pool.map(is_admitted, range(24)))
    assert sum(admitted) == 3


def test_successes_and_failures_at_once_never_block_each_other(
    fresh_database: Database,
) -> None:
    with fresh_database.transaction() as session:
        user = make_tenant(session).user
        user.password_hash = HASH

    def try_once(number: int) -> str:
        with fresh_database.transaction() as session:
            begun = begin(session, user.email_key, f"2001:db8:{number}::1")
        with fresh_database.transaction() as session:
            proven = [ProvenAccount(account, None) for account in begun.accounts]
            outcome = sign_in.finish(session, begun, proven if number % 2 else [])
        return "refused" if outcome.refused else "signed in"

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(try_once, range(40)))
    assert answers == ["refused", "signed in"] * 20


def test_expired_counters_are_removed(session: Session, clock: SetClock) -> None:
    guess(session, "a@b.example", HOME)
    assert session.scalars(select(ThrottleCounter)).all()
    clock.pass_by(hours=25)
    retention.purge(session)
    assert session.scalars(select(ThrottleCounter)).all() == []


@pytest.mark.parametrize(
    ("ip", "counted"),
    [
        ("192.0.2.1", ["192.0.2.1"]),
        ("::ffff:192.0.2.1", ["192.0.2.1"]),
        ("2001:db8:1:2:3::5", ["2001:db8:1:2::/64", "2001:db8:1::/48"]),
        ("fe80::1%eth0", ["fe80::/64", "fe80::/48"]),
        (None, [""]),
        ("unix", ["unix"]),
    ],
)
def test_ip_addresses_are_counted_by_network(ip: str | None, counted: list[str]) -> None:
    assert networks(ip) == counted
