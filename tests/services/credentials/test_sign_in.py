from collections.abc import Callable
from uuid import UUID

import pytest
from argon2 import PasswordHasher
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import OrganizationStatus, Role, UserStatus
from app.errors import NotFound
from app.models import AuditEntry, ThrottleCounter, User, utcnow
from app.services.auth import offered_accounts, passwords, sign_in
from app.services.auth.password_checks import PasswordChecks
from app.services.auth.sign_in import SignInOutcome
from app.services.users import operators
from tests.fixtures.clock import SetClock
from tests.fixtures.settings import SECRET_KEY
from tests.fixtures.tenants import OPERATOR, Tenant, make_tenant, make_user

PASSWORD = "correct horse battery"
HASH = passwords.hash_password(PASSWORD)
LIMITS = Settings(env="test", secret_key=SECRET_KEY, failed_sign_ins=3)
CHECKS = PasswordChecks(2, 2)


@pytest.fixture
def tenant(session: Session) -> Tenant:
    tenant = make_tenant(session)
    for user in (tenant.user, tenant.plus_user, *tenant.staff.values()):
        user.password_hash = HASH
    session.flush()
    return tenant


def attempt(
    session: Session,
    email: str,
    password: str = PASSWORD,
    *,
    ip: str = "192.0.2.1",
    partner_id: UUID | None = None,
) -> SignInOutcome:
    begun = sign_in.begin(session, email=email, ip=ip, partner_id=partner_id, settings=LIMITS)
    if begun.refusal:
        raise begun.refusal
    return sign_in.finish(session, begun, sign_in.verify(begun, password, CHECKS))


def test_the_right_password_signs_in_and_is_remembered(
    session: Session, clock: SetClock, tenant: Tenant
) -> None:
    session.refresh(tenant.user)
    before = tenant.user.updated_at
    outcome = attempt(session, " OLGA@northwind.example ")
    assert outcome == SignInOutcome(user=tenant.user)
    session.refresh(tenant.user)
    assert tenant.user.last_sign_in == clock.now
    assert tenant.user.updated_at == before
    written = session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc())).first()
    assert written is not None
    assert (written.action, written.actor_id, written.target_id) == (
        "user.signed_in",
        tenant.user.id,
        str(tenant.user.id),
    )


def test_unknown_address_and_wrong_password_get_the_same_answer(
    session: Session, tenant: Tenant
) -> None:
    outcomes = [
        attempt(session, "olga@northwind.example", "wrong"),
        attempt(session, "nobody@northwind.example"),
    ]
    assert outcomes == [SignInOutcome(), SignInOutcome()]
    assert [outcome.refused for outcome in outcomes] == [True, True]


def test_a_success_resets_the_count(session: Session, clock: SetClock, tenant: Tenant) -> None:
    for _ in range(2):
        for _ in range(2):
            attempt(session, "olga@northwind.example", "wrong")
        assert attempt(session, "olga@northwind.example").user == tenant.user
    counted = session.scalars(select(ThrottleCounter.failures)).all()
    assert sorted(round(each) for each in counted) == [
        0,
        0,
        4,
        4,
    ]  # the last of the network and the installation


def test_the_neutral_sign_in_offers_every_account_that_the_password_opens(
    session: Session, tenant: Tenant
) -> None:
    other_tenant = make_tenant(session, "Southwind")
    twin = make_user(
        session, other_tenant.partner.id, "olga@northwind.example", businessName="Olga's Garage"
    )
    twin.password_hash = HASH
    session.flush()
    outcome = attempt(session, "olga@northwind.example")
    assert outcome.user is None
    assert [(c.user_id, c.partner_name, c.organization_name) for c in outcome.choices] == [
        (tenant.user.id, "Northwind", "Northwind Bakery"),
        (twin.id, "Southwind", "Olga's Garage"),
    ]
    assert outcome.offer is not None
    assert sign_in.choose(session, twin.id, outcome.offer, ip=None).user == twin
    assert sign_in.choose(session, twin.id, outcome.offer, ip=None).refused


def test_choosing_an_account_that_was_not_offered_is_refused_and_ends_the_offer(
    session: Session, tenant: Tenant
) -> None:
    offer = offered_accounts.create(session, [tenant.user.id])
    assert sign_in.choose(session, tenant.plus_user.id, offer, ip=None).refused
    assert sign_in.choose(session, tenant.user.id, offer, ip=None).refused


def test_the_neutral_sign_in_chooses_the_only_account_that_the_password_opens(
    session: Session, tenant: Tenant
) -> None:
    other_tenant = make_tenant(session, "Southwind")
    twin = make_user(session, other_tenant.partner.id, "olga@northwind.example")
    twin.password_hash = passwords.hash_password("another password")
    session.flush()
    assert attempt(session, "olga@northwind.example").user == tenant.user
    assert attempt(session, "olga@northwind.example", "another password").user == twin


def test_the_sign_in_of_a_partner_accepts_only_its_own_users(
    session: Session, tenant: Tenant
) -> None:
    other_tenant = make_tenant(session, "Southwind")
    email = "olga@northwind.example"
    assert attempt(session, email, partner_id=tenant.partner.id).user == tenant.user
    assert attempt(session, email, partner_id=other_tenant.partner.id).refused


def test_an_operator_signs_in_at_the_neutral_page_only(session: Session, tenant: Tenant) -> None:
    operator = operators.create(
        session, OPERATOR, email="root@platform.example", name=None, password_hash=HASH
    )
    assert attempt(session, "root@platform.example").user == operator
    assert attempt(session, "root@platform.example", partner_id=tenant.partner.id).refused


def archive_organization(tenant: Tenant) -> None:
    tenant.organization.status = OrganizationStatus.ARCHIVED


def user_status(status: UserStatus) -> Callable[[Tenant], None]:
    def change(tenant: Tenant) -> None:
        tenant.user.status = status

    return change


@pytest.mark.parametrize(
    "change",
    [user_status(UserStatus.DEACTIVATED), user_status(UserStatus.INVITED)],
)
def test_an_inactive_user_is_refused_like_an_unknown_one(
    session: Session, tenant: Tenant, change: Callable[[Tenant], None]
) -> None:
    change(tenant)
    session.flush()
    assert attempt(session, "olga@northwind.example") == SignInOutcome()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (archive_organization, "Contact Northwind about Northwind Bakery."),
        (user_status(UserStatus.SUSPENDED), "Contact an administrator of Northwind."),
    ],
)
def test_a_suspended_user_with_the_right_password_reads_who_to_ask(
    session: Session, tenant: Tenant, change: Callable[[Tenant], None], words: str
) -> None:
    change(tenant)
    session.flush()
    assert attempt(session, "olga@northwind.example") == SignInOutcome(suspended=words)
    assert attempt(session, "olga@northwind.example", "another password") == SignInOutcome()


def test_a_hash_with_old_costs_is_renewed_at_sign_in(session: Session, tenant: Tenant) -> None:
    old = PasswordHasher(time_cost=1, memory_cost=8192, parallelism=1).hash(PASSWORD)
    tenant.user.password_hash = old
    session.flush()
    assert attempt(session, "olga@northwind.example").user == tenant.user
    session.flush()
    renewed = session.scalars(select(User.password_hash).where(User.id == tenant.user.id)).one()
    assert renewed != old
    assert passwords.needs_rehash(renewed or "") is False
    assert passwords.verify(renewed, PASSWORD)


def test_a_password_that_changed_meanwhile_does_not_sign_in(
    session: Session, tenant: Tenant
) -> None:
    admitted = sign_in.begin(
        session, email="olga@northwind.example", ip=None, partner_id=None, settings=LIMITS
    )
    proven = sign_in.verify(admitted, PASSWORD, CHECKS)
    tenant.user.password_hash = passwords.hash_password("a new one")
    session.flush()
    assert sign_in.finish(session, admitted, proven).refused


def test_a_verified_domain_names_its_partner(session: Session, tenant: Tenant) -> None:
    hosts = ("northwind.example", "NORTHWIND.example:8000", "other.example", "", "[::1]:80")
    assert [sign_in.active_partner_by_host(session, host) for host in hosts] == [None] * 5
    tenant.partner.domain_verified_at = utcnow()
    session.flush()
    assert [sign_in.active_partner_by_host(session, host) for host in hosts] == [
        tenant.partner, tenant.partner, None, None, None,
    ]  # fmt: skip


def test_a_suspended_partner_has_no_sign_in_page(session: Session, tenant: Tenant) -> None:
    assert (
        sign_in.active_partner_by_slug(session, tenant.partner.slug, "localhost") == tenant.partner
    )
    tenant.partner.suspended_at = utcnow()
    session.flush()
    with pytest.raises(NotFound):
        sign_in.active_partner_by_slug(session, tenant.partner.slug, "localhost")


def test_staff_sign_in_too(session: Session, tenant: Tenant) -> None:
    outcome = attempt(session, "partnerAdmin@northwind.example", partner_id=tenant.partner.id)
    assert outcome.user == tenant.staff[Role.PARTNER_ADMIN]
