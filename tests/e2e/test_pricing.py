"""A partner's admin sets what plans cost, and what they allow."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.fixtures.stack import Stack


@pytest.mark.usefixtures("own_brand")
def test_an_admin_changes_the_prices_ids_and_the_plans_limits(
    live: Stack, partner: dict[str, Any], open_browser: Open, script: bool
) -> None:
    visit = open_browser(live, partner, script=script)
    page = visit.page
    visit.sign_in(partner["users"][0], then="/pricing")
    page.get_by_role("link", name="Edit prices").click()
    plus = page.locator("#plus-price_id")
    plus.fill("")
    page.get_by_role("button", name="Save prices").click()
    expect(page.get_by_role("alert")).to_contain_text("Enter the price id of this product")
    if script:
        assert visit.findings() == []
    plus.fill("price_of_the_journey")
    page.get_by_role("button", name="Save prices").click()
    expect(page.get_by_text("Prices saved")).to_be_visible()
    expect(page.get_by_text("price_of_the_journey")).to_be_attached()

    most = "6,000" if script else "5,000"
    page.get_by_role("link", name="Change limits").click()
    page.locator("#plus-a_day").fill(most.replace(",", ""))
    if script:
        assert visit.findings() == []
    page.get_by_role("button", name="Review changes").click()
    expect(page.get_by_text(f"Plus allows each organization {most} calls a day")).to_be_visible()
    page.get_by_role("button", name="Change limits").click()
    expect(page.get_by_text("Limits saved: Plus.")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("^Plus .*" + most))).to_be_visible()
    if script:
        assert visit.findings() == []


def test_an_editor_reads_the_prices_and_changes_none(
    live: Stack, partner: dict[str, Any], open_browser: Open
) -> None:
    visit = open_browser(live, partner)
    visit.sign_in(partner["users"][1], then="/pricing")
    expect(visit.page.get_by_role("heading", name="What customers can choose")).to_be_visible()
    expect(visit.page.get_by_role("link", name="Edit prices")).to_have_count(0)
