"""Find: everything the reader may see, by whatever they know of it."""

import re
from collections.abc import Callable

import pytest
from sqlalchemy.orm import Session

from app.database import Database
from app.enums import CallStatus, Role
from app.models import User
from app.services import campaigns
from tests.api.partner_admin.test_query_counts import counted
from tests.fixtures.cast import Tenant, make_user
from tests.portal.conftest import Browser
from tests.portal.test_calls import make_call

SignedIn = Callable[[User], Browser]
Hits = dict[str, list[str]]


@pytest.fixture
def world(session: Session, own: Tenant, other: Tenant) -> dict[str, str]:
    """The ids of what there is to find, by what it is."""
    found = {}
    for tenant in (own, other):
        admin = tenant.caller(Role.PARTNER_ADMIN)
        campaign = campaigns.create(session, admin, tenant.plus.id, name="Winter recall")
        call = make_call(session, tenant.plus, "+12025550101", status=CallStatus.BUSY)
        tenant.plus.referral_code = "BRIGHT-7"
        if tenant is own:
            found = {
                "organization": str(tenant.plus.id),
                "user": str(tenant.plus_user.id),
                "campaign": str(campaign.id),
                "call": str(call.id),
            }
    session.commit()
    return found


def hits(html: str) -> Hits:
    """The links under each heading of the page."""
    found = {}
    for section in re.findall(r'<section class="section text">(.*?)</section>', html, re.DOTALL):
        heading = re.findall(r"<h2[^>]*>([^<]+)", section)[0]
        found[heading] = re.findall(r'class="line-title" href="([^"]+)"', section)
    return found


def own_paths(world: dict[str, str], *kinds: str) -> Hits:
    places = {
        "organization": ("Organizations", "/organizations/"),
        "user": ("Users", "/people/"),
        "campaign": ("Campaigns", "/campaigns/"),
        "call": ("Calls", "/calls/"),
    }
    return {places[kind][0]: [places[kind][1] + world[kind]] for kind in kinds}


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        ("DENTAL", ("organization", "user")),
        ("bright", ("organization",)),
        ("PAUL@northwind.example", ("organization", "user")),
        ("paul@south", ()),
        ("winter", ("campaign",)),
        ("+1 (202) 555-0101", ("call",)),
        ("202-555-0101", ("call",)),
        ("+120255", ("call",)),
        ("x", ()),
        ("%", ()),
        ("nothing of the kind", ()),
    ],
)
def test_things_are_found_by_what_is_known_of_them(
    own: Tenant, world: dict[str, str], signed_in: SignedIn, words: str, kinds: tuple[str, ...]
) -> None:
    page = signed_in(own.staff[Role.PARTNER_ADMIN]).get("/find", query_string={"q": words})
    assert hits(page.text) == own_paths(world, *kinds)


@pytest.mark.parametrize("kind", ["organization", "user", "campaign", "call"])
def test_an_id_finds_what_bears_it(
    own: Tenant, other: Tenant, world: dict[str, str], signed_in: SignedIn, kind: str
) -> None:
    path = f"/find?q={world[kind]}"
    assert hits(signed_in(own.staff[Role.ADMIN]).get(path).text) == own_paths(world, kind)
    assert hits(signed_in(other.staff[Role.ADMIN]).get(path).text) == {}


def test_screens_are_found_by_their_names_where_they_may_be_opened(
    own: Tenant, signed_in: SignedIn
) -> None:
    path = "/find?q=bran"
    assert hits(signed_in(own.staff[Role.PARTNER_ADMIN]).get(path).text) == {
        "Screens": ["/branding"]
    }
    assert hits(signed_in(own.user).get(path).text) == {}


def test_a_member_finds_what_is_of_their_organization(
    own: Tenant, world: dict[str, str], signed_in: SignedIn
) -> None:
    for words, expected in (
        ("winter", own_paths(world, "campaign")),
        ("+12025550101", own_paths(world, "call")),
        ("dental", {}),
    ):
        path = f"/find?q={words.replace('+', '%2B')}"
        assert hits(signed_in(own.plus_user).get(path).text) == expected
        assert hits(signed_in(own.user).get(path).text) == {}


def test_of_many_a_few_are_shown_and_the_list_shows_the_rest(
    session: Session, own: Tenant, signed_in: SignedIn, database: Database
) -> None:
    def grow(count: int) -> None:
        for number in range(count):
            email = f"crowd{count}-{number}@x.example"
            make_user(session, own.partner.id, email, businessName=f"Crowd {number}")
            make_call(session, own.plus, f"+1303555{number:04}")
        session.commit()

    browser = signed_in(own.staff[Role.ADMIN])
    statements = []
    for count in (1, 40):
        grow(count)
        for words in ("crowd", "%2B1303"):
            browser.get(f"/find?q={words}")
            with counted(database) as sent:
                browser.get(f"/find?q={words}")
            statements.append(len(sent))
    assert statements[:2] == statements[2:]
    page = browser.get("/find?q=crowd").text
    assert {group: len(links) for group, links in hits(page).items()} == {
        "Organizations": 5,
        "Users": 5,
    }
    assert 'href="/organizations?q=crowd">All matches in Organizations' in page
    assert 'href="/people?q=crowd">All matches in Users' in page
    calls = browser.get("/find?q=%2B1303").text
    assert 'href="/calls?number=%2B1303">All matches in Calls' in calls


def test_the_field_of_the_top_bar_gets_a_list_without_the_page(
    own: Tenant, world: dict[str, str], signed_in: SignedIn
) -> None:
    browser = signed_in(own.staff[Role.ADMIN])
    quick = browser.get("/find?q=dental", headers={"HX-Request": "true"}).text
    assert re.findall(r'class="find-row" href="([^"]+)"', quick) == [
        f"/organizations/{world['organization']}",
        f"/people/{world['user']}",
    ]
    assert "<html" not in quick
    assert browser.get("/find?q=", headers={"HX-Request": "true"}).text.strip() == ""
    nothing = browser.get("/find?q=zzzz", headers={"HX-Request": "true"}).text
    assert "Nothing matches “zzzz”." in nothing
