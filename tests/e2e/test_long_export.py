"""A list that is too long to be sent at once: prepared by the worker, announced, downloaded."""

import csv
from typing import Any

from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.e2e.outbox import mails, open_mail
from tests.e2e.polling import follow_until
from tests.fixtures.stack import Stack

READY = "Your export is ready"


def test_a_long_list_is_prepared_announced_by_mail_downloaded_and_deleted(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open, script: bool
) -> None:
    admin = partner["users"][0]
    visit = open_browser(shared_stack, partner, script=script)
    page = visit.page
    visit.sign_in(admin, then="/outbox")
    page.wait_for_url("**/outbox")
    known = mails(visit, READY, admin["email"]).count()

    page.goto("/calls?state=completed")
    page.get_by_role("button", name="Export").click()
    page.get_by_role("link", name="CSV", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Prepare this export?")
    expect(page.get_by_text("The list has more than 1,000 rows")).to_be_visible()
    assert visit.faults(script) == []
    page.get_by_role("button", name="Prepare export").click()
    row = page.get_by_role("row").filter(has_text="Calls").first
    expect(row).to_contain_text("Being prepared")
    expect(page.locator(".result")).to_have_text("The export is being prepared. You get an email.")
    expect(row.get_by_role("link", name="Download Calls")).to_have_count(0)

    follow_until(page, row.get_by_text("Ready"))
    assert visit.faults(script) == []
    open_mail(visit, READY, admin["email"], known=known)
    letter = page.frame_locator("iframe")
    with page.expect_popup() as opened:
        letter.get_by_role("link", name="View exports", exact=True).click()
    exports = opened.value
    row = exports.get_by_role("row").filter(has_text="Calls").first
    with exports.expect_download() as file:
        row.get_by_role("link", name="Download Calls").click()
    with file.value.path().open(encoding="utf-8-sig", newline="") as lines:
        calls = list(csv.DictReader(lines))
    assert {call["Status"] for call in calls} == {"Completed"}
    number = f"{len(calls):,}"
    expect(letter.get_by_text(f"List: Calls. Rows: {number}.")).to_be_visible()
    names = {organization["name"] for organization in partner["organizations"]}
    assert {call["Organization"] for call in calls} == names

    row.get_by_role("button", name="Delete Calls").click()
    expect(exports.locator(".result")).to_have_text("The export was deleted.")
    expect(exports.get_by_role("row").filter(has_text="Calls")).to_have_count(0)
