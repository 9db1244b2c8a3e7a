"""A partner admin limits an admin to a group, and the admin sees that organization alone."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.e2e.visits import Look
from tests.fixtures.stack import Stack


@pytest.mark.parametrize("script", [True, False], ids=["script", "without script"])
def test_an_admin_is_limited_to_a_group_of_organizations(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open, look: Look, script: bool
) -> None:
    kept, hidden = partner["organizations"][:2]
    admin = next(user for user in partner["users"] if user["userType"] == "admin")
    visit = open_browser(shared_stack, partner, script=script)
    visit.sign_in(partner["users"][0], then="/settings/groups")
    page = visit.page
    page.get_by_role("link", name="Add group").first.click()
    name = f"North {script} {look.width}"
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label(kept["name"], exact=True).check()
    page.get_by_role("button", name="Add group").click()
    expect(page.get_by_role("link", name=name)).to_be_visible()
    if script:
        assert visit.findings() == []
    page.goto(f"/users/{admin['id']}")
    limits = page.locator("section").filter(has_text="All organizations")
    limits.get_by_role("link", name="Change", exact=True).click()
    page.get_by_label("Only organizations of some groups").check()
    page.get_by_label(name).check()
    if script:
        assert visit.findings() == []
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Access saved.")).to_be_visible()

    theirs = open_browser(shared_stack, partner, script=script)
    theirs.sign_in(admin, then="/organizations")
    expect(theirs.page.get_by_role("link", name=kept["name"]).first).to_be_visible()
    expect(theirs.page.get_by_text(hidden["name"])).to_have_count(0)
    assert theirs.page.goto(f"/organizations/{hidden['id']}").status == 404  # type: ignore[union-attr]

    page.goto(f"/users/{admin['id']}/groups")
    page.get_by_label("All organizations").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Access saved.")).to_be_visible()

    page.goto("/settings/groups")
    page.get_by_role("link", name=name).click()
    if script:
        assert visit.findings() == []
    page.get_by_role("link", name="Delete…").click()
    if script:
        assert visit.findings() == []
    page.get_by_role("button", name="Delete group").click()
    expect(page.get_by_text(f"Group {name} deleted.")).to_be_visible()
