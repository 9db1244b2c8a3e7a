"""The API documentation as a visitor reads it: every operation, with examples that run."""

import ast
import re
from typing import Any, Literal

import pytest
from playwright.sync_api import expect

from app.services.branding.shades import stylesheet
from tests.e2e.conftest import Open
from tests.e2e.scripts import ask
from tests.fixtures.stack import Stack

SHOWN = """
async (names) => {
  const shown = {};
  for (const name of names) {
    const section = document.getElementById(`operation/${name}`);
    shown[name] = { heading: section.querySelector("h3").textContent };
    for (const label of ["curl", "Python"]) {
      const tabs = [...section.querySelectorAll("[role=tab]")];
      const tab = tabs.find((each) => each.textContent === label);
      tab.click();
      await new Promise(setTimeout);
      const panel = document.getElementById(tab.getAttribute("aria-controls"));
      shown[name][label] = panel.querySelector("pre").innerText;
    }
  }
  return shown;
}
"""
"""The heading of each operation and its examples in their tabs: at once, as a page of 10,000
elements takes seconds for what is asked one by one."""


def test_every_operation_is_shown_with_its_examples_permission_and_error_codes(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open
) -> None:
    visit = open_browser(shared_stack, partner)
    asked: list[str] = []
    visit.page.on("request", lambda request: asked.append(request.url))
    visit.page.goto("/api/docs#operation/listCalls")
    calls = visit.page.locator('[id="operation/listCalls"]')
    expect(calls).to_be_in_viewport()
    expect(visit.page.get_by_role("tab", name="Python").last).to_be_visible()
    paths = ask(shared_stack, "GET", "/api/openapi.json")["paths"].values()
    operations = {made["operationId"]: made for methods in paths for made in methods.values()}
    shown = visit.page.evaluate(SHOWN, list(operations))
    for name, made in operations.items():
        assert made["summary"] in shown[name]["heading"]
        assert "curl -X" in shown[name]["curl"]
        assert isinstance(ast.parse(shown[name]["Python"]).body[0], ast.Import)
    expect(calls).to_contain_text("Needs calls:read")
    calls.get_by_role("button", name="403").click()
    expect(calls).to_contain_text("insufficient_scope: The key lacks the scope for this operation.")
    expect(visit.page.locator('[id="operation/updatePartner"]')).to_contain_text(
        re.compile("createdDate.*Read-only: ignored when it is sent back")
    )
    expect(visit.page.locator("#viewer")).not_to_contain_text("(?:")
    visit.page.emulate_media(reduced_motion="no-preference")
    open_contents = visit.page.get_by_role("button", name="Contents", exact=True)
    if open_contents.is_visible():  # on phones
        open_contents.click()
    contents = visit.page.get_by_role("navigation", name="Contents")
    contents.get_by_text("Campaigns API", exact=True).click()
    contents.get_by_role("link", name=operations["sendContacts"]["summary"], exact=True).click()
    expect(visit.page.locator('[id="operation/sendContacts"]')).to_be_in_viewport()
    assert [url for url in asked if not url.startswith((shared_stack.base_url, "data:"))] == []
    assert visit.findings('[id="operation/listCalls"]') == []


def test_the_guide_works_without_script(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open
) -> None:
    page = open_browser(shared_stack, partner, script=False).page
    page.goto("/api/docs")
    expect(page.get_by_role("heading", name="Quick start")).to_be_visible()
    expect(page.get_by_role("cell", name="Contacts in one request")).to_be_visible()


@pytest.mark.parametrize(("colour", "scheme"), [("#ffc800", "light"), ("#e4688a", "dark")])
def test_the_small_labels_are_readable_in_every_brand(
    colour: str,
    scheme: Literal["light", "dark"],
    shared_stack: Stack,
    partner: dict[str, Any],
    open_browser: Open,
) -> None:
    visit = open_browser(shared_stack, partner)
    sheet = stylesheet(colour)
    visit.page.route(
        "**/brand/*.css", lambda route: route.fulfill(body=sheet, content_type="text/css")
    )
    visit.page.emulate_media(color_scheme=scheme)
    visit.page.goto("/api/docs")
    sent = visit.page.locator('[id="operation/sendContacts"]')
    sent.get_by_role("button", name="expand contacts").click()
    expect(sent.get_by_text("<= 100 characters").first).to_be_visible()
    assert visit.findings('[id="operation/sendContacts"]') == []
