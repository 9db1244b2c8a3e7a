"""The tools of lists: filters in one line, and actions on rows only where rows are selected."""

import re
from typing import Any

from playwright.sync_api import Route, expect

from app.languages import LANGUAGES
from tests.e2e.chromium import HEIGHT
from tests.e2e.conftest import Open
from tests.e2e.visits import Visit
from tests.fixtures.stack import Stack

PAGES = ("/organizations", "/users", "/assistants", "/campaigns", "/usage")
ONE_LINE, TWO_LINES = 40, 100
HEIGHT_OF_FILTERS = (
    "() => document.querySelector('.list-tools .filters').getBoundingClientRect().height"
)
HEIGHT_OF_TOOLS = "() => document.querySelector('.list-tools').getBoundingClientRect().height"


def at(visit: Visit, width: int) -> None:
    visit.page.set_viewport_size({"width": width, "height": HEIGHT})


def test_the_filters_of_a_list_have_one_line_and_on_phones_two_in_every_language(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open
) -> None:
    visit = open_browser(shared_stack, partner)
    visit.sign_in(partner["users"][0], then="/organizations")
    visit.page.wait_for_url("**/organizations")
    higher = []
    for language in LANGUAGES:
        visit.speak(language)
        for path in PAGES:
            visit.page.goto(path)
            for width, measured, most in (
                (1360, HEIGHT_OF_TOOLS, ONE_LINE),
                (390, HEIGHT_OF_FILTERS, TWO_LINES),
            ):
                at(visit, width)
                if (height := visit.page.evaluate(measured)) > most:
                    higher.append((path, language, width, height))
    assert higher == []


def test_actions_on_several_rows_are_shown_while_a_row_is_selected(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open, script: bool
) -> None:
    visit = open_browser(shared_stack, partner, script=script)
    visit.sign_in(partner["users"][0], then="/campaigns")
    visit.page.wait_for_url("**/campaigns")
    at(visit, 1360)
    archive, row = (
        visit.page.get_by_role("button", name="Archive…"),
        visit.page.locator("[name=id]"),
    )
    expect(archive).to_be_hidden()
    row.first.check()
    expect(archive).to_be_visible()
    row.first.uncheck()
    expect(archive).to_be_hidden()
    row.first.check()
    archive.click()
    expect(visit.page.get_by_role("heading", level=1)).to_contain_text("Archive")


def test_more_filters_are_applied_together_in_a_panel_that_returns_the_focus(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open
) -> None:
    visit = open_browser(shared_stack, partner)
    visit.sign_in(partner["users"][0], then="/calls")
    visit.page.wait_for_url("**/calls")
    button = visit.page.get_by_role("button", name="More filters")
    panel = visit.page.get_by_role("search", name="More filters")
    for width in (1360, 390):
        at(visit, width)
        button.click()
        panel.get_by_label("Outcome").select_option("busy")
        panel.get_by_label("Live or test").select_option("yes")
        assert visit.findings() == []
        panel.get_by_role("button", name="Apply").click()
        visit.page.wait_for_url("**/calls?outcome=busy&live=yes")
        expect(panel).to_be_hidden()
        expect(button).to_have_text("More filters 2")
        expect(button).to_be_focused()
        button.click()
        panel.get_by_role("link", name="Clear").click()
        visit.page.wait_for_url("**/calls")


def test_the_status_of_a_searched_list_is_legible_on_a_phone(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open
) -> None:
    visit = open_browser(shared_stack, partner)
    visit.sign_in(partner["users"][0], then="/calls?number=555")
    visit.page.wait_for_url("**/calls?number=555")
    at(visit, 390)
    box = visit.page.locator("#filter-state").bounding_box()
    assert box is not None
    assert box["width"] >= 160


def test_the_export_menu_closes_when_the_download_begins(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open
) -> None:
    visit = open_browser(shared_stack, partner)
    visit.sign_in(partner["users"][0], then="/users")
    visit.page.wait_for_url("**/users")
    at(visit, 1360)
    visit.page.get_by_role("button", name="Export").click()
    with visit.page.expect_download():
        visit.page.get_by_role("link", name="CSV").click()
    expect(visit.page.get_by_role("link", name="CSV")).to_be_hidden()


def test_a_list_is_filtered_while_typing_and_back_leaves_it(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open
) -> None:
    visit = open_browser(shared_stack, partner)
    visit.sign_in(partner["users"][0], then="/users")
    visit.page.wait_for_url("**/users")
    visit.page.goto("/organizations")
    search, message = (
        visit.page.locator("form.filters [name=q]"),
        visit.page.locator("#announcement"),
    )

    under_way: list[Route] = []

    def hold(route: Route) -> None:
        under_way.append(route)

    visit.page.route("**/organizations?q=Bak", hold)
    with visit.page.expect_request("**/organizations?q=Bak"):
        search.press_sequentially("Bak", delay=20)
    search.press_sequentially("ery", delay=20)
    visit.page.wait_for_url("**/organizations?q=Bakery")
    expect(message).to_contain_text("match")
    expect(search).to_be_focused()
    expect(search).to_have_value("Bakery")
    search.press("ArrowLeft")
    search.press("Backspace")
    visit.page.wait_for_url("**/organizations?q=Bakey")
    assert search.evaluate("field => field.selectionStart") == len("Bake")
    visit.page.go_back()
    visit.page.wait_for_url("**/users")
    assert visit.problems == []


def test_a_search_by_enter_sends_one_request(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open
) -> None:
    visit = open_browser(shared_stack, partner)
    visit.sign_in(partner["users"][0], then="/organizations")
    visit.page.wait_for_url("**/organizations")
    asked: list[str] = []
    visit.page.on("request", lambda request: asked.append(request.url))
    search = visit.page.locator("form.filters [name=q]")
    search.fill("Bakery")
    search.press("Enter")
    visit.page.wait_for_url(re.compile(r"/organizations\?q=Bakery$"))
    assert [url.rpartition("/")[2] for url in asked if "q=" in url] == ["organizations?q=Bakery"]
    assert visit.problems == []
