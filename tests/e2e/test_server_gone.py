"""When the server can't be reached, the page says so and keeps what was typed."""

import os
import signal
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.fixtures.stack import Stack, Stacks

FRESH_MS = 5000
"""For this time after a response, a page doesn't check whether its server is there."""


@pytest.fixture
def stoppable_stack(stacks: Stacks, backend: str) -> Iterator[Stack]:
    """A stack of this test's own, since it is stopped."""
    stack = stacks.start(backend)
    yield stack
    stack.stop()


def test_forms_keep_their_values_when_the_server_is_gone(
    stoppable_stack: Stack, open_browser: Open
) -> None:
    partner = stoppable_stack.demo["partners"][0]
    by_htmx, plain = open_browser(stoppable_stack, partner), open_browser(stoppable_stack, partner)
    by_htmx.sign_in(partner["users"][0], then="/branding")
    plain.sign_in(partner["users"][0], then="/settings")
    fields = (by_htmx.page.get_by_label("Product name"), plain.page.get_by_label("Company name"))
    for field in fields:
        expect(field).to_be_visible()
    os.kill(stoppable_stack.supervisor.pid, signal.SIGTERM)
    stoppable_stack.supervisor.wait(40)
    plain.page.wait_for_timeout(FRESH_MS)
    for field in fields:
        field.fill("Typed while nobody listened")
    plain.page.get_by_role("button", name="Save settings").click()
    for visit, field in zip((by_htmx, plain), fields, strict=True):
        kept = visit.page.get_by_text("What you typed is still here; nothing was sent.")
        expect(kept).to_be_visible()
        expect(field).to_have_value("Typed while nobody listened")
        visit.problems.clear()


def test_a_click_does_not_wait_for_the_check_that_began_when_the_pointer_came(
    shared_stack: Stack, open_browser: Open
) -> None:
    partner = shared_stack.demo["partners"][0]
    visit = open_browser(shared_stack, partner)
    visit.sign_in(partner["users"][0], then="/settings")
    button = visit.page.get_by_role("button", name="Save settings")
    expect(button).to_be_visible()
    visit.page.wait_for_timeout(FRESH_MS)
    with visit.page.expect_response("**/healthz"):
        button.hover()
    requests: list[str] = []
    visit.page.on("request", lambda request: requests.append(request.method))
    with visit.page.expect_response(lambda response: response.request.method == "POST"):
        button.click()
    assert requests[0] == "POST"
