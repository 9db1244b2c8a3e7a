"""The owner of an organization: its users, assistants and bill, and nothing of the partner."""

from typing import Any
from uuid import uuid4

from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.fixtures.stack import Stack

Partner = dict[str, Any]

PLACES = (
    *("Overview", "Users", "Assistants", "Campaigns", "Uploads", "Calls", "Test call"),
    *("Do not call", "Usage", "Plan"),
)
OF_PARTNERS = (
    *("/organizations", "/costs", "/report/month", "/alerts", "/branding", "/api-access"),
    *("/pricing", "/settings", "/audit", "/outbox", "/carriers", "/phone-numbers"),
)


def owner_of(partner: Partner) -> dict[str, Any]:
    found: dict[str, Any] = partner["organizations"][0]["users"][1]
    return found


def test_an_owner_invites_a_colleague_edits_an_assistant_and_reads_the_bill(
    shared_stack: Stack, partner: Partner, open_browser: Open, script: bool
) -> None:
    organization = partner["organizations"][0]
    assistant, colleague = organization["agents"][-1], f"ada@{uuid4().hex[:12]}.example"
    visit = open_browser(shared_stack, partner, script=script)
    page = visit.page
    visit.sign_in(owner_of(partner), then="/users")
    page.get_by_role("link", name="Invite user").click()
    page.get_by_label("Email").fill("ada at hillside")
    page.get_by_role("button", name="Invite user").click()
    expect(page.get_by_role("alert")).to_contain_text("Enter an email like name@example.com.")
    expect(page.get_by_role("radio")).to_have_count(2)
    assert visit.faults(script) == []
    page.get_by_label("Email").fill(colleague)
    page.get_by_role("button", name="Invite user").click()
    expect(page.locator(".result")).to_contain_text(f"{colleague} invited.")
    expect(page.get_by_text(f"Member of {organization['name']}.")).to_be_visible()
    assert visit.faults(script) == []

    page.goto(f"/assistants/{assistant['id']}")
    page.get_by_role("link", name="Edit assistant").click()
    messages = page.get_by_label("Intro"), page.get_by_label("Voicemail")
    before = [message.input_value() for message in messages]
    page.get_by_label("Name").fill(" ")
    messages[0].fill("Good morning from the owner.")
    messages[1].fill("The owner called.")
    page.get_by_role("button", name="Save assistant").click()
    expect(page.get_by_role("alert")).to_contain_text("Name: Enter a name.")
    page.get_by_label("Name").fill(assistant["name"])
    page.get_by_role("button", name="Save assistant").click()
    expect(page.get_by_role("heading", level=1, name=assistant["name"])).to_be_visible()
    expect(page.get_by_text("Good morning from the owner.").first).to_be_visible()
    page.get_by_role("link", name="Edit assistant").click()
    for message, text in zip(messages, before, strict=True):
        message.fill(text)
    page.get_by_role("button", name="Save assistant").click()
    expect(page.get_by_text("Good morning from the owner.")).to_have_count(0)

    page.goto("/plan")
    so_far = page.locator(".stats > div").filter(has_text="This month so far")
    price = so_far.locator("dd").first.inner_text().split()[0]
    page.get_by_role("link", name="View statement").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Statement for")
    expect(page.locator("tfoot")).to_contain_text(price)
    assert visit.faults(script) == []
    with page.expect_download() as file:
        page.get_by_role("link", name="Download PDF").click()
    assert file.value.path().read_bytes().startswith(b"%PDF-")


def test_an_owner_is_offered_and_reaches_no_page_of_the_partner(
    shared_stack: Stack, partner: Partner, open_browser: Open, script: bool
) -> None:
    visit = open_browser(shared_stack, partner, script=script)
    page = visit.page
    visit.sign_in(owner_of(partner))
    expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
    offered = page.locator(".sidebar-links > .sidebar-group .sidebar-label")
    assert tuple(offered.all_text_contents()) == PLACES
    another = partner["organizations"][1]
    refused = (
        *OF_PARTNERS,
        f"/organizations/{another['id']}",
        f"/statements/{another['id']}",
        f"/assistants/{another['agents'][0]['id']}",
        f"/users/{another['users'][0]['id']}",
    )
    answers = {path: page.goto(path) for path in refused}
    assert {path: answer and answer.status for path, answer in answers.items()} == dict.fromkeys(
        refused, 404
    )
    expect(page.get_by_role("heading", level=1)).to_have_text("Page not found")
    assert visit.faults(script) == []
