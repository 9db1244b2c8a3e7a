"""A partner's admin sets what plans cost, and what they allow."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.fixtures.stack import Stack


@pytest.mark.usefixtures("restored_brand")
def test_an_admin_publishes_a_plan_and_changes_the_limits(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open, script: bool
) -> None:
    visit = open_browser(shared_stack, partner, script=script)
    page = visit.page
    visit.sign_in(partner["users"][0], then="/pricing")
    page.get_by_role("link", name="Edit Plus").click()
    price = "109" if script else "119"
    page.get_by_label("Price", exact=True).fill("a lot")
    page.get_by_role("button", name="Save plan").click()
    expect(page.get_by_role("alert")).to_contain_text("Enter an amount like 12.50.")
    if script:
        assert visit.findings() == []
    page.get_by_label("Price", exact=True).fill(price)
    page.locator("#features").fill(f"Priority support\nUnlimited texts {price}")
    page.get_by_role("button", name="Save plan").click()
    expect(page.get_by_text("Plan saved in the draft")).to_be_visible()
    page.get_by_role("link", name="Review and publish").click()
    expect(page.get_by_role("rowheader", name="Plus", exact=True)).to_be_visible()
    expect(page.get_by_role("row", name=re.compile(f"^Price .*{price}.00"))).to_be_visible()
    features = page.get_by_role("row", name=re.compile("^Features")).get_by_role("cell").last
    assert features.inner_text().strip().split("\n") == [
        "Priority support",
        f"Unlimited texts {price}",
    ]
    if script:
        assert visit.findings() == []
    page.get_by_role("button", name="Publish version").click()
    expect(page.get_by_text("is published. Customers see these plans now.")).to_be_visible()
    page.get_by_role("link", name="Plan cards preview").click()
    expect(page.get_by_role("article").filter(has_text=f"${price}")).to_be_visible()
    if script:
        assert visit.findings() == []
    page.goto("/pricing")

    most = "6,000" if script else "5,000"
    page.get_by_role("link", name="Change limits").click()
    page.locator("#plus-a_day").fill(most.replace(",", ""))
    if script:
        assert visit.findings() == []
    page.get_by_role("button", name="Review changes").click()
    expect(page.get_by_text(f"Plus allows each organization {most} calls a day")).to_be_visible()
    page.get_by_role("button", name="Change limits").click()
    expect(page.get_by_text("Limits saved: Plus.")).to_be_visible()
    plus = page.get_by_role("heading", name="Plus", exact=True)
    expect(page.get_by_role("article").filter(has=plus)).to_contain_text(most)
    if script:
        assert visit.findings() == []


def test_an_editor_reads_the_prices_and_changes_none(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open
) -> None:
    visit = open_browser(shared_stack, partner)
    visit.sign_in(partner["users"][1], then="/pricing")
    expect(visit.page.get_by_role("heading", name="Plus")).to_be_visible()
    expect(visit.page.get_by_role("link", name="Edit Plus")).to_have_count(0)


def test_a_member_sees_their_plan_and_upgrades(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open, script: bool
) -> None:
    visit = open_browser(shared_stack, partner, script=script)
    organization = partner["organizations"][1]
    visit.sign_in(organization["users"][0], then="/plan")
    expect(visit.page.get_by_role("main")).to_contain_text("Your plan Basic")
    expect(visit.page.get_by_text("Billed minutes")).to_be_visible()
    upgrade = visit.page.get_by_role("link", name="Upgrade to Plus")
    expect(upgrade).to_have_attribute("href", re.compile(r"/plans\?plan=customerPlusPlan$"))
    if script:
        assert visit.findings() == []
