"""The browser of the journeys."""

import shutil

from playwright.sync_api import Browser, Playwright

HEIGHT = 900
_QUIETLY = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


def launch(playwright: Playwright) -> Browser:
    """The installed Chromium, which asks nobody outside for anything."""
    return playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(_QUIETLY))
