"""Names of browsers, from their user agent, such as "Firefox on Windows", and their use.

The names are checked in an order that distinguishes browsers whose user agents contain each other's
names.
"""

from app.extensions import settings
from app.gateways.geolocation import location_of
from app.languages import gettext, language
from app.portal.web.formats import long_datetime
from app.portal.web.user_timezone import zone
from app.services.users.account import OpenSession

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


def device_label(user_agent: str | None) -> str:
    """Return the browser and its system, as far as the user agent names them."""
    header = user_agent or ""
    browser = next((name for marker, name in BROWSERS if marker in header), None)
    system = next((name for marker, name in SYSTEMS if marker in header), None)
    if browser == PROGRAM:
        browser = gettext("A Python program")
    if browser and system:
        return gettext("%(browser)s on %(system)s", browser=browser, system=system)
    if system:
        return gettext("A browser on %(system)s", system=system)
    return browser or gettext("An unknown browser")


def session_label(browser: OpenSession) -> str:
    """Return where a browser is signed in, since when, and when others than this one were last
    seen."""
    address = browser.ip or gettext("Unknown address")
    if location := location_of(settings().places_file, browser.ip, language()):
        address = gettext("%(place)s (%(address)s)", place=location, address=address)
    since = long_datetime(browser.created_at, zone())
    if browser.is_this:
        return gettext("%(address)s, since %(moment)s", address=address, moment=since)
    return gettext(
        "%(address)s, since %(moment)s; last seen %(seen)s",
        address=address,
        moment=since,
        seen=long_datetime(browser.seen_at, zone()),
    )


def is_phone(user_agent: str | None) -> bool:
    """Return whether it is a phone, for the icon."""
    header = user_agent or ""
    return "iPhone" in header or ("Android" in header and "Mobile" in header)
