"""The portal of a partner that has just begun: each page without contents leads on."""

import re
from collections.abc import Callable

from sqlalchemy.orm import Session

from app.enums import Role
from app.models import User, utcnow
from tests.fixtures.tenants import Tenant, converse, make_partner, make_user
from tests.portal.conftest import Browser

LEADS_TO = {
    "/organizations": "/organizations/new",
    "/do-not-call": "/organizations/new",
    "/costs": "/organizations/new",
    "/report/month": "/organizations/new",
    "/assistants/new": "/organizations/new",
    "/campaigns/new": "/organizations/new",
    "/test-call": "/assistants/new",
}


def led_to(browser: Browser, path: str) -> list[str]:
    """Where the buttons of the page's empty state lead."""
    [state] = re.findall(r'<div class="empty-state">.*?</div>', browser.get(path).text, re.DOTALL)
    return re.findall(r'<a class="btn[^"]*" href="([^"]+)"', state)


def test_pages_that_need_an_organization_link_to_adding_one(
    session: Session, signed_in: Callable[[User], Browser]
) -> None:
    partner = make_partner(session, "Begun")
    admin = make_user(session, partner.id, "first@begun.example", Role.PARTNER_ADMIN)
    editor = make_user(session, partner.id, "second@begun.example", Role.PARTNER_EDITOR)
    session.commit()
    browser = signed_in(admin)
    assert {path: led_to(browser, path) for path in LEADS_TO} == {
        path: [address] for path, address in LEADS_TO.items()
    }
    primary = {path: browser.get(path).text.count("btn-primary") for path in (*LEADS_TO, "/calls")}
    assert set(primary.values()) == {1}
    browser = signed_in(editor)
    readable = ("/organizations", "/do-not-call", "/campaigns/new", "/test-call")
    assert [led_to(browser, path) for path in readable] == [[]] * len(readable)


def test_costs_without_organizations_have_no_search_and_no_export(
    session: Session, signed_in: Callable[[User], Browser]
) -> None:
    partner = make_partner(session, "Begun")
    admin = make_user(session, partner.id, "first@begun.example", Role.PARTNER_ADMIN)
    session.commit()
    page = signed_in(admin).get("/costs").text
    assert "Costs and margin</h1>" in page
    assert 'name="month"' not in page
    assert "/costs.csv" not in page


FIGURES = {
    "/": "No conversations yet",
    "/usage": "No conversations yet",
    "/report/month": "No calls in ",
    "/report": "No users yet",
}


def test_pages_of_figures_say_what_to_do_instead_of_zeros(
    session: Session, signed_in: Callable[[User], Browser]
) -> None:
    partner = make_partner(session, "Begun")
    admin = make_user(session, partner.id, "first@begun.example", Role.PARTNER_ADMIN)
    session.commit()
    browser = signed_in(admin)
    pages = {path: browser.get(path).text for path in FIGURES}
    assert [path for path, words in FIGURES.items() if words not in pages[path]] == []
    assert [path for path, page in pages.items() if 'class="stats"' in page] == []
    assert [path for path, page in pages.items() if "data-chart" in page] == []


def test_figures_appear_with_the_first_conversation(
    session: Session, tenant: Tenant, signed_in: Callable[[User], Browser]
) -> None:
    converse(session, tenant.plus, utcnow().date())
    session.commit()
    for user in (tenant.staff[Role.PARTNER_ADMIN], tenant.plus_user):
        browser = signed_in(user)
        for path in ("/", "/usage"):
            page = browser.get(path).text
            assert 'class="stats"' in page
            assert "No conversations yet" not in page
    assert "No conversations yet" in signed_in(tenant.user).get("/").text
