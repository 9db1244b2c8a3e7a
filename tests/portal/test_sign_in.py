"""Signing in and out: by page, by partner, with the same answer to every stranger."""

import re
from collections.abc import Callable
from datetime import timedelta
from urllib.parse import quote

import pytest
from flask import Flask
from sqlalchemy import delete, select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.enums import OrganizationStatus, Role, UserStatus
from app.models import PortalSession, User, utcnow
from app.portal.auth.views import REFUSED
from app.services import partners, users
from app.services.auth import sessions
from app.services.credentials import api_keys
from tests.fixtures.browser_session import give_session
from tests.fixtures.clock import SetClock
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.portal.conftest import PASSWORD, PASSWORD_HASH, Browser

HOUR = timedelta(hours=1)
SignedIn = Callable[[User], Browser]


def without_token(html: str) -> str:
    plain = re.sub(r'name="csrf_token" value="[^"]+"', "", html)
    return re.sub(r'value="[^"]*@[^"]*"', "", plain)


def test_the_right_password_leads_to_the_overview(browser: Browser, tenant: Tenant) -> None:
    answer = browser.sign_in(tenant.staff[Role.PARTNER_ADMIN].email)
    assert (answer.status_code, answer.location) == (303, "/")
    assert "<h1>Overview</h1>" in browser.get("/").text


@pytest.mark.parametrize(
    ("language", "name", "title"),
    [
        ("de", "Partnerportal", "Beim Partnerportal anmelden"),
        ("fr", "Portail partenaire", "Se connecter au portail partenaire"),
    ],
)
def test_the_sign_in_page_of_the_installation_has_one_name_in_each_language(
    browser: Browser, language: str, name: str, title: str
) -> None:
    page = browser.get("/sign-in", headers={"Accept-Language": language}).text
    assert f'<span class="logo-name">{name}</span>' in page
    assert title in page
    assert "Partner portal" not in page


@pytest.mark.parametrize("support", [None, "help@northwind.example"])
@pytest.mark.parametrize("path", ["/sign-in", "/p/northwind/sign-in"])
def test_a_member_of_a_suspended_organization_learns_it_with_the_right_password_only(
    browser: Browser, tenant: Tenant, session: Session, path: str, support: str | None
) -> None:
    tenant.organization.status = OrganizationStatus.SUSPENDED
    tenant.partner.support_email = support
    session.commit()
    wrong, right = (
        browser.sign_in(tenant.user.email, password, path) for password in ("wrong", PASSWORD)
    )
    suspended = "Your access is suspended"
    assert [page.status_code for page in (wrong, right)] == [422, 422]
    assert suspended not in wrong.text
    assert suspended in right.text
    assert REFUSED in wrong.text
    assert REFUSED not in right.text
    place = f" at {support}" if support else ""
    sentence = f"<p>Contact Northwind{place} about Northwind Bakery.</p>"
    assert sentence in right.text.replace("<wbr>", "")
    assert browser.get("/").status_code == 303


@pytest.mark.parametrize("support", [None, "help@northwind.example"])
@pytest.mark.parametrize("path", ["sign-in", "forgot-password", "invitation/old-link"])
def test_the_pages_of_a_suspended_partner_say_in_its_brand_who_to_contact(
    browser: Browser, tenant: Tenant, session: Session, path: str, support: str | None
) -> None:
    tenant.partner.suspended_at, tenant.partner.support_email = utcnow(), support
    session.commit()
    answer = browser.get(f"/p/northwind/{path}")
    shown = (
        "<h1>This portal is paused</h1>",
        "until the provider of the platform reactivates it",
        tenant.partner.product_name,
    )
    assert answer.status_code == 403
    assert [text for text in shown if text not in answer.text] == []
    assert "Contact Northwind" not in answer.text.replace(f"Contact Northwind at {support}.", "")
    assert (f"Contact Northwind at {support}." in answer.text) == bool(support)
    assert "Page not found" not in answer.text
    assert "Go to the" not in answer.text


def test_a_user_of_a_suspended_partner_learns_it_with_the_right_password_only(
    browser: Browser, tenant: Tenant, session: Session
) -> None:
    tenant.partner.suspended_at = utcnow()
    session.commit()
    wrong, right = (
        browser.sign_in(tenant.user.email, password, "/sign-in") for password in ("wrong", PASSWORD)
    )
    assert wrong.status_code == 422
    assert REFUSED in wrong.text
    assert (right.status_code, right.location) == (303, "/p/northwind/sign-in")
    assert "This portal is paused" in browser.get(right.location).text
    assert browser.get("/").location == "/sign-in"


def test_a_session_that_ends_with_its_partner_leads_to_the_page_that_says_so(
    browser: Browser, tenant: Tenant, session: Session
) -> None:
    browser.sign_in(tenant.staff[Role.PARTNER_ADMIN].email)
    partners.suspend(session, OPERATOR, tenant.partner.id)
    session.commit()
    answer = browser.get("/calls")
    assert answer.location.startswith("/p/northwind/sign-in")
    assert "This portal is paused" in browser.get(answer.location).text


def test_a_suspended_user_learns_it_with_the_right_password_only(
    browser: Browser, tenant: Tenant, session: Session
) -> None:
    tenant.user.status = UserStatus.SUSPENDED
    session.commit()
    wrong, right = (
        browser.sign_in(tenant.user.email, password) for password in ("wrong", PASSWORD)
    )
    assert REFUSED in wrong.text
    assert REFUSED not in right.text
    assert "Your access is suspended" in right.text
    assert "<p>Contact an administrator of Northwind.</p>" in right.text
    assert browser.get("/").status_code == 303


def test_a_member_of_an_archived_organization_learns_who_to_ask(
    browser: Browser, tenant: Tenant, session: Session
) -> None:
    tenant.organization.status = OrganizationStatus.ARCHIVED
    session.commit()
    page = browser.sign_in(tenant.user.email)
    assert "<p>Contact Northwind about Northwind Bakery.</p>" in page.text
    assert browser.get("/").status_code == 303


def test_an_account_that_is_not_suspended_is_signed_in_without_a_confirmation(
    browser: Browser, tenant: Tenant, other_tenant: Tenant, session: Session
) -> None:
    twin = other_tenant.user
    twin.email = twin.email_key = tenant.user.email
    tenant.organization.status = OrganizationStatus.SUSPENDED
    session.commit()
    assert browser.sign_in(tenant.user.email).location == "/"
    assert other_tenant.organization.name in browser.get("/").text


def test_signing_in_leads_to_the_page_that_was_asked_for(browser: Browser, tenant: Tenant) -> None:
    asked = browser.get("/usage?start=2026-11-01&end=2026-11-02")
    assert asked.status_code == 303
    answer = browser.sign_in(tenant.staff[Role.ADMIN].email, path=asked.location)
    assert answer.location == "/usage?start=2026-11-01&end=2026-11-02"


ELSEWHERE = [
    "//evil.example/",
    "///evil.example",
    "////evil.example",
    "//[evil.example",
    "https://evil.example/",
    "/\\evil.example",
    "\\\\evil",
    "/\t/evil.example",
    "evil.example",
    "javascript:alert(1)",
    "data:text/html,x",
]


@pytest.mark.parametrize("wanted", ELSEWHERE)
def test_nothing_leads_from_sign_in_to_another_site(
    browser: Browser, tenant: Tenant, wanted: str
) -> None:
    page = "/sign-in"
    answer = browser.post(
        f"{page}?next={quote(wanted)}",
        {"email": tenant.user.email, "password": "correct horse battery"},
        page=page,
    )
    assert (answer.status_code, answer.location) == (303, "/")


@pytest.mark.parametrize("wanted", ELSEWHERE)
def test_the_sign_in_page_leads_a_signed_in_user_to_no_other_site(
    browser: Browser, tenant: Tenant, wanted: str
) -> None:
    browser.sign_in(tenant.user.email)
    answer = browser.get(f"/sign-in?next={quote(wanted)}")
    assert (answer.status_code, answer.location) == (303, "/")


def test_an_unknown_address_and_a_wrong_password_are_answered_alike(
    browser: Browser, tenant: Tenant
) -> None:
    wrong = browser.sign_in(tenant.user.email, "wrong")
    unknown = browser.sign_in("nobody@northwind.example", "wrong")
    assert (wrong.status_code, unknown.status_code) == (422, 422)
    assert REFUSED in wrong.text.replace("&#39;", "'")
    request_id = re.compile(r"req_[\w-]+")
    assert request_id.sub("", without_token(wrong.text)) == request_id.sub(
        "", without_token(unknown.text)
    )


def test_missing_fields_are_named_and_what_was_typed_stays(browser: Browser) -> None:
    answer = browser.post("/sign-in", {"email": "someone@northwind.example", "password": ""})
    assert answer.status_code == 422
    assert "Enter your password." in answer.text
    assert 'value="someone@northwind.example"' in answer.text


def test_users_can_not_sign_in_at_the_page_of_another_partner(
    browser: Browser, tenant: Tenant, other_tenant: Tenant
) -> None:
    answer = browser.sign_in(tenant.user.email, path=f"/p/{other_tenant.partner.slug}/sign-in")
    assert answer.status_code == 422
    assert "Email or password is wrong." in answer.text
    assert browser.get("/account").status_code == 303


def test_a_partners_page_is_in_its_brand_and_remembered(
    browser: Browser, tenant: Tenant, session: Session
) -> None:
    tenant.partner.product_name = "Northwind Voice"
    session.commit()
    page = browser.get(f"/p/{tenant.partner.slug}/sign-in")
    assert "Sign in to Northwind Voice" in page.text
    assert "Sign in to Northwind Voice" in browser.get("/sign-in").text


def test_after_a_session_has_ended_sign_in_is_in_the_brand_that_was_used(
    browser: Browser, tenant: Tenant, session: Session
) -> None:
    tenant.partner.product_name = "Northwind Voice"
    session.commit()
    assert "Sign in to the partner portal" in browser.get("/sign-in").text
    browser.sign_in(tenant.user.email)
    session.execute(delete(PortalSession))
    session.commit()
    assert browser.get("/").status_code == 303
    assert "Sign in to Northwind Voice" in browser.get("/sign-in").text


def test_a_verified_domain_shows_its_partner_and_another_host_the_neutral_page(
    browser: Browser, tenant: Tenant, session: Session
) -> None:
    tenant.partner.product_name = "Northwind Voice"
    at_host = {"base_url": "http://northwind.example/"}
    assert "Sign in to the partner portal" in browser.get("/sign-in", **at_host).text
    partners.verify_domain(session, OPERATOR, tenant.partner.id)
    session.commit()
    assert "Sign in to Northwind Voice" in browser.get("/sign-in", **at_host).text
    assert "Sign in to the partner portal" in browser.get("/sign-in").text


def test_an_email_in_two_portals_asks_which_one_to_open(
    browser: Browser, tenant: Tenant, other_tenant: Tenant, session: Session
) -> None:
    twin = other_tenant.user
    twin.email = twin.email_key = tenant.user.email
    session.commit()
    asked = browser.sign_in(tenant.user.email)
    assert asked.status_code == 200
    assert "Your email opens 2 portals." in asked.text
    chosen = browser.post("/sign-in/choose", {"account": str(twin.id), **token_in(asked)})
    assert (chosen.status_code, chosen.location) == (303, "/")
    assert other_tenant.partner.name in browser.get("/").text


def token_in(page: TestResponse) -> dict[str, str]:
    """The page's half of an offer."""
    [token] = re.findall(r'name="token" value="([^"]+)"', page.text)
    return {"token": token}


END_OFFERS = ("used", "signed in elsewhere", "password", "suspended", "late", "another browser")


@pytest.mark.parametrize("how", END_OFFERS)
def test_the_choice_of_a_portal_works_once_and_for_five_minutes(
    app: Flask,
    browser: Browser,
    tenant: Tenant,
    other_tenant: Tenant,
    session: Session,
    clock: SetClock,
    how: str,
) -> None:
    twin = other_tenant.user
    twin.email = twin.email_key = tenant.user.email
    session.commit()
    asked = browser.sign_in(tenant.user.email)
    cookie = browser.client.get_cookie("portal_session")
    assert cookie is not None
    choice = {"account": str(tenant.user.id), **token_in(asked)}
    match how:
        case "used":
            assert browser.post("/sign-in/choose", choice).location == "/"
            assert browser.post("/sign-out", page="/").status_code == 303
        case "signed in elsewhere":
            elsewhere = Browser(app.test_client())
            elsewhere.sign_in(tenant.user.email, path=f"/p/{tenant.partner.slug}/sign-in")
        case "password":
            users.set_password(session, OPERATOR, tenant.user, PASSWORD_HASH)
        case "suspended":
            users.suspend(session, OPERATOR, tenant.user.id)
            users.reactivate(session, OPERATOR, tenant.user.id)
        case "late":
            clock.pass_by(minutes=5)
    session.commit()
    again = Browser(app.test_client())
    if how != "another browser":
        again.client.set_cookie("portal_session", cookie.value)
    answer = again.post("/sign-in/choose", choice)
    assert (answer.status_code, answer.location) == (303, "/sign-in")
    assert again.get("/").status_code == 303


def test_an_account_that_was_not_offered_can_not_be_chosen(
    browser: Browser, tenant: Tenant
) -> None:
    answer = browser.post("/sign-in/choose", {"account": str(tenant.user.id)})
    assert (answer.status_code, answer.location) == (303, "/sign-in")
    assert browser.get("/").status_code == 303


@pytest.mark.usefixtures("clock")
def test_too_many_failures_are_stopped_even_with_the_right_password(
    make_app: Callable[..., Flask], tenant: Tenant
) -> None:
    browser = Browser(make_app(failed_sign_ins=3).test_client())
    for _ in range(3):
        assert browser.sign_in(tenant.user.email, "wrong").status_code == 422
    answer = browser.sign_in(tenant.user.email)
    assert answer.status_code == 429
    assert answer.headers["Retry-After"] == "1"
    assert "Too many failed attempts. Try again in 1 second." in answer.text


def test_signing_out_ends_the_session_on_the_server(tenant: Tenant, signed_in: SignedIn) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    cookie = browser.client.get_cookie("portal_session")
    assert cookie is not None
    assert browser.post("/sign-out", page="/").status_code == 303
    browser.client.set_cookie("portal_session", cookie.value)
    assert browser.get("/").status_code == 303


def test_signing_in_again_ends_the_session_before_and_starts_one_with_a_new_token(
    browser: Browser, tenant: Tenant, session: Session
) -> None:
    tokens = []
    for role in (Role.PARTNER_ADMIN, Role.ADMIN):
        browser.sign_in(tenant.staff[role].email)
        tokens.append(session.scalars(select(PortalSession.token_hash)).one())
    assert tokens[0] != tokens[1]


def test_the_pages_after_signing_out_keep_the_language_of_the_account(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    session.get_one(User, tenant.user.id).language = "de"
    session.commit()
    browser = signed_in(tenant.user)
    browser.post("/sign-out", page="/account")
    for path in ("/sign-in", "/forgot-password"):
        assert '<html lang="de"' in browser.get(path).text


def test_signing_out_makes_every_csrf_token_of_the_browser_worthless(
    browser: Browser, tenant: Tenant
) -> None:
    email = tenant.staff[Role.PARTNER_ADMIN].email
    browser.sign_in(email)
    shown = browser.get("/account").text
    [token, *_] = re.findall(r'name="csrf_token" value="([^"]+)"', shown)
    browser.post("/sign-out", page="/")
    browser.sign_in(email)
    answer = browser.client.post("/theme", data={"csrf_token": token, "theme": "dark"})
    assert (answer.status_code, browser.client.get_cookie("theme")) == (403, None)


@pytest.mark.parametrize(("scheme", "secure"), [("https", True), ("http", False)])
def test_over_https_every_cookie_is_secure_and_same_site(
    app: Flask, tenant: Tenant, session: Session, scheme: str, *, secure: bool
) -> None:
    client = app.test_client()
    token = sessions.create(session, tenant.user, lifetime=timedelta(hours=1), host="localhost")
    session.commit()
    base_url = f"{scheme}://localhost"
    give_session(client, token, base_url)
    page = client.get("/account", base_url=base_url).text
    [csrf_token, *_] = re.findall(r'name="csrf_token" value="([^"]+)"', page)
    referrer = {"Referer": f"{base_url}/account"}
    form = {"csrf_token": csrf_token, "theme": "dark"}
    theme = client.post("/theme", data=form, headers=referrer, base_url=base_url)
    left = client.post("/sign-out", data=form, headers=referrer, base_url=base_url)
    brand = client.get(f"/p/{tenant.partner.slug}/sign-in", base_url=base_url)
    cookies = {
        line.partition("=")[0]: set(line.split("; ")[1:])
        - {part for part in line.split("; ") if part.startswith(("Expires", "Max-Age"))}
        for answer in (theme, left, brand)
        for line in answer.headers.getlist("Set-Cookie")
    }
    flags = {"SameSite=Lax", "HttpOnly", "Path=/"} | ({"Secure"} if secure else set())
    names = ("theme", "portal_session", "portal_partner")
    prefix = "__Host-" if secure else ""
    assert cookies == {f"{prefix}{name}": flags for name in names}


@pytest.mark.parametrize("plain", ["portal_session", "theme"])
def test_over_https_a_cookie_without_the_prefix_is_ignored(
    app: Flask, tenant: Tenant, session: Session, plain: str
) -> None:
    client = app.test_client()
    give_session(client, sessions.create(session, tenant.user, lifetime=HOUR, host="localhost"))
    session.commit()
    client.set_cookie("theme", "dark")
    assert client.get_cookie(plain) is not None
    answer = client.get("/", base_url="https://localhost")
    assert answer.status_code == 303
    assert 'data-theme="dark"' not in answer.text


def test_a_session_is_valid_only_at_the_host_where_it_was_started(
    tenant: Tenant, browser: Browser
) -> None:
    browser.sign_in(tenant.user.email, path=f"/p/{tenant.partner.slug}/sign-in")
    cookie = browser.client.get_cookie("portal_session")
    assert cookie is not None
    found = {}
    for host in ("localhost", "localhost:8443", "portal.example"):
        browser.client.set_cookie("portal_session", cookie.value, domain=host.partition(":")[0])
        found[host] = browser.get("/", base_url=f"http://{host}").status_code
    assert found == {"localhost": 200, "localhost:8443": 200, "portal.example": 303}


@pytest.mark.parametrize("how", ["suspended", "password", "organization", "partner"])
def test_a_session_ends_at_once_with_the_access_of_its_user(
    tenant: Tenant, signed_in: SignedIn, session: Session, how: str
) -> None:
    browser = signed_in(tenant.user)
    assert browser.get("/account").status_code == 200
    match how:
        case "suspended":
            tenant.user.status = UserStatus.SUSPENDED
        case "password":
            users.set_password(session, OPERATOR, tenant.user, PASSWORD_HASH)
        case "organization":
            tenant.organization.status = "suspended"  # type: ignore[assignment]  # as stored
        case _:
            tenant.partner.suspended_at = tenant.partner.created_at
    session.commit()
    answer = browser.get("/account")
    assert (answer.status_code, answer.location) == (303, "/sign-in?next=/account")


def test_a_form_from_another_site_is_refused(browser: Browser, tenant: Tenant) -> None:
    shown = re.search(r'name="csrf_token" value="([^"]+)"', browser.get("/sign-in").text)
    assert shown
    typed = {
        "csrf_token": shown[1],
        "email": tenant.user.email,
        "password": "correct horse battery",
    }
    answer = browser.client.post("/sign-in", data=typed, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 403
    assert "<h1>This form was not accepted</h1>" in answer.text


def test_a_form_without_its_token_is_refused(browser: Browser, tenant: Tenant) -> None:
    form = {"email": tenant.user.email, "password": PASSWORD}
    answer = browser.client.post("/sign-in", data=form)
    assert answer.status_code == 403
    assert "This form was not accepted" in answer.text
    assert browser.get("/account").status_code == 303


def test_pages_do_not_accept_bearer_tokens_or_api_keys(
    session: Session, browser: Browser, tenant: Tenant
) -> None:
    key = api_keys.create(
        session,
        tenant.caller(Role.PARTNER_ADMIN),
        organization_id=tenant.organization.id,
        name="Sync",
    )
    session.commit()
    for headers in ({"Authorization": f"Bearer {key.secret}"}, {"x-api-key": key.secret}):
        answer = browser.get("/account", headers=headers)
        assert (answer.status_code, answer.location) == (303, "/sign-in?next=/account")


def test_a_fragment_requested_after_the_session_leads_the_whole_page_to_sign_in(
    browser: Browser,
) -> None:
    answer = browser.get(
        "/calls/0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c01/live",
        headers={"HX-Request": "true", "HX-Current-URL": "http://localhost/test-call?call=1"},
    )
    assert answer.status_code == 204
    assert answer.headers["HX-Redirect"] == "/sign-in?next=/test-call?call%3D1"


def test_the_sign_in_page_says_that_the_user_is_signed_out(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.user)
    answer = browser.post("/sign-out", page="/account")
    assert "You are signed out." in browser.get(answer.location or "").text


def test_a_browser_signed_out_elsewhere_says_so_in_the_users_language(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    session.get_one(User, tenant.user.id).language = "de"
    session.commit()
    browser = signed_in(tenant.user)
    browser.get("/account")
    session.execute(delete(PortalSession).where(PortalSession.user_id == tenant.user.id))
    session.commit()
    page = browser.client.get("/account", follow_redirects=True).text
    assert '<html lang="de"' in page
    assert 'class="result result-info"' in page
    assert 'class="result' not in browser.get("/sign-in").text
    browser.post("/language", {"language": "fr"}, page="/sign-in")
    assert '<html lang="fr"' in browser.get("/sign-in").text
