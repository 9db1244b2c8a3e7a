"""Names that are markup, that run from right to left or never end: shown as what they are."""

from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Open, OwnStacks
from tests.e2e.crawl import KINDS_OF_A_PATH, walk
from tests.e2e.scripts import ask, token_of
from tests.e2e.test_signing_in import person_of
from tests.e2e.visits import Visit
from tests.fixtures.stack import Stack
from tests.matrix import is_full, rotating

MARKUP = "'\"><img src=x onerror=alert(1)><script>alert(2)</script>{{7*7}}"
ENDLESS = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
FROM_RIGHT = "مركز الخليج لطب الأسنان والعناية بالفم"
NAMES = (MARKUP, ENDLESS, FROM_RIGHT)
ROLES = ("partnerAdmin", "standard")
QUOTED = MARKUP.replace('"', '""')
FILE = f'First Name,Phone Number,"{QUOTED}"\nAda,call me,"{QUOTED}"\n'


@pytest.fixture
def stack(own_stacks: OwnStacks, backend: str) -> Stack:
    """A stack of these tests alone, whose names no other test reads."""
    return own_stacks(backend, {})


@pytest.fixture
def visit_with_planted_names(stack: Stack, partner: dict[str, Any], open_browser: Open) -> Visit:
    """The browser of the partner's administrator, after the names have been given everywhere."""
    token = token_of(stack, partner["client"])
    organization = partner["organizations"][0]
    key = organization["apiKey"]
    brand = {
        "productName": MARKUP,
        "defaultAgentName": MARKUP,
        "partnerUpgradeMessage": MARKUP,
        "customHeaderLinks": [
            {"label": name[:40], "url": "https://www.example.com/"} for name in NAMES
        ],
    }
    ask(stack, "PUT", f"/api/partners/{partner['id']}", body=brand, token=token)
    for name in NAMES:
        email = f"{uuid4().hex}@mail.example"
        customer = {"email": email, "userType": "standard", "businessName": name}
        ask(stack, "POST", "/api/users", body=customer, token=token)
    path = f"/api/partners/{partner['id']}/organizations/{organization['id']}"
    ask(stack, "PUT", path, body={"referralCode": MARKUP}, token=token)
    contacts = [
        {
            "firstName": name,
            "lastName": name,
            "phone": f"+1202555013{place}",
            "status": MARKUP[:64],
            "contactMetadata": {MARKUP[:60]: MARKUP},
        }
        for place, name in enumerate(NAMES)
    ]
    campaign = organization["campaigns"][0]["id"]
    path = f"/api/v1/campaigns/{campaign}/contacts"
    ask(stack, "POST", path, body={"contacts": contacts}, key=key)
    call = {
        "agentId": organization["agents"][0]["id"],
        "contact": {"phoneNumber": organization["simulator"]["human"], "firstName": MARKUP},
        "introMessage": MARKUP,
        "voicemailMessage": ENDLESS,
    }
    ask(stack, "POST", "/api/v1/outbound/call", body=call, key=key)
    visit = open_browser(stack, partner)
    visit.sign_in(partner["users"][0], then=f"/campaigns/{campaign}/upload")
    visit.page.get_by_label("Contact file").set_input_files(
        {"name": f"{MARKUP}.csv", "mimeType": "text/csv", "buffer": FILE.encode()}
    )
    visit.page.get_by_role("button", name="Check file").click()
    expect(visit.page.get_by_role("heading", level=1)).to_have_text("1 of 1 row needs fixing")
    return visit


def executed(visit: Visit) -> int:
    """Elements that only exist where a name was taken for markup."""
    return visit.page.locator("img[src=x], script:not([src]):not([type])").count()


@pytest.mark.parametrize("role", rotating("role that reads markup", ROLES))
def test_a_name_is_shown_as_it_was_given_and_never_run(
    stack: Stack,
    partner: dict[str, Any],
    visit_with_planted_names: Visit,
    open_browser: Open,
    role: str,
) -> None:
    visit = visit_with_planted_names
    if role == "standard":
        visit = open_browser(stack, partner)
        visit.sign_in(person_of(partner, role))
        expect(visit.page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
    wrong, shown = [], set()
    for path, status in walk(visit, kinds_of_a_path=KINDS_OF_A_PATH if is_full() else 2):
        wrong += visit.layout()
        if status != 200 or executed(visit):
            wrong.append(f"{path}: {status}")
        if MARKUP[:40] in visit.page.locator("main").inner_text():
            shown.add(path.strip("/").split("/")[0].split("?")[0])
    assert wrong == []
    assert shown >= {"calls", "uploads", "campaigns" if role == "standard" else "organizations"}


def test_the_sign_in_page_shows_the_product_as_it_is_named(
    stack: Stack, partner: dict[str, Any], visit_with_planted_names: Visit, open_browser: Open
) -> None:
    stranger = open_browser(stack, partner)
    stranger.page.goto(f"/p/{stranger.slug}/sign-in")
    expect(stranger.page.get_by_role("heading", level=1)).to_have_text(f"Sign in to {MARKUP}")
    assert (executed(stranger), stranger.findings()) == (0, [])
