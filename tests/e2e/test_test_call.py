"""A test call: what is missing before it, what happens while it runs, how it ended."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Open, OwnStacks
from tests.e2e.polling import follow_until
from tests.e2e.visits import Visit
from tests.fixtures.stack import Stack

ENOUGH_TO_WATCH = "0.3"


@pytest.fixture
def stack(own_stacks: OwnStacks, backend: str) -> Stack:
    """A stack whose simulated carrier takes its time."""
    return own_stacks(backend, {"PORTAL_SIMULATOR_PACE": ENOUGH_TO_WATCH})


@pytest.fixture
def form(stack: Stack, partner: dict[str, Any], open_browser: Open, script: bool) -> Visit:
    """The test call's form before the partner's administrator."""
    visit = open_browser(stack, partner, script=script)
    visit.sign_in(partner["users"][0], then="/test-call")
    expect(visit.page.get_by_role("heading", level=1, name="Test call")).to_be_visible()
    return visit


def simulated(partner: dict[str, Any], outcome: str) -> str:
    number: str = partner["organizations"][0]["simulator"][outcome]
    return number


def call(page: Page, number: str) -> None:
    page.get_by_label("Number to call").fill(number)
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.get_by_role("heading", name="Call in progress")).to_be_visible()


def watch_until_over(page: Page) -> list[str]:
    """The moments of the call in order."""
    follow_until(page, page.get_by_role("heading", name="Call ended"))
    return page.locator("#live-call .event-list .list-row-title").all_inner_texts()


def test_a_person_who_answers_hears_the_intro(
    form: Visit, partner: dict[str, Any], script: bool
) -> None:
    page = form.page
    call(page, simulated(partner, "human"))
    expect(page.locator("#live-call").get_by_text("Simulated call")).to_be_visible()
    moments = watch_until_over(page)
    assert moments == [
        "Queued",
        "Calling",
        "Ringing",
        "Answered by a person",
        "Intro spoken",
        "Finished after a conversation",
    ]
    spoken = page.locator("#live-call .event-list li", has_text="Intro spoken")
    organization = min((one["name"] for one in partner["organizations"]), key=str.casefold)
    expect(spoken).to_contain_text(f"Hello, this is Robin from {organization}.")
    if script:
        assert form.findings() == []


@pytest.mark.parametrize("script", [True])
def test_voicemail_gets_the_voicemail_message(form: Visit, partner: dict[str, Any]) -> None:
    page = form.page
    page.get_by_label("Exact intro and voicemail").check()
    page.get_by_label("Intro", exact=True).fill("Good morning, this is a test.")
    page.get_by_label("Voicemail", exact=True).fill("We will try again, this was a test.")
    call(page, simulated(partner, "voicemail"))
    assert watch_until_over(page) == [
        "Queued",
        "Calling",
        "Ringing",
        "Answered by voicemail",
        "Voicemail message spoken",
        "Finished on voicemail",
    ]
    spoken = page.locator("#live-call .event-list li", has_text="Voicemail message spoken")
    expect(spoken).to_contain_text("We will try again, this was a test.")


def test_a_busy_number_is_shown_as_busy(form: Visit, partner: dict[str, Any], script: bool) -> None:
    page = form.page
    call(page, simulated(partner, "busy"))
    moments = watch_until_over(page)
    assert moments == ["Queued", "Calling", "The line was busy"]


def test_a_running_call_can_be_cancelled(
    form: Visit, partner: dict[str, Any], script: bool
) -> None:
    page = form.page
    call(page, simulated(partner, "noAnswer"))
    page.get_by_role("link", name=re.compile("^(Cancel|End) call…")).click()
    page.get_by_role("button", name=re.compile("^(Cancel|End) call$")).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Call to")
    moments = watch_until_over(page)
    assert moments[-1] == "Cancelled"
    if script:
        assert form.findings() == []


def test_an_invalid_number_is_refused_at_its_field_and_the_form_keeps_its_values(
    form: Visit, script: bool
) -> None:
    page = form.page
    page.get_by_label("Exact intro and voicemail").check()
    page.get_by_label("Number to call").fill("+1 202 555")
    page.get_by_label("Intro", exact=True).fill("Hello")
    page.get_by_role("button", name="Call", exact=True).click()
    summary = page.get_by_role("alert")
    expect(summary).to_contain_text("2 things need changing")
    expect(summary.get_by_role("link", name=re.compile("^Number to call: "))).to_have_attribute(
        "href", "#number"
    )
    expect(summary.get_by_role("link", name=re.compile("^Voicemail: "))).to_have_attribute(
        "href", "#voicemail"
    )
    expect(page.get_by_label("Number to call")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Number to call")).to_have_value("+1 202 555")
    expect(page.get_by_label("Intro", exact=True)).to_have_value("Hello")
    if script:
        assert form.findings() == []


def test_the_checks_say_what_is_missing_and_where_to_fix_it(
    form: Visit, partner: dict[str, Any]
) -> None:
    page = form.page
    organization = partner["organizations"][0]
    silent = next(
        assistant for assistant in organization["agents"] if assistant["phoneNumber"] is None
    )
    expect(page.locator(f"#assistant option[value='{silent['id']}']")).to_be_disabled()
    page.goto(f"/test-call?agent={silent['id']}")
    checks = page.locator("#checks")
    missing = checks.get_by_role("listitem").filter(has_text="Stops the call")
    expect(missing.filter(has_text="not switched on and configured with a number")).to_have_count(1)
    fix = missing.filter(has_text="not switched on and configured with a number").get_by_role(
        "link"
    )
    fix.click()
    expect(page.get_by_role("heading", level=1, name=silent["name"])).to_be_visible()


@pytest.mark.parametrize("script", [True])
def test_the_checks_follow_the_form(form: Visit, partner: dict[str, Any]) -> None:
    page = form.page
    checks = page.locator("#checks")
    stops = checks.get_by_role("listitem").filter(has_text="Stops the call")
    hint = checks.get_by_text("Enter the number to check it too.")
    expect(hint).to_be_visible()
    page.get_by_label("Number to call").press_sequentially(simulated(partner, "human"))
    expect(hint).to_have_count(0)
    expect(stops).to_have_count(0)
    listed = partner["organizations"][0]["doNotCall"][0]
    page.get_by_label("Number to call").fill("")
    page.get_by_label("Number to call").press_sequentially(listed)
    expect(stops).to_have_count(1)
    expect(stops).to_contain_text("do-not-call list")
    assert form.findings() == []
