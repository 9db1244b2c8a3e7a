"""Customers in the browser: organizations, their settings, do-not-call lists and people."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Open, OwnStacks
from tests.e2e.visits import Look, Visit, heading, sound
from tests.fixtures.stack import Stack

NUMBERS = b"Number;Reason\n+1 202 555 0170;asked us\nnobody;\n(202) 555-0171;by mail\n"


@pytest.fixture
def stack(own_stacks: OwnStacks, backend: str) -> Stack:
    """A stack of these journeys alone: they suspend people and organizations."""
    return own_stacks(backend, {})


def test_an_organization_is_added_changed_suspended_and_resumed(visit: Visit, script: bool) -> None:
    page, name = visit.page, f"Bexley Plumbing {'with' if script else 'without'} script"
    page.get_by_role("link", name="Add organization").first.click()
    page.get_by_label("Name", exact=True).fill(" ")
    page.get_by_role("button", name="Add organization").click()
    expect(page.get_by_role("alert")).to_contain_text("Name: Enter a name.")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Assistant limit").fill("4")
    page.get_by_role("button", name="Add organization").click()
    heading(page, name)
    sound(visit, script)

    page.get_by_role("link", name="Change plan and limits").click()
    page.get_by_role("radio", name="Plus").check()
    page.get_by_label("Assistant limit").fill("0")
    page.get_by_role("button", name="Review changes").click()
    heading(page, "Review changes")
    expect(page.get_by_text("The plan changes from Free to Plus")).to_be_visible()
    expect(page.get_by_text("with no limit")).to_be_visible()
    sound(visit, script)
    page.get_by_role("button", name="Apply changes").click()
    heading(page, name)
    expect(page.get_by_text("Plus plan since")).to_be_visible()

    page.get_by_role("link", name="Suspend…").click()
    confirmation = page.get_by_role("dialog") if script else page.get_by_role("main")
    expect(confirmation.get_by_role("heading", name=f"Suspend {name}?")).to_be_visible()
    confirmation.get_by_label("Reason").fill("Invoice unpaid")
    confirmation.get_by_role("button", name="Suspend organization").click()
    expect(page.get_by_text("Invoice unpaid. Its users can’t sign in")).to_be_visible()
    page.get_by_role("button", name="Reactivate organization").click()
    expect(page.get_by_text(f"{name} reactivated")).to_be_visible()


def test_two_users_who_change_the_settings_see_the_conflict(
    visit: Visit, stack: Stack, partner: dict[str, Any], open_browser: Open, script: bool
) -> None:
    organization = partner["organizations"][0 if script else 1]
    path = f"/organizations/{organization['id']}/settings"
    page = visit.page
    page.goto(path)
    sound(visit, script)
    other = open_browser(stack, partner, script=script)
    other.sign_in(partner["users"][2], then=path)
    other.page.get_by_label("Retries").fill("3")
    other.page.get_by_role("button", name="Save settings").click()
    expect(other.page.get_by_text("Settings saved: retries.")).to_be_visible()

    page.get_by_label("Limit calling hours").check()
    page.get_by_label("Retries").fill("1")
    page.get_by_role("button", name="Save settings").click()
    reported = page.get_by_role("alert")
    expect(reported).to_contain_text("changed this")
    expect(reported.get_by_role("row", name="Retries")).to_contain_text("3")
    expect(page.get_by_label("Retries")).to_have_value("1")
    sound(visit, script)
    page.get_by_role("button", name="Save settings").click()
    expect(page.get_by_text("Settings saved: calling hours, retries.")).to_be_visible()
    author = partner["users"][0]["email"]
    expect(page.get_by_text(f"Changed by {author}").first).to_be_visible()
    page.get_by_label("Limit calling hours").uncheck()
    page.get_by_role("button", name="Save settings").click()
    expect(page.get_by_text("Settings saved: calling hours.")).to_be_visible()


def test_a_list_of_numbers_is_fixed_and_added(
    visit: Visit, partner: dict[str, Any], script: bool
) -> None:
    organization = partner["organizations"][0 if script else 1]
    page = visit.page
    page.goto(f"/organizations/{organization['id']}/do-not-call")
    page.get_by_role("link", name="Add numbers").click()
    page.get_by_label("Or choose a file").set_input_files(
        {"name": "numbers.csv", "mimeType": "text/csv", "buffer": NUMBERS}
    )
    page.get_by_role("button", name="Add numbers").click()
    heading(page, "Review rows")
    expect(page.get_by_role("main")).to_contain_text("Has letters")
    expect(page.get_by_label("Number, row")).to_have_value("nobody")
    sound(visit, script)
    page.get_by_role("button", name="Add 2, leave out 1").click()
    expect(page.get_by_text("2 numbers added. 1 line left out.")).to_be_visible()
    sound(visit, script)
    for number in ("+12025550170", "+12025550171"):
        page.get_by_role("link", name=f"Remove {number}").click()
        page.get_by_role("button", name="Remove number").click()
        expect(
            page.get_by_text("was removed from the list and may be called again")
        ).to_be_visible()


def test_people_are_invited_together_and_suspended_together(
    visit: Visit, look: Look, script: bool
) -> None:
    page, tag = visit.page, f"{'with' if script else 'without'}-{look.width}"
    organization = f"Harrow Dental {tag} script"
    page.goto("/organizations/new")
    page.get_by_label("Name", exact=True).fill(organization)
    page.get_by_label("User limit").fill("0")
    page.get_by_role("button", name="Add organization").click()
    heading(page, organization)

    page.goto("/users/invite-many")
    lines = f"ada-{tag}@x.example, Ada, {organization}\nnobody, No\n"
    page.get_by_label("Users", exact=True).fill(lines)
    sound(visit, script)
    page.get_by_role("button", name="Check list").click()
    heading(page, "Review rows")
    expect(page.get_by_text("Enter an email like name@example.com.")).to_be_visible()
    sound(visit, script)
    page.get_by_label("Email, row 2").fill(f"noel-{tag}@y.example")
    page.get_by_label("Organization, row 2").fill(organization)
    page.get_by_role("button", name="Check again").click()
    expect(page.get_by_text("All rows are correct")).to_be_visible()
    sound(visit, script)
    page.get_by_role("button", name="Invite 2 users").click()
    expect(page.get_by_text("2 users invited.")).to_be_visible()

    page.goto("/users/invite")
    page.get_by_label("Email").fill(f"grace-{tag}@x.example")
    page.get_by_label("Partner editor", exact=True).check()
    page.get_by_role("button", name="Invite user").click()
    heading(page, f"grace-{tag}@x.example")
    sound(visit, script)
    if look.width < 1100:  # a phone's rows have no boxes to choose by
        return
    page.goto(f"/users?q=-{tag}@x.example")
    for name in ("ada", "grace"):
        page.get_by_label(f"Select {name}-{tag}@x.example").check()
    page.get_by_role("button", name="Suspend…").click()
    heading(page, "Suspend 2 users?")
    sound(visit, script)
    page.get_by_role("button", name="Suspend 2 users").click()
    heading(page, "2 users suspended")
    sound(visit, script)


def test_a_list_is_filtered_saved_as_a_view_and_downloaded(
    visit: Visit, look: Look, script: bool
) -> None:
    page, name = visit.page, f"Active {'with' if script else 'without'} {look.width}"
    page.get_by_text("More filters").click()
    page.get_by_role("search").get_by_label("Status").select_option("active")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("link", name="Clear filters")).to_be_visible()
    page.get_by_role("button", name="Columns").click()
    page.get_by_label("User limit").check()
    sound(visit, script)
    page.get_by_role("button", name="Show columns").click()
    page.get_by_role("link", name="Save view").click()
    heading(page, "Save view")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Share with colleagues").check()
    sound(visit, script)
    page.get_by_role("button", name="Save view").click()
    heading(page, "Organizations")
    expect(page.get_by_role("link", name=name)).to_have_attribute("aria-current", "page")
    sound(visit, script)
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as downloaded:
        page.get_by_role("link", name="CSV", exact=True).click()
    head = downloaded.value.path().read_text("utf-8-sig").splitlines()[0]
    assert "User limit" in head
    page.goto(page.url)
    page.get_by_role("link", name="Edit view").click()
    page.get_by_role("link", name="Delete view…").click()
    page.get_by_role("button", name="Delete view").click()
    heading(page, "Organizations")
    expect(page.get_by_role("link", name=name)).to_be_hidden()
