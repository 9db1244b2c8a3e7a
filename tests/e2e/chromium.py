"""The browser of the journeys."""

import shutil

from playwright.sync_api import Browser, Playwright

HEIGHT = 900
PROGRAMS = ("chromium-headless-shell", "google-chrome", "chromium-browser", "chromium")
"""Paths of the program. The first is the headless engine, which takes half the processor time for a
page."""
_QUIETLY = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


def program() -> str:
    """The path of the installed Chromium."""
    return next(filter(None, map(shutil.which, PROGRAMS)))


def launch(playwright: Playwright) -> Browser:
    """Launch the installed Chromium, which sends no requests to outside hosts."""
    return playwright.chromium.launch(executable_path=program(), args=list(_QUIETLY))
