"""Every screen for every role: open, or not there at all."""

import re
from collections import deque
from collections.abc import Callable
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import pytest
from flask import Flask
from sqlalchemy.orm import Session
from werkzeug.routing import Rule

from app.enums import Role
from app.models import User
from app.policy import ROLE_PERMISSIONS, ROUTES, OpenAccess, Permission
from tests.fixtures.tenants import Tenant
from tests.matrix import rotating
from tests.portal.conftest import Browser
from tests.portal.test_calls import make_call
from tests.portal.uploader import Uploader

SignedIn = Callable[[User], Browser]


@pytest.fixture
def app(make_app: Callable[..., Flask]) -> Flask:
    """Hundreds of requests follow each other quicker than users send them."""
    return make_app(page_rate_burst=100_000)


ROLES = (Role.PARTNER_ADMIN, Role.PARTNER_EDITOR, Role.ADMIN, Role.OWNER, Role.STANDARD)
LEADS_AWAY = {
    *("portal.auth.sign_in", "portal.auth.forgot_password"),
    *("portal.auth.show_second_step", "portal.auth.show_step_up", "portal.account.show_app_setup"),
    *("portal.account.confirm_remove_app", "portal.redirect_former_address"),
}
OFFERED_BY_CHOICE = {"portal.chat.show_chat"}
"""To everyone or to no one, as the partner wants it."""


def person(tenant: Tenant, role: Role) -> User:
    if role in tenant.staff:
        return tenant.staff[role]
    tenant.user.role = role
    return tenant.user


def screens(app: Flask) -> list[Rule]:
    """The pages that need nothing in their address."""
    return [
        rule
        for rule in app.url_map.iter_rules()
        if rule.endpoint.startswith("portal.")
        and "GET" in (rule.methods or ())
        and not rule.arguments
        and rule.endpoint not in LEADS_AWAY | OFFERED_BY_CHOICE
    ]


@pytest.mark.parametrize("role", ROLES)
def test_a_screen_opens_exactly_for_the_roles_of_the_policy_table(
    app: Flask, tenant: Tenant, signed_in: SignedIn, role: Role
) -> None:
    browser = signed_in(person(tenant, role))
    expected, seen = {}, {}
    for rule in screens(app):
        needed = ROUTES[rule.endpoint]
        allowed = isinstance(needed, OpenAccess) or needed in ROLE_PERMISSIONS[role]
        expected[rule.rule] = 200 if allowed else 404
        seen[rule.rule] = browser.get(rule.rule).status_code
    assert seen == expected


def test_a_screen_for_one_partner_is_not_found_by_an_operator(
    app: Flask, operator: Browser
) -> None:
    answers = {rule.rule: operator.get(rule.rule).status_code for rule in screens(app)}
    assert set(answers.values()) == {200, 404}
    partners = (
        "/alerts",
        "/branding",
        "/notifications",
        "/report/month",
        "/pricing",
        "/report",
        "/settings",
        "/usage",
    )
    assert {path: answers[path] for path in partners} == dict.fromkeys(partners, 404)


class OfferedAddresses(HTMLParser):
    """The local addresses that a page offers, each with its method."""

    def __init__(self, page: str, html: str) -> None:
        super().__init__()
        self.found: set[tuple[str, str]] = set()
        self._page, self._method = page, "GET"
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "a":
            self._offer("GET", given.get("href"))
        if tag == "form":
            self._method = (given.get("method") or "get").upper()
            self._offer(self._method, given.get("action") or self._page)
        self._offer(self._method, given.get("formaction"))
        self._offer("GET", given.get("hx-get"))
        self._offer("POST", given.get("hx-post"))

    def _offer(self, method: str, address: str | None) -> None:
        target = urljoin(self._page, (address or "#").partition("#")[0])
        if address and target.startswith("/") and not target.startswith("//"):
            self.found.add((method, target))


def refused(app: Flask, browser: Browser, role: Role) -> list[str]:
    """What pages offer to the role although it answers 403 or 404, with the page that does.

    Of addresses that differ in ids or in parameters the first is opened. Forms that change
    something are not sent: the policy table says who may.
    """
    waiting, seen, wrong = deque([("GET", "/", "")]), set[tuple[str, str]](), []
    router = app.url_map.bind("localhost")
    while waiting:
        method, address, page = waiting.popleft()
        path = urlsplit(address).path
        kind = method, re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d+", "*", path)
        if kind in seen:
            continue
        seen.add(kind)
        if method == "POST":
            endpoint, _ = router.match(path, "POST")
            needed = ROUTES[endpoint]
            if isinstance(needed, Permission) and needed not in ROLE_PERMISSIONS[role]:
                wrong.append(f"{page}: POST {address}")
            continue
        answer = browser.get(address)
        if answer.status_code in {403, 404}:
            wrong.append(f"{page}: {address}")
        elif answer.mimetype == "text/html":
            found = OfferedAddresses(address, answer.text).found
            waiting += [(method, target, address) for method, target in sorted(found)]
    return wrong


@pytest.mark.parametrize(
    "role",
    [
        *(Role.PARTNER_EDITOR, Role.OPERATOR),
        *rotating("role of the links", (Role.PARTNER_ADMIN, Role.ADMIN, Role.STANDARD)),
    ],
)
def test_every_link_and_form_of_every_page_is_open_to_the_role_that_sees_it(
    app: Flask,
    session: Session,
    tenant: Tenant,
    uploader: Uploader,
    operator: Browser,
    signed_in: SignedIn,
    role: Role,
) -> None:
    uploader.applied("Name,Phone\nAnn,+12025550101\nBob,1\n")
    make_call(session, tenant.organization, "+12025550101")
    session.commit()
    browser = operator if role is Role.OPERATOR else signed_in(person(tenant, role))
    assert refused(app, browser, role) == []


def test_a_visitor_is_sent_to_sign_in_from_every_screen(app: Flask, browser: Browser) -> None:
    asked = (rule for rule in screens(app) if ROUTES[rule.endpoint] is not OpenAccess.PUBLIC)
    answers = {rule.rule: browser.get(rule.rule).location for rule in asked}
    assert {path for path, to in answers.items() if not (to or "").startswith("/sign-in")} == set()


def test_every_form_of_the_portal_is_refused_to_roles_without_the_permission(
    app: Flask, tenant: Tenant, signed_in: SignedIn
) -> None:
    wrong = []
    for role in ROLES:
        browser = signed_in(person(tenant, role))
        token = re.findall(r'name="csrf_token" value="([^"]+)"', browser.get("/account").text)[0]
        for rule in app.url_map.iter_rules():
            needed = ROUTES[rule.endpoint]
            if "POST" not in (rule.methods or ()) or not rule.endpoint.startswith("portal."):
                continue
            if isinstance(needed, Permission) and needed not in ROLE_PERMISSIONS[role]:
                path = rule.rule.replace("<any(logo, favicon, hero):kind>", "logo")
                path = re.sub(r"<[^>]+>", str(tenant.partner.id), path)
                answer = browser.client.post(path, data={"csrf_token": token})
                if answer.status_code != 404:
                    wrong.append((role, rule.endpoint, answer.status_code))
    assert wrong == []


@pytest.mark.usefixtures("clock")
def test_the_page_of_a_record_of_another_tenant_equals_that_of_a_missing_one(
    tenant: Tenant, other_tenant: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    absent = "0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c01"
    for path, theirs in (
        ("/organizations/{}", other_tenant.organization.id),
        ("/users/{}", other_tenant.user.id),
        ("/users/{}", other_tenant.staff[Role.ADMIN].id),
    ):
        there, nowhere = browser.get(path.format(theirs)), browser.get(path.format(absent))
        assert (there.status_code, nowhere.status_code) == (404, 404)
        assert without_reference(there.text) == without_reference(nowhere.text)


def without_reference(html: str) -> str:
    head, _, foot = html.partition("reference <code>")
    return head.split('value="', 1)[0] + foot.partition("</code>")[2][:20]
