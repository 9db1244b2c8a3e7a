"""Names of browsers, from their user agent: "Firefox on Windows".

The names are checked in an order that distinguishes browsers whose user agents contain each other's
names.
"""

from app.languages import gettext

PROGRAM = "python"
BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Vivaldi", "Vivaldi"),
    ("FxiOS", "Firefox"),
    ("Firefox", "Firefox"),
    ("CriOS", "Chrome"),
    ("Chromium", "Chromium"),
    ("Chrome", "Chrome"),
    ("Safari", "Safari"),
    ("curl", "curl"),
    ("python", PROGRAM),
)
SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


def device_words(user_agent: str | None) -> str:
    """Return the browser and its system, as far as the user agent names them."""
    header = user_agent or ""
    browser = next((name for mark, name in BROWSERS if mark in header), None)
    system = next((name for mark, name in SYSTEMS if mark in header), None)
    if browser == PROGRAM:
        browser = gettext("A Python program")
    if browser and system:
        return gettext("%(browser)s on %(system)s", browser=browser, system=system)
    if system:
        return gettext("A browser on %(system)s", system=system)
    return browser or gettext("An unknown browser")


def is_phone(user_agent: str | None) -> bool:
    """Return whether it is a phone, for the icon."""
    header = user_agent or ""
    return "iPhone" in header or ("Android" in header and "Mobile" in header)
