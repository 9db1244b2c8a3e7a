"""A rule is added, the worker opens its alert, and the notifications and a mail lead to it."""

import re
from typing import Any
from uuid import uuid4

from playwright.sync_api import Locator, Page, expect

from app.jobs.housekeeping import evaluate_alerts
from tests.e2e.conftest import Open
from tests.e2e.outbox import open_mail
from tests.e2e.scripts import ask, new_organization, token_of
from tests.e2e.tasks import run
from tests.fixtures.stack import Stack

Partner = dict[str, Any]


def bell(page: Page) -> Locator:
    """The link to the notifications: on phones another one than on wide screens."""
    return page.locator(".bell").filter(visible=True)


def test_an_alert_is_notified_mailed_acknowledged_muted_and_resolved(
    shared_stack: Stack, partner: Partner, open_browser: Open, script: bool
) -> None:
    name = f"Quarry {uuid4().hex[:8]}"
    organization = new_organization(shared_stack, partner, name=name, userLimit=2)
    title = f"{name}: 50 % of its users or assistants used"
    rule = f"{name} uses 50 % of its users or assistants"
    reader = f"ada@{uuid4().hex[:12]}.example"
    visit = open_browser(shared_stack, partner, script=script)
    page = visit.page
    visit.sign_in(partner["users"][0], then="/notifications")
    read = page.get_by_role("button", name="Mark all as read")
    expect(page.get_by_role("heading", level=1, name="Notifications")).to_be_visible()
    if read.count():
        read.click()
        expect(read).to_have_count(0)
    page.goto("/alerts")
    page.get_by_role("link", name="Add rule").click()
    page.get_by_role("link", name="Users or assistants nearly used").click()
    page.get_by_label("Used at least").fill("half")
    page.get_by_label("One organization").check()
    page.get_by_label("Organization", exact=True).fill(name)
    page.get_by_label("Recipients").fill("ada at hillside")
    page.get_by_role("button", name="Add rule").click()
    problems = page.get_by_role("alert")
    expect(problems).to_contain_text("Used at least: Enter a whole number from 1 to 100.")
    expect(problems).to_contain_text("Recipients: “ada at hillside” isn’t an email address.")
    assert visit.faults(script) == []
    page.get_by_label("Used at least").fill("50")
    page.get_by_label("Recipients").fill(reader)
    page.get_by_role("button", name="Add rule").click()
    expect(page.get_by_text("Rule added. The first check is within 5 minutes.")).to_be_visible()
    line = page.get_by_role("listitem").filter(has_text=rule)
    expect(line).to_be_visible()

    run(shared_stack, evaluate_alerts)
    page.goto("/alerts")
    expect(bell(page)).to_have_accessible_name(re.compile(r"^Notifications, \d+ unread$"))
    bell(page).click()
    opened = page.get_by_role("listitem").filter(has_text=title)
    expect(opened).to_contain_text("New")
    opened.locator(".list-row-title").click()
    row = page.get_by_role("row").filter(has_text=title)
    expect(row).to_contain_text("Open")
    row.get_by_role("button", name="Acknowledge").click()
    expect(page.get_by_text(f"Acknowledged. {title} (limit 50 %).")).to_be_visible()
    expect(row).to_contain_text("Acknowledged")
    line.get_by_role("button", name="Mute").click()
    line.get_by_role("button", name="For 7 days").click()
    expect(page.locator(".result")).to_contain_text("no emails or webhooks")
    expect(line).to_contain_text("Muted until")
    assert visit.faults(script) == []
    page.goto("/notifications")
    expect(opened).to_be_visible()
    expect(opened).not_to_contain_text("New")

    place = f"/api/partners/{partner['id']}/organizations/{organization}"
    token = token_of(shared_stack, partner["client"])
    ask(shared_stack, "PUT", place, body={"userLimit": 3}, token=token)
    run(shared_stack, evaluate_alerts)
    page.goto("/alerts")
    expect(row).to_have_count(0)
    page.get_by_role("link", name="Resolved", exact=True).click()
    expect(row).to_contain_text("Resolved")
    open_mail(visit, title, reader)

    page.goto("/alerts")
    line.get_by_role("link", name="Edit").click()
    page.get_by_role("link", name="Remove…").click()
    page.get_by_role("button", name="Remove rule").click()
    expect(page.get_by_text("Rule removed.")).to_be_visible()
    expect(line).to_have_count(0)


def test_a_phone_shows_the_whole_title_of_an_alert(
    shared_stack: Stack, partner: Partner, open_browser: Open
) -> None:
    visit = open_browser(shared_stack, partner)
    visit.sign_in(partner["users"][0], then="/alerts")
    page = visit.page
    titles = page.locator("td.cell-name-wide > .name")
    expect(titles.first).to_be_visible()
    page.set_viewport_size({"width": 360, "height": 740})
    longest = "Castell Property Management: 1 failed call in 7 days (limit 0) " * 2
    titles.evaluate_all("(all, words) => all.forEach(e => { e.textContent = words; })", longest)
    cut = titles.evaluate_all(
        "all => all.filter(e => e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight)"
        ".length"
    )
    assert cut == 0
