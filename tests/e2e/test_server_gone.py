"""When the server can't be reached, the page says so and keeps what was typed."""

import os
import signal
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.fixtures.stack import Stack, Stacks

FRESH_MS = 5000
"""A page that came a moment ago does not ask whether its server is there."""


@pytest.fixture
def mortal(stacks: Stacks, backend: str) -> Iterator[Stack]:
    """A stack of this test's own, since it is stopped."""
    stack = stacks.start(backend)
    yield stack
    stack.stop()


@pytest.mark.parametrize("form", ["htmx", "plain"])
def test_a_form_keeps_its_values_when_the_server_is_gone(
    mortal: Stack, open_browser: Open, form: str
) -> None:
    partner = mortal.demo["partners"][0]
    visit = open_browser(mortal, partner)
    page = visit.page
    visit.sign_in(partner["users"][0], then="/branding" if form == "htmx" else "/settings")
    label = "Product name" if form == "htmx" else "Company name"
    expect(page.get_by_label(label)).to_be_visible()
    os.kill(mortal.supervisor.pid, signal.SIGTERM)
    mortal.supervisor.wait(40)
    page.wait_for_timeout(FRESH_MS)
    page.get_by_label(label).fill("Typed while nobody listened")
    if form == "plain":
        page.get_by_role("button", name="Save settings").click()
    expect(page.get_by_text("What you typed is still here; nothing was sent.")).to_be_visible()
    expect(page.get_by_label(label)).to_have_value("Typed while nobody listened")
    visit.problems.clear()
