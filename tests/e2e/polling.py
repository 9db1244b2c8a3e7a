"""Following work in progress: with script a page updates itself, without it the test reloads it."""

from playwright.sync_api import Locator, Page, expect

PATIENCE = 300
SLOW_MS = 60_000
"""Limit in milliseconds for slow work, such as 2,000 rows, on a busy machine."""


def follow_until(page: Page, wanted: Locator) -> None:
    """Return when it is there."""
    asking = page.get_by_role("link", name="Refresh")
    for _look in range(PATIENCE):
        expect(wanted.or_(asking).first).to_be_visible(timeout=SLOW_MS)
        if wanted.is_visible():
            break
        page.wait_for_timeout(200)
        with page.expect_navigation():
            asking.click()
    expect(wanted).to_be_visible()
