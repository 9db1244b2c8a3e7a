"""Every page that a role can reach: there, quiet, no wider than the window, open to everybody.

`make check` opens one page of each kind in the look whose turn it is, and asks axe about half of
them at its width; `make check-all` opens two of each in all looks, and asks about all at both. What
editors and customer admins see is what partner admins see, with less in the sidebar: there
`make check` leaves axe out.
"""

from typing import Any
from zlib import crc32

import pytest
from playwright.sync_api import expect

from tests.e2e.chromium import HEIGHT
from tests.e2e.conftest import LOOKS, Open
from tests.e2e.scripts import ask
from tests.e2e.test_signing_in import person_of
from tests.e2e.walking import kind_of, walk
from tests.e2e.watched import Visit
from tests.fixtures.stack import Stack
from tests.matrix import is_full, rotating

ROLES = ("partnerAdmin", *rotating("role", ("partnerEditor", "admin", "standard", "operator")))
WITH_SCREENS_OF_THEIR_OWN = ("partnerAdmin", "standard", "operator")
HALVES = rotating("half of the pages", (0, 1))
PEOPLE = b"First Name,Phone Number,Email\nAda,+12025550120,\nBen,call me,\n"


def looked_at(visit: Visit, *, with_axe: bool = True) -> list[str]:
    """What is wrong with the page at either width."""
    size = visit.page.viewport_size
    now = size["width"] if size else 0
    found = visit.findings() if with_axe else visit.layout()
    for width in {look.width for look in LOOKS} - {now}:
        visit.page.set_viewport_size({"width": width, "height": HEIGHT})
        found += visit.findings() if with_axe and is_full() else visit.layout()
        visit.page.set_viewport_size({"width": now, "height": HEIGHT})
    return found


@pytest.fixture(scope="module")
def used() -> set[str]:
    """The partners (their ids differ from stack to stack) that are in use already."""
    return set()


@pytest.fixture
def in_use(live: Stack, partner: dict[str, Any], open_browser: Open, used: set[str]) -> None:
    """Calls that ended in several ways, an upload that waits and one that was applied."""
    if partner["id"] in used:
        return
    used.add(partner["id"])
    organization = partner["organizations"][0]
    for outcome in ("human", "busy"):
        body = {
            "agentId": organization["agents"][0]["id"],
            "contact": {"phoneNumber": organization["simulator"][outcome], "firstName": "Ada"},
        }
        ask(live, "POST", "/api/v1/outbound/call", body=body, key=organization["apiKey"])
    visit = open_browser(live, partner)
    visit.sign_in(organization["users"][0])
    expect(visit.page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
    for applied in (True, False):
        visit.page.goto(f"/campaigns/{organization['campaigns'][0]['id']}/upload")
        visit.page.get_by_label("Contact file").set_input_files(
            {"name": "people.csv", "mimeType": "text/csv", "buffer": PEOPLE}
        )
        visit.page.get_by_role("button", name="Check the file").click()
        expect(visit.page.get_by_text("1 of 2 rows needs mending").first).to_be_visible()
        if applied:
            visit.page.get_by_role("button", name="Apply 1 row").click()
            expect(visit.page.get_by_role("heading", level=1)).to_have_text("1 row applied")


@pytest.mark.parametrize("role", ROLES)
def test_every_page_that_a_role_can_reach_is_sound(
    live: Stack, partner: dict[str, Any], open_browser: Open, in_use: None, role: str
) -> None:
    visit = open_browser(live, partner)
    if role == "operator":
        visit.slug = ""
    visit.sign_in(live.demo["operator"] if role == "operator" else person_of(partner, role))
    expect(visit.page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
    wrong = []
    for path, status in walk(visit, alike=2 if is_full() else 1):
        if status != 200:
            wrong.append(f"{path}: {status}")
        has_turn = crc32(kind_of(path).encode()) % 2 in HALVES
        own = is_full() or role in WITH_SCREENS_OF_THEIR_OWN
        wrong += looked_at(visit, with_axe=own and has_turn)
    assert wrong == []


@pytest.mark.parametrize("path", ["/p/{slug}/sign-in", "/sign-in", "/p/{slug}/no-such-page"])
def test_the_pages_before_signing_in_are_sound(
    live: Stack, partner: dict[str, Any], open_browser: Open, path: str
) -> None:
    visit = open_browser(live, partner)
    visit.page.goto(path.format(slug=visit.slug))
    assert looked_at(visit) == []
