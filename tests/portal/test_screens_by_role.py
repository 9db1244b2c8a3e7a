"""Every screen for every role: open, or not there at all."""

import re
from collections.abc import Callable

import pytest
from flask import Flask
from werkzeug.routing import Rule

from app.enums import Role
from app.models import User
from app.policy import ROLE_PERMISSIONS, ROUTES, Access, Permission
from tests.fixtures.cast import Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]

ROLES = (Role.PARTNER_ADMIN, Role.PARTNER_EDITOR, Role.ADMIN, Role.STANDARD)
LEADS_AWAY = {"portal.sign_in", "portal.partner_sign_in", "portal.forgot_password"}
OFFERED_BY_CHOICE = {"portal.chat"}
"""To everybody or to nobody, as the partner wants it."""


def person(tenant: Tenant, role: Role) -> User:
    return tenant.user if role is Role.STANDARD else tenant.staff[role]


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
    app: Flask, own: Tenant, signed_in: SignedIn, role: Role
) -> None:
    browser = signed_in(person(own, role))
    expected, seen = {}, {}
    for rule in screens(app):
        needed = ROUTES[rule.endpoint]
        allowed = isinstance(needed, Access) or needed in ROLE_PERMISSIONS[role]
        expected[rule.rule] = 200 if allowed else 404
        seen[rule.rule] = browser.get(rule.rule).status_code
    assert seen == expected


def test_a_screen_of_one_partner_is_not_there_for_an_operator(
    app: Flask, operator: Browser
) -> None:
    answers = {rule.rule: operator.get(rule.rule).status_code for rule in screens(app)}
    assert set(answers.values()) == {200, 404}
    partners = ("/branding", "/pricing", "/report", "/report.csv", "/settings", "/usage")
    assert {path: answers[path] for path in partners} == dict.fromkeys(partners, 404)


@pytest.mark.parametrize("role", ROLES)
def test_the_sidebar_leads_only_to_what_opens(own: Tenant, signed_in: SignedIn, role: Role) -> None:
    browser = signed_in(person(own, role))
    page = browser.get("/").text
    links = {part.split('"', 1)[0] for part in page.split('class="sidebar-row" href="')[1:]}
    local = {link for link in links if link.startswith("/")}
    assert {link: browser.get(link).status_code for link in local} == dict.fromkeys(local, 200)
    assert len(local) > 3


def test_a_visitor_is_sent_to_sign_in_from_every_screen(app: Flask, browser: Browser) -> None:
    asked = (rule for rule in screens(app) if ROUTES[rule.endpoint] is not Access.PUBLIC)
    answers = {rule.rule: browser.get(rule.rule).location for rule in asked}
    assert {path for path, to in answers.items() if not (to or "").startswith("/sign-in")} == set()


def test_every_form_of_the_portal_is_refused_to_roles_without_the_permission(
    app: Flask, own: Tenant, signed_in: SignedIn
) -> None:
    wrong = []
    for role in ROLES:
        browser = signed_in(person(own, role))
        for rule in app.url_map.iter_rules():
            needed = ROUTES[rule.endpoint]
            if "POST" not in (rule.methods or ()) or not rule.endpoint.startswith("portal."):
                continue
            if isinstance(needed, Permission) and needed not in ROLE_PERMISSIONS[role]:
                path = rule.rule.replace("<any(logo, favicon, hero):kind>", "logo")
                path = re.sub(r"<[^>]+>", str(own.partner.id), path)
                answer = browser.post(path, page="/")
                if answer.status_code != 404:
                    wrong.append((role, rule.endpoint, answer.status_code))
    assert wrong == []


@pytest.mark.usefixtures("clock")
def test_the_page_of_another_tenants_record_equals_that_of_a_missing_one(
    own: Tenant, other: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(own.staff[Role.PARTNER_ADMIN])
    absent = "0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c01"
    for path, theirs in (
        ("/organizations/{}", other.organization.id),
        ("/people/{}", other.user.id),
        ("/people/{}", other.staff[Role.ADMIN].id),
    ):
        there, nowhere = browser.get(path.format(theirs)), browser.get(path.format(absent))
        assert (there.status_code, nowhere.status_code) == (404, 404)
        assert without_reference(there.text) == without_reference(nowhere.text)


def without_reference(html: str) -> str:
    head, _, foot = html.partition("reference <code>")
    return head.split('value="', 1)[0] + foot.partition("</code>")[2][:20]
