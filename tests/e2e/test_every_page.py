"""Every page that a role can reach: there, quiet, no wider than the window, accessible.

`make check` opens one page of each kind, and three kinds of one path, in the look that the commit
chooses, looks at a quarter of them at the other widths too, and asks axe about a twelfth of them at
its width; `make check-all` opens two of each in all looks, and looks and asks at all widths. What
editors and customer admins see is what partner admins see, with less in the sidebar: there
`make check` leaves axe out.
"""

import re
from typing import Any
from urllib.parse import urlsplit
from zlib import crc32

import pytest
from flask import Flask
from playwright.sync_api import expect

from app.languages import LANGUAGES
from app.portal.web.blueprint import portal
from tests.e2e.chromium import HEIGHT
from tests.e2e.conftest import LOOKS, Open
from tests.e2e.crawl import kind_of, path_of, walk
from tests.e2e.partner_activity import put_to_use
from tests.e2e.test_signing_in import person_of
from tests.e2e.visits import Visit
from tests.fixtures.stack import Stack
from tests.matrix import is_full, rotating

pytestmark = pytest.mark.crawl

ROLES = ("partnerAdmin", *rotating("role", ("partnerEditor", "admin", "standard", "operator")))
WITH_SCREENS_OF_THEIR_OWN = ("partnerAdmin", "standard", "operator")
SPOKEN = rotating("language of the pages", tuple(LANGUAGES))
TWELFTHS = rotating("twelfth of the pages", tuple(range(12)))
QUARTERS = {twelfth % 4 for twelfth in TWELFTHS}
SEEN_ELSEWHERE = {
    "/account/confirm",  # after ten minutes: test_passkeys.py
    "/api-access/migration/*/extension",  # operators only: tests/portal/test_legacy_extensions.py
    "/api-access/migration/*/extension/end",
    "/account/factors/app",  # while a secret waits: test_passkeys.py
    "/account/factors/app/remove",  # of an app that was added: tests/portal/test_second_factor.py
    "/account/factors/passkeys/*/remove",  # of a passkey: tests/portal/test_passkeys.py
    "/users/*/reset-factors",  # of users with a factor: tests/portal/test_lost_factors.py
    "/sign-in/second-step",  # after the password: test_passkeys.py
    "/api-access/clients/*/groups",  # where there are groups: test_organization_groups.py
    "/users/*/groups",
    "/settings/groups/*",
    "/settings/groups/*/delete",
    "/branding/discard",  # while there is a draft: test_branding_studio.py
    "/branding/review",
    "/branding/images",  # a part of the studio that refreshes itself
    "/campaigns/*/contacts/*/do-not-call",  # of a contact that is not listed: test_contacts.py
    "/calls/*/cancel",  # while it runs: test_test_call.py
    "/calls/*/recording",  # a sound: tests/portal/test_call_conversations.py
    "/calls/*/do-not-call",  # of a number that is not listed: tests/portal/test_calls.py
    "/carriers/accounts/*/remove",
    "/carriers/accounts/*/test",  # after a test of the account: test_carrier_accounts.py
    "/carriers/accounts/*/use",
    "/erasures/*",  # while or after a person is erased: test_contacts.py
    "/exports/*/file",  # a file: test_long_export.py
    "/lists/*/exports",  # of long lists: test_long_export.py
    "/lists/*/actions/*",  # several rows at once: tests/portal/test_bulk_actions.py
    "/lists/*/views/new",  # saved views: test_customers.py
    "/views/*",
    "/views/*/delete",
    "/notifications/bell",  # a part of each page
    "/organizations/names",  # suggestions while a name is typed: tests/portal/test_organizations.py
    "/overview/earnings",  # a part of the overview
    "/numbers/*/release",  # operators only: tests/portal/test_phone_numbers.py
    "/numbers/assign",
    "/settings/domain/records",  # a part of the page that refreshes itself
    "/numbers/lists/*",  # the state of a carrier account's list, in the page itself
    "/operator/calls",  # operators only: tests/portal/test_operator_calls.py
    "/operator/destinations",  # operators only: tests/portal/test_destinations.py
    "/operator/destinations/*",
    "/operator/figures",  # operators only: tests/portal/test_figure_check.py
    "/operator/installation",  # operators only: test_operator_console.py
    "/operator/installation/jobs/*/retry",  # tests/portal/test_operator_console.py
    "/operator/stuck-calls/*",  # operators only: tests/portal/test_operator_calls.py
    "/operator/partners/*",
    "/operator/partners/*/domain",
    "/operator/partners/new",
    "/operator/spending",  # operators only: tests/portal/test_spending.py
    "/operator/spending/*",
    "/organizations/*/end-trial",  # in trial mode: tests/portal/test_trial_mode.py
    "/operator/storage",  # operators only: tests/portal/test_storage.py
    "/operator/storage/*",
    "/outbox/*",  # test_mails_and_accounts.py
    "/outbox/*/files/*",  # a file: tests/portal/test_outbox.py
    "/uploads/*/cancel",  # while rows are edited: tests/portal/test_upload_repair.py
    "/report/schedule/preview",  # a frame within the schedule: tests/portal/test_monthly_report.py
    "/p/*",  # leads to the sign-in page: tests/portal/test_brand_by_host.py
    "/p/*/email/*",  # the link of a mail: tests/portal/test_email_changes.py
    "/partners/*/end-trial",  # operators only: tests/portal/test_trial_mode.py
    "/partners/*/start-trial",
    "/partners/*/suspend",  # operators only: tests/portal/test_overview.py
    "/users/*/view-as",  # operators only: test_operator_console.py
    "/users/*/role/*",  # where something would end: tests/portal/test_created_items.py
    "/plan/checkout/*",  # members only, in a checkout: test_pricing.py
    "/p/*/sso/*/callback",  # the way back from a provider: tests/portal/test_company_accounts.py
    "/p/*/sso/*/start",
    "/settings/company-accounts/*",  # test_company_accounts.py
    "/settings/company-accounts/*/remove",
    "/settings/directory/groups/*",  # of a directory: test_company_accounts.py
    "/settings/directory/tokens/*/revoke",
    "/settings/directory/tokens/*/rotate",
    "/pricing/discard",  # while there is a draft: test_pricing.py
    "/pricing/plans/*",
    "/pricing/publish",
    "/pricing/stripe/remove",  # while an account is connected: tests/portal/test_stripe_account.py
    "/pricing/limits/check",  # the answer to a form
}
"""Pages of things that come and go; the journeys or the tests of their screens open them."""
BEFORE_SIGNING_IN = (
    *("/sign-in", "/p/{slug}/sign-in", "/p/{slug}/forgot-password"),
    *("/p/{slug}/password/no-such-link", "/p/{slug}/no-such-page"),
)
NO_SCREENS = re.compile(
    r"\.(csv|ico|pdf|txt|<.*)$|/live$|/html$|^/brand/|/preview/|/chat$|/sign-in$|password|/invitation/"
)


WITHIN = {"/api/docs": ".docs-text"}
"""The part of a page that axe checks: test_api_docs.py looks at one operation of the 10,000
elements besides the guide."""
NARROWEST_COLUMNS = 1100
"""Where two columns are next to each other with the least room."""
NARROWEST_WITH_TABLES = 1280
"""The same of columns with a table."""


def looked_at(visit: Visit, *, with_axe: bool = True, at_all_widths: bool = True) -> list[str]:
    """What is wrong with the page, by its shape and by axe: at the width of the window, and at the
    other one and between the two."""
    size = visit.page.viewport_size
    now = size["width"] if size else 0
    within = WITHIN.get(urlsplit(visit.page.url).path)
    found = visit.findings(within) if with_axe else visit.layout()
    if not at_all_widths:
        return found
    for width in {look.width for look in LOOKS} - {now}:
        visit.page.set_viewport_size({"width": width, "height": HEIGHT})
        found += visit.findings(within) if with_axe and is_full() else visit.layout()
    visit.page.set_viewport_size({"width": NARROWEST_COLUMNS, "height": HEIGHT})
    found += visit.layout()
    visit.page.set_viewport_size({"width": now, "height": HEIGHT})
    return found


@pytest.fixture(scope="module")
def partners_in_use() -> dict[str, list[str]]:
    """The partners (their ids differ from stack to stack) that are in use already."""
    return {}


@pytest.fixture
def addresses_in_use(
    shared_stack: Stack,
    partner: dict[str, Any],
    open_browser: Open,
    partners_in_use: dict[str, list[str]],
) -> list[str]:
    """Addresses that have something to show in a partner that is at work."""
    if partner["id"] not in partners_in_use:
        visits = (open_browser(shared_stack, partner) for _each in range(2))
        partners_in_use[partner["id"]] = put_to_use(shared_stack, partner, *visits)
    return partners_in_use[partner["id"]]


def screens() -> set[str]:
    """The kinds of pages that the portal has, without former addresses, which lead to them."""
    bare = Flask(__name__, static_folder=None)
    bare.register_blueprint(portal)
    return {
        re.sub(r"<[^>]+>", "*", rule.rule)
        for rule in bare.url_map.iter_rules()
        if "GET" in (rule.methods or ())
        and not NO_SCREENS.search(rule.rule)
        and not rule.endpoint.endswith("redirect_former_address")
    }


@pytest.mark.parametrize("language", SPOKEN)
@pytest.mark.parametrize("role", ROLES)
def test_every_page_that_a_role_can_reach_is_sound(
    shared_stack: Stack,
    partner: dict[str, Any],
    open_browser: Open,
    addresses_in_use: list[str],
    role: str,
    language: str,
) -> None:
    visit = open_browser(shared_stack, partner)
    if role == "operator":
        visit.slug = ""
    visit.sign_in(shared_stack.demo["operator"] if role == "operator" else person_of(partner, role))
    expect(visit.page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
    visit.speak(language)
    wrong, seen = [], set()
    # Only a search field leads to the second.
    among = [*addresses_in_use, "/personal-data"] if role == "partnerAdmin" else []
    for path, status in walk(visit, alike=2 if is_full() else 1, among=among):
        seen.add(re.sub(r"/\d+(?=/|$)", "/*", path_of(kind_of(path))))
        if status != 200:
            wrong.append(f"{path}: {status}")
        turn = crc32(kind_of(path).encode()) % 12
        own = is_full() or role in WITH_SCREENS_OF_THEIR_OWN
        wrong += looked_at(
            visit, with_axe=own and turn in TWELFTHS, at_all_widths=turn % 4 in QUARTERS
        )
    assert wrong == []
    if role == "partnerAdmin":
        assert screens() - seen == SEEN_ELSEWHERE - seen


@pytest.mark.parametrize("width", [NARROWEST_COLUMNS, NARROWEST_WITH_TABLES])
@pytest.mark.parametrize("path", ["/calls", "/api-access/webhooks"])
@pytest.mark.usefixtures("addresses_in_use")
def test_a_table_beside_facts_fits_its_column_in_every_language(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open, path: str, width: int
) -> None:
    visit = open_browser(shared_stack, partner)
    visit.sign_in(person_of(partner, "partnerAdmin"), then=path)
    visit.page.wait_for_url(f"**{path}")
    visit.page.locator("td.cell-name a").first.click()
    expect(visit.page.locator(".columns .table")).to_be_visible()
    visit.page.set_viewport_size({"width": width, "height": HEIGHT})
    wrong = {}
    for language in LANGUAGES:
        visit.speak(language)
        visit.page.reload()
        wrong[language] = visit.layout()
    assert wrong == {language: [] for language in LANGUAGES}


@pytest.mark.parametrize("language", SPOKEN)
@pytest.mark.parametrize("path", BEFORE_SIGNING_IN)
def test_the_pages_before_signing_in_are_sound(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open, path: str, language: str
) -> None:
    visit = open_browser(shared_stack, partner)
    visit.page.goto("/sign-in")
    visit.speak(language)
    visit.page.goto(path.format(slug=visit.slug))
    assert looked_at(visit) == []
