"""Requests of htmx get a part of a page, or all of it to replace the content in place."""

from collections.abc import Callable

from app.enums import Role
from app.models import User
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]
SCRIPT = {"HX-Request": "true"}


def test_htmx_gets_a_part_of_the_page_and_a_boosted_form_gets_all_of_it(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    asked: tuple[dict[str, str], ...] = ({}, SCRIPT, SCRIPT | {"HX-Boosted": "true"})
    pages = [browser.get("/search?q=Calls", headers=headers).text for headers in asked]
    for page in pages:
        assert "/calls" in page
    whole, part, boosted = pages
    assert 'id="content"' in whole
    assert 'id="content"' not in part
    assert 'id="content"' in boosted


def test_filters_sorting_and_pages_replace_the_content_and_keep_the_address(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    page = signed_in(tenant.staff[Role.PARTNER_ADMIN]).get("/organizations?q=Northwind").text
    tags = [tag.split(">")[0] for tag in page.split("<") if "hx-boost" in tag]
    assert {tag.split()[0] for tag in tags} == {"form", "a"}
    assert all('hx-select="#content' in tag for tag in tags)
