"""Names are found by any part of them, quickly where they are few, and always the same ones."""

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import Organization, User
from app.services import name_search, organizations, users
from tests.fixtures.tenants import Tenant, make_tenant, make_user

BUSINESSES = ('Ünal "Döner"', "50% & more", "Tools_1", "it's-us", "歯科医院")


@pytest.fixture
def tenant(session: Session) -> Tenant:
    tenant = make_tenant(session)
    make_tenant(session, "Southbank")
    for number, business in enumerate(
        ('Ünal "Döner"', "50% & more", "Tools_1", "it's-us", "歯科医院")
    ):
        make_user(session, tenant.partner.id, f"u{number}@shop.example", businessName=business)
    return tenant


WORDS = {
    "ÜNAL": ['Ünal "Döner"'],
    'l "dö': ['Ünal "Döner"'],
    "0% & m": ["50% & more"],
    "ols_": ["Tools_1"],
    "lsX1": [],
    "it's-us": ["it's-us"],
    "科医院": ["歯科医院"],
    "歯科": ["歯科医院"],
    "wind dent": ["Northwind Dental"],
    "south": [],
    '"': ['Ünal "Döner"'],
    "OR": ["50% & more", "Northwind Bakery", "Northwind Dental"],
    "NEAR(": [],
    "U1@shop": ["50% & more"],
    "2@": ["Tools_1"],
    "u_@shop": [],
}


@pytest.mark.alternating
@pytest.mark.parametrize("few", [name_search.FEW, 0], ids=["by the index", "one by one"])
@pytest.mark.parametrize("words", WORDS)
def test_any_part_of_a_name_finds_it_among_any_number(
    session: Session, tenant: Tenant, monkeypatch: pytest.MonkeyPatch, words: str, few: int
) -> None:
    monkeypatch.setattr(name_search, "FEW", few)
    admin = tenant.caller(Role.PARTNER_ADMIN)
    found = organizations.search(
        session, admin, organizations.OrganizationFilter(query=words), sort="name"
    )
    members = users.search(session, admin, users.UserFilter(query=words)).items
    names = organizations.names_of(
        session, admin, {one.organization_id for one in members if one.organization_id}
    )
    assert [one.name for one in found.items] == WORDS[words]
    assert sorted(names.values()) == sorted(WORDS[words])


@pytest.mark.parametrize("few", [name_search.FEW, 0], ids=["by the index", "one by one"])
@pytest.mark.parametrize("words", ["north", "it", "south"])
def test_records_of_organizations_are_found_by_their_names(
    session: Session, tenant: Tenant, monkeypatch: pytest.MonkeyPatch, words: str, few: int
) -> None:
    monkeypatch.setattr(name_search, "FEW", few)
    condition = name_search.is_of_organization_by_name(session, User.organization_id, words)
    emails = session.scalars(select(User.email).where(condition)).all()
    named = session.execute(select(User.email, Organization.name).join(Organization)).all()
    assert sorted(emails) == sorted(email for email, name in named if words in name.lower())


def test_renamed_records_are_found_only_by_their_new_names(
    session: Session, tenant: Tenant
) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)

    def found(words: str) -> list[str]:
        return [
            one.email for one in users.search(session, admin, users.UserFilter(query=words)).items
        ]

    tenant.user.name, tenant.organization.referral_code = "Olga Petrova", "FRIEND-77"
    session.flush()
    assert found("petrova") == [tenant.user.email]
    tenant.user.name, tenant.organization.name = "Olga Iwanowa", "Sourdough & Sons"
    session.flush()
    assert found("petrova") == []
    assert found("iwanowa") == found("dough & s") == [tenant.user.email]
    by_code = organizations.OrganizationFilter(query="friend-7")
    assert organizations.search(session, admin, by_code).items == [tenant.organization]


SPELLINGS = {
    "Mueller": ["MÜLLER Bau", "Mueller & Söhne"],
    "müller": ["MÜLLER Bau", "Mueller & Söhne"],
    "muller": ["MÜLLER Bau"],
    "Soehne": ["Mueller & Söhne"],
    "strasse": ["Joel Straße"],
    "STRAßE": ["Joel Straße"],
    "poe": ["Poe Books"],
    "po": ["Poe Books", "Poland Tours"],
    "michael": ["Michael Raoul"],
    "raoul": ["Michael Raoul"],
    "joel": ["Joel Straße"],
    "koeln": ["K\u006f\u0308ln"],
    "bauer": [],
}


@pytest.mark.parametrize("words", SPELLINGS)
def test_umlauts_are_found_in_both_spellings_and_similar_names_only_in_their_own(
    session: Session, tenant: Tenant, words: str
) -> None:
    names = [
        *("MÜLLER Bau", "Mueller & Söhne", "Joel Straße", "Poe Books", "Poland Tours"),
        *("Michael Raoul", "Jolene", "Michal", "K\u006f\u0308ln", "Baur"),
    ]
    for number, name in enumerate(names):
        make_user(session, tenant.partner.id, f"s{number}@shop.example", businessName=name)
    admin = tenant.caller(Role.PARTNER_ADMIN)
    found = organizations.search(
        session, admin, organizations.OrganizationFilter(query=words), sort="name"
    )
    members = users.search(session, admin, users.UserFilter(query=words)).items
    of_members = organizations.names_of(
        session, admin, {one.organization_id for one in members if one.organization_id}
    )
    assert sorted(one.name for one in found.items) == sorted(SPELLINGS[words])
    assert sorted(of_members.values()) == sorted(SPELLINGS[words])
