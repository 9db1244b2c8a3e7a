"""The API documentation as a visitor reads it: every operation, with examples that run."""

import ast
from typing import Any

from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.e2e.scripts import ask
from tests.fixtures.stack import Stack


def test_every_operation_is_shown_with_its_examples_permission_and_error_codes(
    live: Stack, partner: dict[str, Any], open_browser: Open
) -> None:
    visit = open_browser(live, partner)
    asked: list[str] = []
    visit.page.on("request", lambda request: asked.append(request.url))
    visit.page.goto("/api/docs#operation/listCalls")
    calls = visit.page.locator('[id="operation/listCalls"]')
    expect(calls).to_be_in_viewport()
    paths = ask(live, "GET", "/api/openapi.json")["paths"].values()
    operations = [made for methods in paths for made in methods.values()]
    for made in operations:
        section = visit.page.locator(f'[id="operation/{made["operationId"]}"]')
        expect(section.get_by_role("heading", level=3).first).to_contain_text(made["summary"])
        section.get_by_role("tab", name="curl").click()
        command = section.get_by_role("tabpanel", name="curl").locator("pre")
        expect(command).to_contain_text("curl -X")
        section.get_by_role("tab", name="Python").click()
        source = section.get_by_role("tabpanel", name="Python").locator("pre").inner_text()
        assert isinstance(ast.parse(source).body[0], ast.Import)
    expect(calls).to_contain_text("Needs calls:read")
    calls.get_by_role("button", name="403").click()
    expect(calls).to_contain_text("insufficient_scope: The key lacks the scope for this operation.")
    assert [url for url in asked if not url.startswith((live.base_url, "data:"))] == []
    assert visit.findings() == []


def test_the_guide_is_there_without_script(
    live: Stack, partner: dict[str, Any], open_browser: Open
) -> None:
    page = open_browser(live, partner, script=False).page
    page.goto("/api/docs")
    expect(page.get_by_role("heading", name="Quick start")).to_be_visible()
    expect(page.get_by_role("cell", name="Contacts in one request")).to_be_visible()
