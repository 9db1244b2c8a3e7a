"""Activity of a partner, so that the portal's pages have something to show."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Page, expect

from tests.e2e.scripts import ask
from tests.e2e.visits import Visit
from tests.fixtures.stack import Stack

PEOPLE = b"First Name,Phone Number,Email\nAda,+12025550120,\nBen,call me,\n"
ENDPOINT = "https://localhost:9/hooks"
"""A name that leads to no public address: nothing is ever sent to it."""


def put_to_use(stack: Stack, partner: Mapping[str, Any], member: Visit, admin: Visit) -> list[str]:
    """Create calls that ended, an upload that waits and one that was applied, a campaign that can
    start, a webhook that fails, and versions of the brand.

    Both visits are signed in here: the first organization's member and the partner's administrator.
    Return the URLs that show more than the first of their kind, or that only a form's response
    leads to.
    """
    organization, other = partner["organizations"][:2]
    campaign, assistant = organization["campaigns"][0], organization["agents"][0]["id"]
    for outcome in ("human", "busy"):
        contact = {"phoneNumber": organization["simulator"][outcome], "firstName": "Ada"}
        body = {"agentId": assistant, "contact": contact}
        ask(stack, "POST", "/api/v1/outbound/call", body=body, key=organization["apiKey"])
    _sign_in(member, organization["users"][0])
    uploads = [_upload(member.page, campaign["id"], applied=applied) for applied in (True, False)]
    _sign_in(admin, partner["users"][0])
    _plan_outreach(admin.page, campaign["id"])
    _make_webhook(admin.page, organization["id"])
    _publish_twice(admin.page)
    _save_as_template(admin.page, organization["id"])
    verifying = _verify(admin.page, organization["id"], organization["simulator"]["human"])
    client = _address_of(admin.page, f"/api-access/clients?q={partner['client']['clientId']}")
    public_id = organization["apiKey"].rpartition("_")[0]
    key = _address_of(admin.page, f"/api-access?q={public_id}")
    person = organization["users"][0]["id"]
    return [
        *uploads,
        f"/campaigns/{campaign['id']}",
        f"/campaigns/{campaign['id']}/outreach",
        f"/campaigns/{campaign['id']}/outreach/call-again",
        f"/campaigns/{campaign['id']}/outreach/excluded",
        f"/assistants/{assistant}",
        f"/assistants/{assistant}/keys/remove?key={campaign['externalIdKeys'][0]}",
        f"/organizations/{other['id']}/plan/check?tier=customerFreePlan&assistant_limit=9&user_limit=9",
        f"/lists/users/actions/suspend?id={person}",
        f"/lists/users/actions/reactivate?id={person}",
        f"/organizations/{organization['id']}/verified-numbers",
        verifying,
        client,
        key,
        "/outbox",
    ]


def _verify(page: Page, organization: str, number: str) -> str:
    """Request a verification call; return the page of its code."""
    page.goto(f"/organizations/{organization}/verified-numbers")
    page.get_by_label("Number", exact=True).fill(number)
    page.get_by_role("button", name="Call with a code").click()
    expect(page.get_by_label("Code")).to_be_visible()
    return urlsplit(page.url).path


def _save_as_template(page: Page, organization: str) -> None:
    page.goto(f"/organizations/{organization}/save-as-template")
    page.get_by_label("Name", exact=True).fill("Dentists")
    page.get_by_role("button", name="Save template").click()
    expect(page.get_by_text("Changes apply to organizations")).to_be_visible()


def _sign_in(visit: Visit, person: Mapping[str, Any]) -> None:
    visit.sign_in(person)
    expect(visit.page.get_by_role("heading", level=1, name="Overview")).to_be_visible()


def _upload(page: Page, campaign: str, *, applied: bool) -> str:
    """Upload a file with one failing row; return the URL of the upload."""
    page.goto(f"/campaigns/{campaign}/upload")
    page.get_by_label("Contact file").set_input_files(
        {"name": "people.csv", "mimeType": "text/csv", "buffer": PEOPLE}
    )
    page.get_by_role("button", name="Check file").click()
    expect(page.get_by_text("1 of 2 rows needs fixing").first).to_be_visible()
    if applied:
        page.get_by_role("button", name="Apply 1 row").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("1 row applied")
    return urlsplit(page.url).path


def _plan_outreach(page: Page, campaign: str) -> None:
    page.goto(f"/campaigns/{campaign}/outreach/plan")
    page.get_by_label("Calls an hour").fill("60")
    page.get_by_role("button", name="Save plan").click()
    expect(page.get_by_role("link", name="Start campaign…")).to_be_visible()


def _make_webhook(page: Page, organization: str) -> None:
    page.goto(f"/api-access/webhooks/new?organization={organization}")
    page.get_by_label("Address").fill(ENDPOINT)
    page.get_by_label("Contacts added").check()
    page.get_by_role("button", name="Add webhook").click()
    page.get_by_role("link", name="Continue").click()
    page.get_by_role("button", name="Send test event").click()
    expect(page.get_by_text("Test event queued.")).to_be_visible()


def _publish_twice(page: Page) -> None:
    """Publish another name and the previous one, so that the brand is unchanged and has two
    versions."""
    page.goto("/branding")
    before = page.get_by_label("Product name").input_value()
    for name in (f"{before} now", before):
        page.get_by_label("Product name").fill(name)
        page.get_by_label("Product name").blur()
        expect(page.get_by_text("Draft: 1 change")).to_be_visible()
        page.get_by_role("button", name="Review changes").click()
        page.get_by_role("button", name="Publish version").click()
        expect(page.get_by_text("Draft: 1 change")).to_be_hidden()


def _address_of(page: Page, search: str) -> str:
    """Return the page of the only search result."""
    page.goto(search)
    with page.expect_navigation():
        page.get_by_role("main").get_by_role("table").get_by_role("link").first.click()
    return urlsplit(page.url).path
