"""Templates of organizations in the browser, help in context and the first steps."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Open, OwnStacks
from tests.e2e.visits import Look, Visit, heading, sound
from tests.fixtures.stack import Stack

FILE = (
    b"Company;E-mail;Country\n"
    b"Alder %s;ann@alder-%s.example;US\n"
    b"Birch %s;nobody;\n"
    b"Cedar %s;carl@cedar-%s.example;\n"
    b"Dune %s;none;\n"
)


@pytest.fixture
def stack(own_stacks: OwnStacks, backend: str) -> Stack:
    """A stack of these journeys alone: they create organizations."""
    return own_stacks(backend, {})


def save_as_template(visit: Visit, partner: dict[str, Any], name: str) -> None:
    """From the first organization's page to its template."""
    page = visit.page
    page.goto(f"/organizations/{partner['organizations'][0]['id']}")
    page.get_by_role("link", name="Save as template").click()
    heading(page, "Save as template")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Save template").click()
    heading(page, name)


def test_an_organization_is_created_from_a_template_with_one_form(
    visit: Visit, partner: dict[str, Any], look: Look, script: bool
) -> None:
    page, mark = visit.page, f"{look.scheme}{look.width}{'s' if script else 'n'}"
    page.get_by_role("link", name="Templates").click()
    heading(page, "Organization templates")
    sound(visit, script)
    save_as_template(visit, partner, f"Dentists {mark}")
    sound(visit, script)

    page.get_by_role("main").get_by_role("link", name="Edit", exact=True).last.click()
    page.get_by_label("User limit").fill("12")
    page.get_by_role("button", name="Save template").click()
    expect(page.get_by_text("Template saved.")).to_be_visible()

    page.get_by_role("link", name="Add assistant").click()
    page.get_by_label("Name", exact=True).fill("Noor")
    sound(visit, script)
    page.get_by_role("button", name="Save assistant").click()
    expect(page.get_by_role("main").get_by_text("Noor", exact=True)).to_be_visible()

    page.get_by_role("link", name="Add organization").click()
    heading(page, "Add organization")
    page.get_by_label("Name", exact=True).fill(f"Bexley {mark}")
    page.get_by_role("button", name="Add organization").click()
    expect(page.get_by_role("alert")).to_contain_text("Enter the email of the first user.")
    sound(visit, script)
    page.get_by_label("Email of the first user").fill(f"ines@bexley-{mark}.example")
    page.get_by_role("button", name="Add organization").click()
    heading(page, f"Bexley {mark}")
    expect(page.get_by_text(f"ines@bexley-{mark}.example is invited.")).to_be_visible()


def test_a_file_of_customers_is_reviewed_and_its_correct_rows_are_created(
    visit: Visit, partner: dict[str, Any], look: Look, script: bool
) -> None:
    page, mark = visit.page, f"{look.scheme}{look.width}{'s' if script else 'n'}"
    save_as_template(visit, partner, f"Salons {mark}")
    page.get_by_role("link", name="Add from a file").click()
    heading(page, "Organizations from a file")
    sound(visit, script)
    content = FILE.replace(b"%s", mark.encode())
    page.get_by_label("File").set_input_files(
        {"name": "new.csv", "mimeType": "text/csv", "buffer": content}
    )
    page.get_by_role("button", name="Review rows").click()
    heading(page, "Review rows")
    expect(page.get_by_text("2 rows have a problem")).to_be_visible()
    problem = page.get_by_text("Enter an email like name@example.com.").filter(visible=True)
    expect(problem).to_have_count(2)
    sound(visit, script)
    email = page.get_by_label("Email, row 3")
    email.fill(f"ben@birch-{mark}.example")
    email.press("Enter")
    expect(page.get_by_text("1 row has a problem")).to_be_visible()
    page.get_by_role("button", name="Add 3, leave out 1").click()
    heading(page, "3 organizations added")
    expect(page.get_by_label("Email, row 5")).to_have_value("none")
    sound(visit, script)
    page.get_by_role("listitem").filter(has_text=f"Alder {mark}").get_by_role("link").click()
    heading(page, f"Alder {mark}")


def test_the_help_of_a_page_opens_by_keyboard_and_closes_with_escape(
    visit: Visit, script: bool
) -> None:
    page = visit.page
    button, help_text = page.get_by_role("button", name="Help for this page"), page.locator(".help")
    expect(help_text).not_to_be_visible()
    button.focus()
    page.keyboard.press("Enter")
    expect(help_text).to_be_visible()
    expect(help_text).to_contain_text("An organization is one of your customers")
    sound(visit, script)
    page.keyboard.press("Escape")
    expect(help_text).not_to_be_visible()
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    expect(help_text).to_have_css("opacity", "1")  # opened again while it was fading out
    help_text.get_by_role("link", name="Add organizations from a template").click()
    heading(page, "Organization templates")


def test_the_first_steps_are_hidden_and_shown_again(
    stack: Stack, partner: dict[str, Any], open_browser: Open, script: bool
) -> None:
    visit = open_browser(stack, partner, script=script)
    member = partner["organizations"][2 if script else 1]["users"][0]
    visit.sign_in(member)
    page = visit.page
    steps = page.get_by_role("region", name="First steps")
    expect(steps.get_by_role("link", name="Start a campaign")).to_be_visible()
    sound(visit, script)
    steps.get_by_role("button", name="Hide").click()
    expect(steps).not_to_be_visible()
    sound(visit, script)
    page.get_by_role("button", name="Show first steps").click()
    expect(steps).to_be_visible()
