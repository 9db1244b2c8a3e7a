"""A tenth of the corpus, chosen in the browser: each file is counted as by command, or refused.

`make check` takes a third of them.
"""

from typing import Any

import pytest
from playwright.sync_api import expect

from app.contact_files.errors import REFUSALS
from tests.e2e.conftest import Open
from tests.e2e.polling import SLOW_MS
from tests.e2e.test_contact_upload import choose, five_counts, wait_for_heading
from tests.e2e.visits import Visit
from tests.files.corpus import CORPUS, Case
from tests.fixtures.stack import Stack
from tests.matrix import is_full

SMALL = {
    name: case
    for name, case in CORPUS.items()
    if not case.options and len(case.data) < 1_000_000 and case.action == "upsert"
}
IN_THE_BROWSER = dict([*SMALL.items()][:: 9 if is_full() else 27])
COUNTS = ("created", "updated", "deleted", "ignored", "failed")


@pytest.fixture
def empty_campaign(shared_stack: Stack, partner: dict[str, Any], open_browser: Open) -> Visit:
    organization = partner["organizations"][0]
    visit = open_browser(shared_stack, partner)
    visit.sign_in(organization["users"][0], then="/campaigns/new")
    visit.page.get_by_label("Name").fill("Files of all kinds")
    visit.page.get_by_role("button", name="Create campaign").click()
    visit.page.get_by_role("link", name="Skip this step").click()
    visit.page.get_by_role("link", name="Upload later").click()
    expect(visit.page.get_by_role("heading", level=1)).to_have_text("Files of all kinds")
    return visit


def test_files_of_all_kinds_are_checked_as_the_command_checks_them(empty_campaign: Visit) -> None:
    page = empty_campaign.page
    campaign = page.url
    for name, case in IN_THE_BROWSER.items():
        page.goto(campaign)
        choose(page, case.name, "application/octet-stream", case.data)
        assert shown_result(empty_campaign, case) == expected_result(case), name


def expected_result(case: Case) -> list[int] | str:
    if case.refusal:
        return REFUSALS[case.refusal[0]].partition("{")[0]
    return [case.expected["counters"][name] for name in COUNTS]


def shown_result(visit: Visit, case: Case) -> list[int] | str:
    """The five counts of the check, or the beginning of what the refusal says."""
    if not case.refusal:
        expect(visit.page.locator(".stats .stat").nth(4)).to_be_visible(timeout=SLOW_MS)
        return five_counts(visit.page)[1]
    wait_for_heading(visit.page, "The file can’t be checked")
    sentence = str(expected_result(case))
    expect(visit.page.get_by_role("alert")).to_contain_text(sentence)
    return sentence
