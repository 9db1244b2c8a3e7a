"""Names are offered for words that differ from them by one letter, or by two swapped ones."""

import pytest
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, Role
from app.services import campaigns, near_names, search
from app.services.search import SearchResults
from tests.fixtures.tenants import Tenant, make_tenant


@pytest.mark.parametrize(
    ("text", "words", "is_near"),
    [
        ("Show room", "Shwo", True),
        ("Show room", "hSow", True),
        ("Show room", "roo Sohw", True),
        ("Praxis Nordlicht", "Nrodlicht", True),
        ("Praxis Nordlicht", "nordlciht praxsi", True),
        ("Praxis Nordlicht", "Nodlicht", True),
        ("Praxis Nordlicht", "Norddlicht", True),
        ("Praxis Nordlicht", "Mordlicht", True),
        ("Praxis Nordlicht", "Nrodli", True),
        ("Müller & Söhne", "Müllre Sohne", True),
        ("Praxis Nordlicht", "Nrodlciht", False),
        ("Praxis Nordlicht", "Shwo Nrodlicht", False),
        ("Translations", "bran", False),
        ("Show room", "hsw", False),
        ("Show room", "%%%%", False),
        ("Show room", "", False),
    ],
)
def test_one_slip_in_a_word_is_near(text: str, words: str, is_near: bool) -> None:
    assert near_names.is_near(text, words) is is_near


@pytest.fixture
def tenant(session: Session) -> Tenant:
    tenant = make_tenant(session)
    other_tenant = make_tenant(session, "Northwood")
    for each in (tenant, other_tenant):
        admin = each.caller(Role.PARTNER_ADMIN)
        campaigns.create(session, admin, each.plus.id, name="Nordlicht 50%")
    return tenant


def names(found: SearchResults) -> dict[str, list[str]]:
    kinds = ("partners", "organizations", "users", "assistants", "campaigns")
    named = {kind: [row.name for row in getattr(found, kind)] for kind in kinds}
    return {kind: rows for kind, rows in named.items() if rows}


@pytest.mark.parametrize("words", ["Nrodlicht", "nordilcht", "Norldicht", "Nordlichtt", "Nodlicht"])
def test_only_own_names_are_offered(session: Session, tenant: Tenant, words: str) -> None:
    admin, editor = tenant.caller(Role.PARTNER_ADMIN), tenant.caller(Role.ADMIN)
    for caller in (admin, editor):
        assert names(search.find(session, caller, words, 5)) == {}
        assert names(search.near(session, caller, words, 5)) == {"campaigns": ["Nordlicht 50%"]}


def test_archived_organizations_are_not_offered(session: Session, tenant: Tenant) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    assert names(search.near(session, admin, "Detnal", 5))["organizations"] == ["Northwind Dental"]
    tenant.plus.status = OrganizationStatus.ARCHIVED
    session.flush()
    assert "organizations" not in names(search.near(session, admin, "Detnal", 5))


def test_at_most_so_many_are_offered_by_name(session: Session, tenant: Tenant) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    for name in ("Winter C", "Winter A", "Winter B"):
        campaigns.create(session, admin, tenant.plus.id, name=name)
    found = names(search.near(session, admin, "Wniter", 2))
    assert found == {"campaigns": ["Winter A", "Winter B"]}


def test_a_member_is_offered_only_names_of_the_own_organization(
    session: Session, tenant: Tenant
) -> None:
    member = tenant.caller(Role.STANDARD)
    campaigns.create(session, member, tenant.organization.id, name="Nordlicht, ours")
    found = names(search.near(session, member, "Nrodlicht", 5))
    assert found == {"campaigns": ["Nordlicht, ours"]}


def test_an_operator_is_offered_partners(session: Session, tenant: Tenant) -> None:
    found = names(search.near(session, tenant.caller(Role.OPERATOR), "Nrothwind", 5))
    assert found["partners"] == ["Northwind"]
