"""Help in context: each page of the sidebar and of the settings says what it is for."""

import re
from collections.abc import Callable
from html import unescape

import pytest
from flask import Flask

from app.enums import Role
from app.models import User
from app.policy import ROUTES, OpenAccess
from app.portal.help.subpages import OF_SUBPAGES, SAME_HELP
from app.portal.help.topics import OF_OPERATORS, TOPICS, HelpTopic
from app.portal.web.sidebar_entries import PARTNER_SIDEBAR, SETTINGS_GROUPS
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]
IN_SIDEBAR = [place.endpoint for _group, places in PARTNER_SIDEBAR for place in places]
SETTINGS = [
    "portal.account.show_account",
    "portal.pricing.edit_limits",
    "portal.pricing.edit_stripe_account",
    *(endpoint for _label, settings in SETTINGS_GROUPS for endpoint, _name in settings),
]
EACH = pytest.mark.parametrize(
    "topic", [*TOPICS.values(), *OF_SUBPAGES.values(), *OF_OPERATORS.values()]
)
ASK_FIRST = re.compile(r"portal\.([a-z_]+\.confirm_.+|record_lists\.new_export)")
"""Pages that only ask before an action: they say themselves what follows."""
NO_PAGES = {
    f"portal.{name}"
    for name in (
        # parts of pages, which load themselves
        *(
            "calls.show_call_progress",
            "campaigns.show_outreach_progress",
            "personal_data.show_erasure_progress",
            "uploads.show_upload_progress",
        ),
        *("notifications.show_bell", "overview.show_earnings", "settings.show_domain_records"),
        "branding.show_preview",
        "organizations.suggest_names",
        # files
        *(
            "branding.list_images",
            "calls.download_recording",
            "contacts.download_contacts",
            "billing.download_costs",
            "personal_data.download_proof",
        ),
        *(
            "record_lists.download_export",
            "record_lists.export_list",
            "record_lists.export_selected",
            "spending.download_rates",
        ),
        *(
            "operator.show_mail_html",
            "operator.download_mail_file",
            "report.download_month",
            "report.preview_report",
        ),
        *(
            "organization_templates.download_sample",
            "billing.download_statement",
            "billing.download_statement_pdf",
        ),
        *(
            "uploads.download_failed_rows",
            "uploads.download_file",
            "uploads.download_sample",
            "usage.download_usage",
        ),
        # the password again, without the frame of the portal
        "auth.show_step_up",
    )
}


def help_of(page: str) -> list[str]:
    """The sentences and the link of a page's help."""
    found = re.search(r'<div class="menu help" id="page-help" popover>(.*?)</div>', page, re.DOTALL)
    if found is None:
        return []
    return [
        re.sub(r"<[^>]+>", "", unescape(each)).strip()
        for each in re.findall(r"<p>(.*?)</p>", found.group(1))
    ]


def pages(app: Flask) -> dict[str, str]:
    """The address of each page without an id."""
    rules = app.url_map.iter_rules()
    return {
        rule.endpoint: rule.rule
        for rule in rules
        if "GET" in (rule.methods or ()) and not rule.arguments
    }


def test_every_page_has_help(app: Flask) -> None:
    wanted = {
        rule.endpoint
        for rule in app.url_map.iter_rules()
        if rule.endpoint.startswith("portal.")
        and "GET" in (rule.methods or ())
        and ROUTES[rule.endpoint] is not OpenAccess.PUBLIC
        and not ASK_FIRST.fullmatch(rule.endpoint)
    }
    has_help = {*TOPICS, *OF_SUBPAGES, *SAME_HELP}
    assert (wanted - has_help - NO_PAGES, NO_PAGES - wanted, NO_PAGES & has_help) == (
        set(),
        set(),
        set(),
    )


def test_every_page_that_shows_the_help_of_another_one_names_an_existing_one() -> None:
    assert set(SAME_HELP.values()) - {*TOPICS, *OF_SUBPAGES} == set()
    assert SAME_HELP.keys() & {*TOPICS, *OF_SUBPAGES} == set()


def test_a_subpage_shows_its_help_and_no_link_to_itself(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    invite = OF_SUBPAGES["portal.users.new_user"]
    for path in ("/users/invite", "/users/invite-many"):
        assert help_of(browser.get(path).text) == [invite.summary, invite.details, invite.label]
    users = TOPICS["portal.users.list_users"]
    page = browser.get(f"/users/{tenant.user.id}").text
    assert help_of(page) == [users.summary, users.details, users.label]


def test_every_page_of_the_sidebar_and_of_the_settings_has_help(app: Flask) -> None:
    wanted = {*IN_SIDEBAR, *(each for each in SETTINGS if each in pages(app))}
    assert len(wanted) > 25
    assert wanted - TOPICS.keys() - OF_SUBPAGES.keys() == set()


@EACH
def test_a_topic_is_two_sentences_and_leads_to_a_page_that_exists(
    app: Flask, topic: HelpTopic
) -> None:
    for sentence in (str(topic.summary), str(topic.details)):
        assert re.fullmatch(r"[^.!?]+(?:[^.!?]|\.(?=\d))*\.", sentence), sentence
        assert len(sentence) <= 110
    assert topic.endpoint in pages(app)


def test_a_topic_is_of_an_existing_page_and_links_to_another_one(app: Flask) -> None:
    endpoints = {rule.endpoint for rule in app.url_map.iter_rules()}
    assert {*TOPICS, *OF_SUBPAGES, *SAME_HELP} - endpoints == set()
    own = [*TOPICS.items(), *OF_SUBPAGES.items()]
    assert [name for name, topic in own if topic.endpoint == name] == []


def test_each_anchor_of_the_documentation_exists(browser: Browser) -> None:
    anchors = {topic.anchor for topic in TOPICS.values() if topic.anchor}
    page = browser.get("/api/docs").text
    assert anchors == {anchor for anchor in anchors if f'id="{anchor}"' in page}


@pytest.mark.parametrize("role", [*(Role.PARTNER_ADMIN, Role.PARTNER_EDITOR, Role.ADMIN)])
def test_each_role_reads_the_help_of_its_pages_and_only_links_that_open(
    app: Flask, tenant: Tenant, signed_in: SignedIn, role: Role
) -> None:
    browser, addresses = signed_in(tenant.staff[role]), pages(app)
    read = 0
    for endpoint in IN_SIDEBAR:
        answer = browser.get(addresses[endpoint])
        if answer.status_code != 200:
            continue
        topic = TOPICS[endpoint]
        what, more, *link = help_of(answer.text)
        assert (what, more) == (topic.summary, topic.details)
        opens = browser.get(addresses[topic.endpoint]).status_code == 200
        assert link == ([topic.label] if opens else [])
        read += 1
    assert read > 10


def test_a_member_and_an_operator_read_help_too(
    tenant: Tenant, signed_in: SignedIn, operator: Browser
) -> None:
    member = signed_in(tenant.plus_user)
    assert help_of(member.get("/plan").text)[0] == TOPICS["portal.pricing.show_plan"].summary
    overview = OF_OPERATORS["portal.overview.show_overview"]
    assert help_of(operator.get("/").text) == [overview.summary, overview.details, overview.label]


def test_a_link_of_an_operators_page_opens(app: Flask, operator: Browser) -> None:
    read = 0
    for endpoint in sorted(TOPICS.keys() & pages(app).keys()):
        page = operator.get(pages(app)[endpoint]).text
        links = re.findall(r'id="page-help".*?<a href="([^"]+)"', page, re.DOTALL)[:1]
        if help_of(page)[2:]:
            assert [operator.get(unescape(link)).status_code for link in links] == [200], endpoint
            read += 1
    assert read > 10


def test_pages_before_signing_in_have_no_help(browser: Browser) -> None:
    assert help_of(browser.get("/sign-in").text) == []


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_refused_form_keeps_the_help_of_its_page(admin: Browser, tenant: Tenant) -> None:
    refused, wanted = {}, {}
    for path, page in {
        "/users/invite-many": "/users/invite-many",
        "/users/invite": "/users/invite",
        f"/api-access/webhooks/new?organization={tenant.plus.id}": ("/api-access/webhooks/new"),
        "/test-call": "/test-call",
        f"/organizations/{tenant.plus.id}/edit": f"/organizations/{tenant.plus.id}/edit",
    }.items():
        shown = help_of(admin.get(page).text)
        answer = admin.post(path, page=page)
        refused[path], wanted[path] = help_of(answer.text), shown
        assert (answer.status_code, len(shown)) in ((422, 2), (422, 3)), path
    assert refused == wanted
