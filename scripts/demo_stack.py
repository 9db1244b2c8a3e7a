"""The product with demo data and activity, for scripts that look at its pages."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from tests.e2e.chromium import HEIGHT, launch
from tests.e2e.partner_activity import put_to_use
from tests.e2e.visits import Look, Visit, slug_of
from tests.fixtures.databases import Databases
from tests.fixtures.stack import Stack, Stacks


@contextmanager
def showing() -> Iterator[tuple[Stack, Browser]]:
    """Yield a running portal on SQLite and a browser; both end with the block."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        databases = Databases(folder, folder)
        stacks = Stacks(databases, folder, folder)
        browser = launch(playwright)
        try:
            yield stacks.start("sqlite"), browser
        finally:
            browser.close()
            stacks.stop()
            databases.close()


def partner_of(stack: Stack, look: Look) -> dict[str, Any]:
    partner: dict[str, Any] = stack.demo["partners"][look.brand]
    return partner


def visit(stack: Stack, browser: Browser, look: Look) -> Visit:
    """Return a browser with this look, not signed in."""
    context = browser.new_context(
        base_url=stack.base_url,
        viewport={"width": look.width, "height": HEIGHT},
        color_scheme="dark" if look.scheme == "dark" else "light",
    )
    return Visit(context.new_page(), slug_of(partner_of(stack, look)))


def at_work(stack: Stack, browser: Browser, look: Look) -> list[str]:
    """Create activity for the partner; return the URLs that show it."""
    visits = [visit(stack, browser, look) for _each in range(2)]
    addresses = put_to_use(stack, partner_of(stack, look), *visits)
    for each in visits:
        each.page.context.close()
    return addresses


def signed_in(stack: Stack, browser: Browser, look: Look) -> Visit:
    """Sign in as the partner's first administrator, on the overview."""
    new_visit = visit(stack, browser, look)
    new_visit.sign_in(partner_of(stack, look)["users"][0])
    new_visit.page.wait_for_url(f"{stack.base_url}/")
    return new_visit
