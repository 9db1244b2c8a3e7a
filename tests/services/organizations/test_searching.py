"""Screens of organizations and users: found, filtered, sorted, page by page."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, Role, Tier, UserStatus
from app.errors import ValidationFailed
from app.models import Organization
from app.schemas.fields import MAX_INTEGER
from app.services import assistants, organizations, users
from app.services.organizations import LimitCloseness
from app.services.paging import Page
from tests.fixtures.tenants import OPERATOR, Tenant, make_tenant, make_user

BUSINESSES = ["Ünal Döner", "alpha 50%", "Beta_1", "alpha 50", "Gamma"]


@pytest.fixture
def tenant(session: Session) -> Tenant:
    tenant = make_tenant(session)
    make_tenant(session, "Southbank")
    for number, business in enumerate(BUSINESSES):
        tier = Tier.PLUS.value if number % 2 else None
        make_user(
            session, tenant.partner.id, f"u{number}@x.example", businessName=business, tier=tier
        )
    return tenant


def every(page_of: Callable[[str | None], Page[Any]]) -> list[Any]:
    """All items of all pages."""
    found: list[Any] = []
    cursor = None
    while True:
        page = page_of(cursor)
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            return found


def names(session: Session, tenant: Tenant, **chosen: Any) -> list[str]:
    caller, sort = tenant.caller(Role.ADMIN), chosen.pop("sort", "-created")
    wanted = organizations.OrganizationFilter(**chosen)
    found = [
        organization.name
        for organization in every(
            lambda cursor: organizations.search(
                session, caller, wanted, sort=sort, cursor=cursor, limit=2
            )
        )
    ]
    assert organizations.count(session, caller, wanted) == len(found)
    return found


ALL = ["Northwind Bakery", "Northwind Dental", *BUSINESSES]


@pytest.mark.parametrize(
    ("chosen", "found"),
    [
        ({}, ALL[::-1]),
        ({"sort": "created"}, ALL),
        ({"sort": "name"}, sorted(ALL, key=str.lower)),
        ({"sort": "-name"}, sorted(ALL, key=str.lower, reverse=True)),
        ({"query": "ünal d"}, ["Ünal Döner"]),
        ({"query": "50%"}, ["alpha 50%"]),
        ({"query": "beta_"}, ["Beta_1"]),
        ({"query": "  "}, ALL[::-1]),
        ({"query": "a\x00lpha"}, ["alpha 50", "alpha 50%"]),
        ({"tier": Tier.PLUS}, ["alpha 50", "alpha 50%", "Northwind Dental"]),
        ({"status": OrganizationStatus.SUSPENDED}, []),
    ],
)
def test_organizations_are_paged(
    session: Session, tenant: Tenant, chosen: dict[str, Any], found: list[str]
) -> None:
    assert names(session, tenant, **chosen) == found


def test_organizations_are_found_by_both_referral_codes(session: Session, tenant: Tenant) -> None:
    tenant.organization.referral_code = "FRIEND-1"
    tenant.plus.referred_by_code = "friend-1"
    session.flush()
    assert names(session, tenant, query="friend") == ["Northwind Dental", "Northwind Bakery"]


def test_archived_organizations_are_shown_where_they_are_asked_for(
    session: Session, tenant: Tenant
) -> None:
    organizations.archive(session, tenant.caller(Role.ADMIN), tenant.plus.id)
    assert names(session, tenant, query="northwind") == ["Northwind Bakery"]
    assert names(session, tenant, status=OrganizationStatus.ARCHIVED) == ["Northwind Dental"]


def test_organizations_are_found_by_how_much_of_a_limit_they_use(
    session: Session, tenant: Tenant
) -> None:
    """Each has one assistant and one person who holds a seat."""
    for organization in session.scalars(select(Organization)):
        organization.assistant_limit = organization.user_limit = 0
    tenant.organization.user_limit, tenant.plus.assistant_limit = 1, 2
    session.flush()
    assert names(session, tenant, closeness=LimitCloseness.REACHED) == ["Northwind Bakery"]
    tenant.user.status = UserStatus.DEACTIVATED
    tenant.plus.assistant_limit = 5
    for number in range(3):
        assistants.add_assistant(session, OPERATOR, tenant.plus, name=f"Robin {number}")
    session.flush()
    assert names(session, tenant, closeness=LimitCloseness.REACHED) == []
    assert names(session, tenant, closeness=LimitCloseness.NEAR) == ["Northwind Dental"]


@pytest.mark.parametrize("closeness", LimitCloseness)
def test_the_highest_limits_are_not_reached(
    session: Session, tenant: Tenant, closeness: LimitCloseness
) -> None:
    for organization in session.scalars(select(Organization)):
        organization.assistant_limit = organization.user_limit = MAX_INTEGER
    assert names(session, tenant, closeness=closeness) == []


def test_users_are_paged(session: Session, tenant: Tenant) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)

    def emails(sort: str = "-created", **chosen: Any) -> list[str]:
        wanted = users.UserFilter(**chosen)
        found = [
            user.email
            for user in every(
                lambda cursor: users.search(
                    session, caller, wanted, sort=sort, cursor=cursor, limit=3
                )
            )
        ]
        assert users.count(session, caller, wanted) == len(found)
        return found

    numbered = [f"u{number}@x.example" for number in range(5)]
    olga, paul = tenant.user.email, tenant.plus_user.email
    staff = [user.email for user in tenant.staff.values()]
    tenant.user.name, tenant.user.idp_uid = "Olga Ünal", "auth0|7"
    session.flush()
    assert emails() == [*numbered[::-1], paul, olga, *staff[::-1]]
    assert emails(sort="email") == sorted([*numbered, paul, olga, *staff], key=str.lower)
    assert emails(query="U1@") == ["u1@x.example"]
    assert emails(query="olga ü") == [olga]
    assert emails(query="auth0|7") == [olga]
    assert emails(query="wind dent") == [paul]
    assert emails(organization=tenant.organization.id) == [olga]
    assert emails(user_type=Role.ADMIN) == ["admin@northwind.example"]
    assert emails(status=UserStatus.SUSPENDED) == []


@pytest.mark.parametrize(
    "cursor", ["?", "e30", "bm90IGpzb24", "eyJzIjoxLCJpZCI6Im5vIn0", "W10", "\x00", "ü"]
)
def test_a_forged_cursor_is_refused(session: Session, tenant: Tenant, cursor: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        organizations.search(session, tenant.caller(Role.ADMIN), cursor=cursor)
    assert refused.value.code == "invalid_cursor"


def test_a_cursor_of_another_order_is_refused(session: Session, tenant: Tenant) -> None:
    caller = tenant.caller(Role.ADMIN)
    by_name = organizations.search(session, caller, sort="name", limit=1).next_cursor
    with pytest.raises(ValidationFailed) as refused:
        organizations.search(session, caller, sort="created", cursor=by_name)
    assert refused.value.code == "invalid_cursor"


@pytest.mark.parametrize("search", [organizations.search, users.search])
def test_an_order_that_is_not_offered_is_refused(
    session: Session, tenant: Tenant, search: Callable[..., Page[Any]]
) -> None:
    with pytest.raises(ValidationFailed) as refused:
        search(session, tenant.caller(Role.ADMIN), sort="password_hash")
    assert refused.value.code == "unknown_sort"
