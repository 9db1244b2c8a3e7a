"""A form is sent to the page that is shown, and what was typed is not lost without a question."""

import re
from typing import Any

from playwright.sync_api import Dialog, expect

from tests.e2e.conftest import Open
from tests.fixtures.stack import Stack


def test_a_refused_form_asks_before_another_organization_is_chosen(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open
) -> None:
    visit = open_browser(shared_stack, partner)
    visit.sign_in(partner["users"][0], then="/report/schedule")
    page, organization = visit.page, partner["organizations"][0]
    recipients = page.get_by_label("Recipients")
    recipients.fill("nonsense")
    page.get_by_role("button", name="Save schedule").click()
    expect(page.get_by_text("“nonsense” isn’t an email address.").first).to_be_visible()
    about = page.get_by_label("Report about")
    asked: list[str] = []

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.accept() if len(asked) > 1 else dialog.dismiss()

    page.remove_listener("dialog", visit.asked)
    page.on("dialog", answer)
    about.select_option(label=organization["name"])
    expect(about).to_have_value("")
    expect(recipients).to_have_value("nonsense")
    about.select_option(label=organization["name"])
    expect(page).to_have_url(re.compile(organization["id"]))
    assert asked == ["Leave without saving? What you typed is lost."] * 2
    expect(recipients).to_have_value("")
    recipients.fill("owner@customer.example")
    page.get_by_role("button", name="Save schedule").click()
    expect(page).to_have_url(re.compile(rf"/report/month\?organization={organization['id']}"))
    page.goto("/report/schedule")
    expect(recipients).to_have_value("")
    expect(page.get_by_text("owner@customer.example").first).to_be_visible()


def test_a_choice_that_replaces_the_page_asks_before_changes_are_lost(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open
) -> None:
    visit = open_browser(shared_stack, partner)
    visit.sign_in(partner["users"][0], then="/report/schedule")
    page, name = visit.page, partner["organizations"][0]["name"]
    recipients, about = page.get_by_label("Recipients"), page.get_by_label("Report about")
    recipients.fill("another@customer.example")
    asked: list[str] = []

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.accept() if len(asked) > 1 else dialog.dismiss()

    page.remove_listener("dialog", visit.asked)
    page.on("dialog", answer)
    about.select_option(label=name)
    expect(about).to_have_value("")
    expect(recipients).to_have_value("another@customer.example")
    about.select_option(label=name)
    expect(page.get_by_text(f"The report of the last month of {name}")).to_be_visible()
    expect(recipients).not_to_have_value("another@customer.example")
    assert asked == ["Leave without saving? What you typed is lost."] * 2


def test_a_form_that_could_not_be_sent_asks_before_it_is_left(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open
) -> None:
    visit = open_browser(shared_stack, partner)
    visit.sign_in(partner["users"][0], then="/settings")
    page = visit.page
    page.get_by_label("Company name").fill("Typed while offline")
    page.context.set_offline(True)
    page.get_by_role("button", name="Save settings").click()
    expect(page.get_by_text("What you typed is still here; nothing was sent.")).to_be_visible()
    page.context.set_offline(False)
    visit.problems.clear()
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.remove_listener("dialog", visit.asked)
    page.on("dialog", stay)
    page.evaluate("location.assign('/users')")
    expect(page.get_by_label("Company name")).to_have_value("Typed while offline")
    assert asked == ["beforeunload"]
