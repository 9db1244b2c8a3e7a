"""Browsers of users, with the whole product.

`make check` takes one part of each rotating axis: the database, with or without script, the look
(brand, colour scheme and width; the four looks hold every pair of these), and of the files in
`TAKING_TURNS` one group. `make check-all` takes them all, and naming a file runs it.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.e2e.chromium import HEIGHT, launch
from tests.e2e.scripts import ask, token_of
from tests.e2e.visits import Look, Visit, slug_of
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.partner_api import without_ids
from tests.fixtures.stack import Stack, Stacks
from tests.matrix import rotating

LOOKS = (
    Look(0, "light", 1360),
    Look(1, "dark", 1360),
    Look(1, "light", 390),
    Look(0, "dark", 390),
)
SLOWEST_MS = 15_000
TAKING_TURNS = (
    "api_access call_page chat customers limits lists operator_console upload_repair",
    "assistants contacts find_field left_forms long_export outreach settings test_call webhooks",
    "branding branding_studio company_accounts costs mails_and_accounts migration_page owner",
    "corpus_uploads figures organization_groups organization_templates passkeys report_schedule",
    "alerts api_docs budget_and_statement carrier_accounts planted_markup pricing server_gone",
)
"""The names of files, without ``test_``: the commit chooses one line."""
TURN = rotating("further journeys", TAKING_TURNS)
BRAND_FIELDS = (
    *("productName", "brandUIColors", "logoImgUrl", "siteImages", "customHeaderLinks"),
    *("socialLinks", "showEmbeddedChat", "chatAgentId", "chatTemplateColors", "pricing"),
)

expect.set_options(timeout=SLOWEST_MS)

Open = Callable[..., Visit]
OwnStacks = Callable[[str, Mapping[str, str]], Stack]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the journeys that the commit did not choose, where the whole suite runs."""
    if any("e2e" in argument for argument in config.args):
        return
    others = {
        f"test_{name}.py" for names in TAKING_TURNS if names not in TURN for name in names.split()
    }
    left_out = [item for item in items if item.path.name in others and "e2e" in item.path.parts]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


backend = runs_on(rotating("database of the journeys", BACKENDS))


@pytest.fixture(params=rotating("look of the journeys", LOOKS), ids=str)
def look(request: pytest.FixtureRequest) -> Look:
    chosen: Look = request.param
    return chosen


@pytest.fixture(
    params=rotating("script of the journeys", [True, False]),
    ids=lambda on: "script" if on else "no script",
)
def script(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def own_stacks(stacks: Stacks) -> Iterator[OwnStacks]:
    """Return ``own_stacks(backend, environment)``: a stack for one file of tests."""
    running: dict[str, Stack] = {}

    def start(backend: str, environment: Mapping[str, str]) -> Stack:
        if backend not in running:
            running[backend] = stacks.start(backend, environment)
        return running[backend]

    yield start
    for stack in running.values():
        stack.stop()


@pytest.fixture
def stack(shared_stack: Stack) -> Stack:
    """The shared product; a file whose journeys need their own overrides it."""
    return shared_stack


@pytest.fixture
def partner(stack: Stack, look: Look) -> dict[str, Any]:
    """The demo's partner whose brand this run uses."""
    found: dict[str, Any] = stack.demo["partners"][look.brand]
    return found


@pytest.fixture
def open_browser(chromium: Browser, look: Look) -> Iterator[Open]:
    """Return ``open_browser(stack, partner, script=…)``: a new browser. Invisible errors in it fail
    the test at its end."""
    visits: list[Visit] = []

    def open_one(stack: Stack, partner: dict[str, Any], *, script: bool = True) -> Visit:
        context = chromium.new_context(
            base_url=stack.base_url,
            viewport={"width": look.width, "height": HEIGHT},
            color_scheme="dark" if look.scheme == "dark" else "light",
            reduced_motion="reduce",  # a click that waits for a moving menu scrolls it away
            java_script_enabled=script,
            accept_downloads=True,
        )
        context.set_default_timeout(SLOWEST_MS)
        visit = Visit(context.new_page(), slug_of(partner))
        visit.watch(context)
        visits.append(visit)
        return visit

    yield open_one
    problems = [problem for visit in visits for problem in visit.problems]
    for visit in visits:
        visit.page.context.close()
    assert problems == []


@pytest.fixture
def visit(stack: Stack, partner: dict[str, Any], open_browser: Open, script: bool) -> Visit:
    """The partner's administrator, at the organizations."""
    opened = open_browser(stack, partner, script=script)
    opened.sign_in(partner["users"][0], then="/organizations")
    expect(opened.page.get_by_role("heading", level=1, name="Organizations")).to_be_visible()
    return opened


@pytest.fixture
def restored_brand(shared_stack: Stack, partner: dict[str, Any]) -> Iterator[None]:
    """Restore the partner's brand at the end."""
    token = token_of(shared_stack, partner["client"])
    before = ask(shared_stack, "GET", f"/api/partners/{partner['id']}", token=token)
    yield
    brand = {name: without_ids(before[name]) for name in BRAND_FIELDS}
    ask(shared_stack, "PUT", f"/api/partners/{partner['id']}", token=token, body=brand)


@pytest.fixture
def studio(
    shared_stack: Stack,
    partner: dict[str, Any],
    restored_brand: None,
    open_browser: Open,
    script: bool,
) -> Visit:
    """The branding studio before its partner's administrator."""
    visit = open_browser(shared_stack, partner, script=script)
    visit.sign_in(partner["users"][0], then="/branding")
    expect(visit.page.get_by_role("heading", level=1, name="Branding")).to_be_visible()
    return visit
