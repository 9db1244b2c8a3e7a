"""Lists are bare arrays in a stable order: whole, or page by page."""

from itertools import chain

import pytest

from app.enums import Role
from app.models import new_id
from app.services import paging
from tests.fixtures.partner_api import PartnerApi
from tests.fixtures.tenants import make_user


@pytest.fixture
def path(partner_api: PartnerApi) -> str:
    for number in range(5):
        make_user(partner_api.session, partner_api.tenant.partner.id, f"u{number}@x.example")
    partner_api.session.commit()
    return f"/api/partners/{partner_api.tenant.partner.id}/users"


EMAILS = [
    "partnerAdmin@northwind.example",
    "partnerEditor@northwind.example",
    "admin@northwind.example",
    "olga@northwind.example",
    "paul@northwind.example",
    *(f"u{number}@x.example" for number in range(5)),
]


def test_the_whole_list_comes_in_the_order_of_creation(partner_api: PartnerApi, path: str) -> None:
    assert [user["email"] for user in partner_api.get(path)] == EMAILS


@pytest.mark.parametrize("size", [1, 3, 10, 1000])
def test_a_long_list_is_the_same_in_any_number_of_chunks(
    partner_api: PartnerApi, path: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "CHUNK", size)
    assert [user["email"] for user in partner_api.get(path)] == EMAILS


def test_all_pages_together_are_the_list(partner_api: PartnerApi, path: str) -> None:
    whole = partner_api.get(path)
    pages = [partner_api.get(f"{path}?perPage=4&page={number}") for number in (1, 2, 3, 4)]
    assert [len(page) for page in pages] == [4, 4, 2, 0]
    assert list(chain.from_iterable(pages)) == whole


def test_a_page_holds_the_total_and_links_to_its_neighbours(
    partner_api: PartnerApi, path: str
) -> None:
    response = partner_api.ask("GET", f"{path}?perPage=4&page=2")
    base = f"http://localhost{path}"
    assert response.headers["X-Total-Count"] == "10"
    assert set(response.headers["Link"].split(", ")) == {
        f'<{base}?perPage=4&page=1>; rel="first"',
        f'<{base}?perPage=4&page=3>; rel="last"',
        f'<{base}?perPage=4&page=1>; rel="prev"',
        f'<{base}?perPage=4&page=3>; rel="next"',
    }


@pytest.mark.parametrize(
    "query",
    ["page=0", "page=-1", "page=x", "page=", "page=1.5", "perPage=0", "perPage=1001", "page=²"],
)
@pytest.mark.parametrize(
    "tail",
    [
        "",
        "/{partner}/users",
        "/{partner}/organizations",
        "/{partner}/organizations/{org}/users",
        "/{partner}/pricing",
    ],
)
def test_a_page_that_is_no_positive_number_is_refused(
    partner_api: PartnerApi, tail: str, query: str
) -> None:
    place = tail.format(
        partner=partner_api.tenant.partner.id, org=partner_api.tenant.organization.id
    )
    assert partner_api.refused("GET", f"/api/partners{place}?{query}") == (400, "out_of_range")


def test_pricing_is_paged_like_every_list(partner_api: PartnerApi) -> None:
    path = f"/api/partners/{partner_api.tenant.partner.id}"
    tiers = ("customerFreePlan", "customerBasicPlan", "customerPlusPlan")
    entry = {"processorPriceId": "price_1", "processorProductId": "prod_1"}
    partner_api.put(path, {"pricing": [{"tier": tier, **entry} for tier in tiers]})
    whole = partner_api.ask("GET", f"{path}/pricing")
    assert len(whole.get_json()) == 3
    assert "X-Total-Count" not in whole.headers
    pages = [
        partner_api.ask("GET", f"{path}/pricing?perPage=2&page={number}") for number in (1, 2, 3)
    ]
    assert [page.get_json() for page in pages] == [whole.get_json()[:2], whole.get_json()[2:], []]
    assert {page.headers["X-Total-Count"] for page in pages} == {"3"}
    assert (
        f'<http://localhost{path}/pricing?perPage=2&page=2>; rel="next"' in pages[0].headers["Link"]
    )


def test_organizations_and_their_users(partner_api: PartnerApi) -> None:
    partner, organization = partner_api.tenant.partner.id, partner_api.tenant.organization
    path = f"/api/partners/{partner}/organizations"
    listed = partner_api.get(path, as_role=Role.ADMIN)
    assert [(o["id"], o["name"], o["partnerId"]) for o in listed] == [
        (str(organization.id), "Northwind Bakery", str(partner)),
        (str(partner_api.tenant.plus.id), "Northwind Dental", str(partner)),
    ]
    users = partner_api.get(f"{path}/{organization.id}/users", as_role=Role.ADMIN)
    assert [user["email"] for user in users] == ["olga@northwind.example"]
    absent = f"{path}/{new_id()}/users"
    assert partner_api.refused("GET", absent) == (404, "organization_not_found")


def test_an_admin_does_not_see_the_partners_own_staff(partner_api: PartnerApi, path: str) -> None:
    assert [user["email"] for user in partner_api.get(path, as_role=Role.ADMIN)] == EMAILS[3:]
    response = partner_api.ask("GET", f"{path}?perPage=1", as_role=Role.ADMIN)
    assert response.headers["X-Total-Count"] == "7"


def test_an_operator_reads_every_partners_lists(partner_api: PartnerApi, path: str) -> None:
    assert [user["email"] for user in partner_api.get(path, as_role=Role.OPERATOR)] == EMAILS
    other, own = partner_api.other_tenant.partner.id, partner_api.tenant.organization.id
    other_path = f"/api/partners/{other}/organizations/{own}/users"
    assert partner_api.refused("GET", other_path, as_role=Role.OPERATOR) == (
        404,
        "organization_not_found",
    )
