"""Signing in with a company account: at a real OpenID Connect provider, and back."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit
from uuid import uuid4

import pytest
from flask import Flask
from sqlalchemy import select, update
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.config import Settings
from app.enums import Proof, Role, SecondFactorFor, UserStatus
from app.models import (
    AuditEntry,
    IdentityProvider,
    LinkPurpose,
    PortalSession,
    User,
    UserIdentity,
    utcnow,
)
from app.services.auth import one_time_links
from app.services.auth.sessions import caller_of
from app.services.identity_providers import providers, requests
from app.services.identity_providers.providers import ProviderFields
from tests.fixtures.identity_provider import (
    CLIENT_ID,
    CLIENT_SECRET,
    IdentityServer,
    identity_server,
)
from tests.fixtures.mails import waiting
from tests.fixtures.receiver import Receiver
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import PASSWORD, Browser

SignedIn = Callable[[User], Browser]
DOMAIN = "northwind.example"
ACCOUNTS: dict[str, dict[str, Any]] = {
    "s-ada": {"email": f"ada@{DOMAIN}", "email_verified": True, "name": "Ada Lovelace"},
    "s-eve": {"email": f"eve@{DOMAIN}", "email_verified": False},
    "s-eds": {"email": f"eds@{DOMAIN}", "email_verified": True, "groups": ["x", "editors"]},
    "s-out": {"email": "out@elsewhere.example", "email_verified": True},
}


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with Receiver().open() as open_receiver:
        yield open_receiver


@pytest.fixture(scope="module")
def server(receiver: Receiver) -> Iterator[IdentityServer]:
    with identity_server(ACCOUNTS, receiver.url) as running:
        yield running


@pytest.fixture
def app(app: Flask, settings: Settings) -> Iterator[Flask]:
    """The provider of these tests is at this machine's own address."""
    app.extensions["settings"] = settings.model_copy(update={"webhook_allow_private": True})
    yield app
    app.extensions["settings"] = settings


@pytest.fixture
def provider(
    session: Session, tenant: Tenant, server: IdentityServer, settings: Settings
) -> IdentityProvider:
    """A company account of the partner, which creates users."""
    tenant.partner.email_domain = DOMAIN
    session.flush()
    return add(session, tenant, server, settings, creates_users=True, default_role=Role.ADMIN.value)


def add(
    session: Session, tenant: Tenant, server: IdentityServer, settings: Settings, **more: Any
) -> IdentityProvider:
    caller = caller_of(tenant.staff[Role.PARTNER_ADMIN])
    fields = {"domains": [DOMAIN], **more}
    wanted = ProviderFields("Acme ID", server.issuer, CLIENT_ID, CLIENT_SECRET, **fields)
    made = providers.add(session, caller, settings.secret_keys, wanted)
    session.commit()
    return made


def start_url(tenant: Tenant, provider: IdentityProvider) -> str:
    return f"/p/{tenant.partner.slug}/sso/{provider.id}/start"


def there(browser: Browser, server: IdentityServer, url: str, user_name: str) -> str:
    """Go to the provider as this person; the callback's path at the portal."""
    answer = browser.get(url)
    assert answer.status_code == 303, answer.text
    return path_of(server.browser().sign_in(answer.location, user_name))


def path_of(url: str) -> str:
    return urlunsplit(("", "", *urlsplit(url)[2:]))


def sign_in(
    browser: Browser,
    server: IdentityServer,
    tenant: Tenant,
    provider: IdentityProvider,
    user_name: str,
) -> TestResponse:
    return browser.get(there(browser, server, start_url(tenant, provider), user_name))


def heading(answer: TestResponse) -> str:
    found = re.search(r"<h1>(.*?)</h1>", answer.text, re.DOTALL)
    assert found, answer.text
    return found[1]


def user_with(session: Session, email: str) -> User | None:
    return session.scalars(select(User).where(User.email == email)).one_or_none()


def test_the_sign_in_pages_button_signs_a_new_user_in_and_opens_the_asked_page(
    browser: Browser,
    tenant: Tenant,
    server: IdentityServer,
    provider: IdentityProvider,
    session: Session,
) -> None:
    page = browser.get(f"/p/{tenant.partner.slug}/sign-in?next=/usage").text
    button = re.search(r'href="([^"]+/start[^"]*)"[^>]*>Sign in with Acme ID<', page)
    assert button
    answer = browser.get(there(browser, server, button[1], "s-ada"))
    assert (answer.status_code, answer.location) == (303, "/usage")
    assert f"ada@{DOMAIN}" in browser.get("/account").text
    user = user_with(session, f"ada@{DOMAIN}")
    assert user is not None
    assert (user.name, user.role, user.status, user.idp_uid, user.organization_id) == (
        "Ada Lovelace",
        Role.ADMIN,
        UserStatus.ACTIVE,
        "s-ada",
        None,
    )
    actions = session.scalars(
        select(AuditEntry.action)
        .where(AuditEntry.target_id == str(user.id))
        .order_by(AuditEntry.id)
    )
    assert list(actions) == [
        "user.created",
        "user.identity_linked",
        "user.updated",
        "user.signed_in",
    ]
    assert waiting(session) == [("identity_linked", user.id, None)]


def test_the_neutral_sign_in_page_and_that_of_another_partner_have_no_button(
    browser: Browser, tenant: Tenant, other_tenant: Tenant, provider: IdentityProvider
) -> None:
    assert tenant.partner.slug != other_tenant.partner.slug
    for path in ("/sign-in", f"/p/{other_tenant.partner.slug}/sign-in"):
        assert "Acme ID" not in browser.get(path).text
    assert browser.get(start_url(other_tenant, provider)).status_code == 404


def test_staff_with_a_verified_address_are_linked_and_keep_their_role(
    browser: Browser,
    tenant: Tenant,
    server: IdentityServer,
    provider: IdentityProvider,
    session: Session,
) -> None:
    editor = tenant.staff[Role.PARTNER_EDITOR]
    editor.email = editor.email_key = f"ada@{DOMAIN}"
    editor.idp_uid = "crm-7"
    session.commit()
    assert sign_in(browser, server, tenant, provider, "s-ada").location == "/"
    session.refresh(editor)
    assert (editor.role, editor.idp_uid) == (Role.PARTNER_EDITOR, "crm-7")
    links = session.execute(select(UserIdentity.user_id, UserIdentity.subject)).all()
    assert [tuple(row) for row in links] == [(editor.id, "s-ada")]


@pytest.mark.parametrize("user_name", ["s-eve", "s-out", "s-nobody"])
def test_an_unverified_email_opens_and_creates_no_account(
    browser: Browser,
    tenant: Tenant,
    server: IdentityServer,
    provider: IdentityProvider,
    session: Session,
    user_name: str,
) -> None:
    editor = tenant.staff[Role.PARTNER_EDITOR]
    editor.email = editor.email_key = ACCOUNTS.get(user_name, {}).get("email", "x@x.example")
    session.commit()
    before = session.query(User).count()
    answer = sign_in(browser, server, tenant, provider, user_name)
    assert (answer.status_code, heading(answer)) == (403, "You are not signed in")
    assert "This account of Acme ID isn’t linked to a user." in answer.text
    assert session.query(User).count() == before
    assert session.query(PortalSession).count() == 0


def test_members_are_never_linked_by_their_email(
    browser: Browser,
    tenant: Tenant,
    server: IdentityServer,
    provider: IdentityProvider,
    session: Session,
) -> None:
    tenant.user.email = tenant.user.email_key = f"ada@{DOMAIN}"
    session.commit()
    assert sign_in(browser, server, tenant, provider, "s-ada").status_code == 403
    assert session.query(UserIdentity).count() == 0


def test_a_claim_decides_the_role_of_a_new_user(
    browser: Browser, tenant: Tenant, server: IdentityServer, settings: Settings, session: Session
) -> None:
    tenant.partner.email_domain = DOMAIN
    mapped = {Role.PARTNER_EDITOR.value: "editors", Role.ADMIN.value: "admins"}
    made = add(
        session,
        tenant,
        server,
        settings,
        creates_users=True,
        role_claim="groups",
        role_values=mapped,
    )
    assert sign_in(browser, server, tenant, made, "s-eds").status_code == 303
    user = user_with(session, f"eds@{DOMAIN}")
    assert user is not None
    assert user.role is Role.PARTNER_EDITOR


def test_without_a_role_no_user_is_created(
    browser: Browser, tenant: Tenant, server: IdentityServer, settings: Settings, session: Session
) -> None:
    tenant.partner.email_domain = DOMAIN
    made = add(session, tenant, server, settings, creates_users=True)
    assert sign_in(browser, server, tenant, made, "s-ada").status_code == 403
    assert user_with(session, f"ada@{DOMAIN}") is None


def link(
    browser: Browser, server: IdentityServer, provider: IdentityProvider, user_name: str
) -> str:
    page = browser.post(f"/account/company-accounts/{provider.id}/link", page="/account").text
    found = re.search(r'href="([^"]+)">Continue to Acme ID<', page)
    assert found, page
    callback = server.browser().sign_in(found[1].replace("&amp;", "&"), user_name)
    return path_of(callback)


def test_a_member_links_a_company_account_signs_in_with_it_and_removes_the_link(
    app: Flask,
    tenant: Tenant,
    server: IdentityServer,
    provider: IdentityProvider,
    signed_in: SignedIn,
    session: Session,
) -> None:
    member = signed_in(tenant.user)
    assert member.get(link(member, server, provider, "s-out")).location == "/account"
    assert "Acme ID is linked to your account." in member.get("/account").text
    elsewhere = Browser(app.test_client())
    assert sign_in(elsewhere, server, tenant, provider, "s-out").location == "/"
    assert tenant.user.email in elsewhere.get("/account").text
    unlink = f"/account/company-accounts/{provider.id}/unlink"
    assert member.post(unlink, page="/account").location == "/account"
    assert session.query(UserIdentity).count() == 0
    later = Browser(app.test_client())
    assert sign_in(later, server, tenant, provider, "s-out").status_code == 403


def test_an_account_of_another_user_can_not_be_linked(
    tenant: Tenant, server: IdentityServer, provider: IdentityProvider, signed_in: SignedIn
) -> None:
    first, second = signed_in(tenant.user), signed_in(tenant.plus_user)
    assert first.get(link(first, server, provider, "s-out")).status_code == 303
    assert second.get(link(second, server, provider, "s-out")).location == "/account"
    assert "Another user has linked this company account." in second.get("/account").text


def test_a_link_that_another_user_began_in_this_browser_is_refused(
    tenant: Tenant,
    server: IdentityServer,
    provider: IdentityProvider,
    signed_in: SignedIn,
    session: Session,
) -> None:
    browser = signed_in(tenant.user)
    callback = link(browser, server, provider, "s-out")
    browser.post("/sign-out", page="/account")
    assert browser.get(callback).status_code == 400
    assert session.query(UserIdentity).count() == 0


def test_a_user_without_a_password_keeps_the_link(
    browser: Browser,
    tenant: Tenant,
    server: IdentityServer,
    provider: IdentityProvider,
    session: Session,
) -> None:
    sign_in(browser, server, tenant, provider, "s-ada")
    browser.post(f"/account/company-accounts/{provider.id}/unlink", page="/account")
    assert "Set a password first" in browser.get("/account").text
    assert session.query(UserIdentity).count() == 1


def test_an_answer_counts_once_and_only_in_the_browser_that_asked(
    app: Flask,
    tenant: Tenant,
    server: IdentityServer,
    provider: IdentityProvider,
    session: Session,
) -> None:
    browser, stranger = Browser(app.test_client()), Browser(app.test_client())
    callback = there(browser, server, start_url(tenant, provider), "s-ada")
    assert stranger.get(callback).status_code == 400
    assert browser.get(callback).status_code == 303
    assert Browser(app.test_client()).get(callback).status_code == 400
    replayed = there(stranger, server, start_url(tenant, provider), "s-ada")
    old_code = parse_qs(urlsplit(callback).query)["code"]
    words = parse_qs(urlsplit(replayed).query) | {"code": old_code}
    mixed = f"{urlsplit(replayed).path}?{urlencode(words, doseq=True)}"
    assert stranger.get(mixed).status_code == 400
    assert session.query(PortalSession).count() == 1


@pytest.mark.parametrize("issuer", ["https://other.example", "", None])
def test_an_answer_that_names_another_issuer_or_none_is_refused(
    browser: Browser,
    tenant: Tenant,
    server: IdentityServer,
    provider: IdentityProvider,
    session: Session,
    issuer: str | None,
) -> None:
    callback = urlsplit(there(browser, server, start_url(tenant, provider), "s-ada"))
    words = parse_qs(callback.query)
    del words["iss"]
    if issuer is not None:
        words["iss"] = [issuer]
    answer = browser.get(f"{callback.path}?{urlencode(words, doseq=True)}")
    assert answer.status_code == 400
    assert "The answer of Acme ID was not accepted." in answer.text
    assert session.query(PortalSession).count() == 0


def test_a_cancelled_sign_in_says_so(
    browser: Browser, tenant: Tenant, server: IdentityServer, provider: IdentityProvider
) -> None:
    url = browser.get(start_url(tenant, provider)).location
    answer = browser.get(path_of(server.browser().cancel(url)))
    assert answer.status_code == 400
    assert "Acme ID cancelled the sign-in." in answer.text


@pytest.mark.parametrize(("seconds", "status"), [(-30, 303), (30, 303), (300, 400)])
def test_clocks_may_differ_by_up_to_a_minute(
    browser: Browser,
    tenant: Tenant,
    server: IdentityServer,
    provider: IdentityProvider,
    seconds: int,
    status: int,
) -> None:
    server.skew(seconds)
    try:
        assert sign_in(browser, server, tenant, provider, "s-ada").status_code == status
        to_sign_in = None if status == 303 else "/sign-in?next=/account"
        assert browser.get("/account").location == to_sign_in
    finally:
        server.skew(0)


def test_the_provider_ends_only_the_sessions_that_it_started(
    app: Flask,
    tenant: Tenant,
    server: IdentityServer,
    receiver: Receiver,
    provider: IdentityProvider,
    signed_in: SignedIn,
    session: Session,
) -> None:
    browser, at_provider = Browser(app.test_client()), server.browser()
    url = browser.get(start_url(tenant, provider)).location
    browser.get(path_of(at_provider.sign_in(url, "s-ada")))
    user = user_with(session, f"ada@{DOMAIN}")
    assert user is not None
    with_password = signed_in(user)
    at_provider.sign_out()
    token = parse_qs(receiver.received[-1].body)["logout_token"][0]
    script = app.test_client()
    path = f"/sso/{provider.id}/logout"
    assert script.post(path, data={"logout_token": f"{token}x"}).status_code == 400
    answer = script.post(path, data={"logout_token": token})
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    assert browser.get("/account").status_code == 303
    assert with_password.get("/account").status_code == 200
    again = Browser(app.test_client())
    sign_in(again, server, tenant, provider, "s-ada")
    assert script.post(path, data={"logout_token": token}).status_code == 400
    assert again.get("/account").status_code == 200


def test_a_sign_out_without_a_token_is_refused_and_an_unknown_provider_is_not_found(
    app: Flask, provider: IdentityProvider, tenant: Tenant
) -> None:
    script = app.test_client()
    refused = script.post(f"/sso/{provider.id}/logout")
    assert (refused.status_code, refused.data) == (400, b"")
    assert script.post(f"/sso/{tenant.partner.id}/logout").status_code == 404


def test_logouts_of_one_address_have_a_maximum_rate(make_app: Callable[..., Flask]) -> None:
    script = make_app(page_rate_per_second=1, page_rate_burst=2).test_client()
    answers = [script.post(f"/sso/{uuid4()}/logout") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [404, 404, 429]
    assert int(answers[2].headers["Retry-After"]) >= 1


def test_a_suspended_user_is_refused(
    browser: Browser,
    tenant: Tenant,
    server: IdentityServer,
    provider: IdentityProvider,
    session: Session,
) -> None:
    sign_in(browser, server, tenant, provider, "s-ada")
    user = user_with(session, f"ada@{DOMAIN}")
    assert user is not None
    user.status = UserStatus.SUSPENDED
    session.commit()
    answer = sign_in(browser, server, tenant, provider, "s-ada")
    assert answer.status_code == 403
    assert "The user of this company account is not active." in answer.text


def test_where_it_is_required_passwords_of_staff_stop_and_partner_admins_keep_theirs(
    app: Flask,
    tenant: Tenant,
    server: IdentityServer,
    settings: Settings,
    session: Session,
) -> None:
    tenant.partner.email_domain = DOMAIN
    add(session, tenant, server, settings, required_for_staff=True)
    page = f"/p/{tenant.partner.slug}/sign-in"
    editor = Browser(app.test_client()).sign_in(tenant.staff[Role.PARTNER_EDITOR].email, path=page)
    assert editor.status_code == 422
    assert "Your company requires its own account. Sign in with Acme ID." in editor.text
    for user in (tenant.staff[Role.PARTNER_ADMIN], tenant.user):
        answer = Browser(app.test_client()).sign_in(user.email, PASSWORD, path=page)
        assert (answer.status_code, answer.location) == (303, "/")
    wrong = Browser(app.test_client()).sign_in(
        tenant.staff[Role.PARTNER_EDITOR].email, "not this one", path=page
    )
    assert "Email or password is wrong." in wrong.text


def test_where_it_is_required_a_recovery_link_sets_a_password_but_does_not_sign_in(
    app: Flask,
    tenant: Tenant,
    server: IdentityServer,
    settings: Settings,
    session: Session,
) -> None:
    tenant.partner.email_domain = DOMAIN
    add(session, tenant, server, settings, required_for_staff=True)
    slug, editor = tenant.partner.slug, tenant.staff[Role.PARTNER_EDITOR]
    token = one_time_links.create(session, editor.id, LinkPurpose.RESET_PASSWORD)
    session.commit()
    browser, path = Browser(app.test_client()), f"/p/{slug}/password/{token}"
    new = {"password": "four unrelated quiet words", "again": "four unrelated quiet words"}
    answer = browser.post(path, new, page=path)
    assert (answer.status_code, answer.location) == (303, f"/p/{slug}/sign-in")
    assert browser.get("/account").status_code == 303
    assert session.query(PortalSession).count() == 0


def test_lock_out_drill_a_provider_that_is_down_leaves_partner_admins_a_way_back(
    app: Flask, tenant: Tenant, settings: Settings, session: Session
) -> None:
    tenant.partner.email_domain = DOMAIN
    with identity_server(ACCOUNTS) as short_lived:
        made = add(session, tenant, short_lived, settings, required_for_staff=True)
    editor, page = tenant.staff[Role.PARTNER_EDITOR], f"/p/{tenant.partner.slug}/sign-in"
    down = Browser(app.test_client()).get(start_url(tenant, made))
    assert (down.status_code, heading(down)) == (503, "Acme ID doesn’t answer")
    assert "Partner admins can always sign in with their password." in down.text
    admin = Browser(app.test_client())
    admin.sign_in(tenant.staff[Role.PARTNER_ADMIN].email, path=page)
    edit = f"/settings/company-accounts/{made.id}"
    typed = {
        "version": str(made.version),
        "name": "Acme ID",
        "client_id": CLIENT_ID,
        "domains": DOMAIN,
        "default_role": "",
    }
    assert admin.post(edit, typed, page=edit).location == "/settings/company-accounts"
    answer = Browser(app.test_client()).sign_in(editor.email, path=page)
    assert (answer.status_code, answer.location) == (303, "/")


def test_removing_a_company_account_ends_its_sessions(
    browser: Browser,
    tenant: Tenant,
    server: IdentityServer,
    provider: IdentityProvider,
    signed_in: SignedIn,
) -> None:
    sign_in(browser, server, tenant, provider, "s-ada")
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    confirmation = f"/settings/company-accounts/{provider.id}/remove"
    assert "1 user can no longer sign in with it." in admin.get(confirmation).text
    assert admin.post(confirmation, page=confirmation).location == "/settings/company-accounts"
    assert browser.get("/account").status_code == 303


def test_a_company_account_is_the_second_factor_that_a_partner_requires(
    browser: Browser,
    tenant: Tenant,
    server: IdentityServer,
    provider: IdentityProvider,
    session: Session,
) -> None:
    tenant.partner.second_factor_for = SecondFactorFor.ALL
    session.commit()
    sign_in(browser, server, tenant, provider, "s-ada")
    assert browser.get("/account").status_code == 200
    assert session.scalars(select(PortalSession.factor)).all() == [Proof.COMPANY_ACCOUNT]


def test_a_user_without_password_and_factor_confirms_by_signing_in_there_again(
    browser: Browser,
    tenant: Tenant,
    server: IdentityServer,
    provider: IdentityProvider,
    session: Session,
) -> None:
    at_provider, wanted = server.browser(), "/account/factors/app"
    first = browser.get(start_url(tenant, provider)).location
    browser.get(path_of(at_provider.sign_in(first, "s-ada")))
    assert "prompt" not in parse_qs(urlsplit(first).query)
    session.execute(update(PortalSession).values(proven_at=utcnow() - timedelta(minutes=11)))
    session.commit()
    asked = browser.get(wanted).location
    assert asked == f"/account/confirm?next={wanted}"
    button = re.search(
        r'href="([^"]+/start[^"]*)"[^>]*>Sign in with Acme ID<', browser.get(asked).text
    )
    assert button
    again = browser.get(unescape(button[1])).location
    assert parse_qs(urlsplit(again).query)["prompt"] == ["login"]
    answer = browser.get(path_of(at_provider.sign_in(again, "s-ada")))
    assert (answer.status_code, answer.location) == (303, wanted)
    assert "/account/confirm" not in (browser.get(wanted).location or "")


@pytest.mark.parametrize("how", ["stale", "missing"])
def test_a_confirmation_with_a_stale_or_missing_time_of_sign_in_is_refused(
    browser: Browser,
    tenant: Tenant,
    server: IdentityServer,
    provider: IdentityProvider,
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
    how: str,
) -> None:
    at_provider = server.browser()
    first = browser.get(start_url(tenant, provider)).location
    browser.get(path_of(at_provider.sign_in(first, "s-ada")))
    long_ago = utcnow() - timedelta(minutes=11)
    session.execute(update(PortalSession).values(proven_at=long_ago))
    session.commit()
    again = browser.get(f"{start_url(tenant, provider)}?again&next=/account/factors/app").location
    assert parse_qs(urlsplit(again).query)["max_age"] == ["0"]
    # As a provider does that has a session and pays no heed to what the request asks.
    words = {name: each[0] for name, each in parse_qs(urlsplit(again).query).items()}
    del words["prompt"], words["max_age"]
    if how == "stale":
        words["max_age"] = "999999"
        server.skew(300)
    try:
        heedless = urlunsplit((*urlsplit(again)[:3], urlencode(words), ""))
        answer = browser.get(path_of(at_provider.sign_in(heedless, "s-ada")))
    finally:
        server.skew(0)
    assert (answer.status_code, heading(answer)) == (400, "You are not signed in")
    assert browser.get("/account/factors/app").location.startswith("/account/confirm")


def test_a_sign_in_at_the_provider_that_is_too_old_is_done_again(
    app: Flask,
    tenant: Tenant,
    server: IdentityServer,
    provider: IdentityProvider,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(requests, "MAX_SESSION_AGE", timedelta(minutes=10))
    at_provider, browser = server.browser(), Browser(app.test_client())
    server.skew(-900)
    try:
        at_provider.sign_in(browser.get(start_url(tenant, provider)).location, "s-ada")
    finally:
        server.skew(0)
    # As a provider does that has a session and pays no heed to the age that the request allows.
    start = browser.get(start_url(tenant, provider)).location
    assert "max_age=600" in start
    heedless = start.replace("max_age=600", "max_age=999999")
    answer = browser.get(path_of(at_provider.sign_in(heedless, "s-ada")))
    assert (answer.status_code, heading(answer)) == (400, "You are not signed in")
    assert browser.get("/account").status_code == 303
    again = f"{start_url(tenant, provider)}?again=1"
    assert f'href="{again}"' in answer.text
    browser.get(path_of(at_provider.sign_in(browser.get(again).location, "s-ada")))
    assert browser.get("/account").status_code == 200


def test_a_sign_in_counts_as_proof_from_when_the_user_signed_in_at_the_provider(
    app: Flask,
    tenant: Tenant,
    server: IdentityServer,
    provider: IdentityProvider,
    session: Session,
) -> None:
    at_provider = server.browser()
    proven = []
    for skew in (-900, 0):  # the second sign-in here rests on the first one there
        server.skew(skew)
        browser = Browser(app.test_client())
        start = browser.get(start_url(tenant, provider)).location
        browser.get(path_of(at_provider.sign_in(start, "s-ada")))
        asked = browser.get("/account/factors/app").location or ""
        proven.append(not asked.startswith("/account/confirm"))
    assert proven == [False, False]


def test_a_new_password_keeps_the_session_of_the_company_account(
    app: Flask,
    tenant: Tenant,
    server: IdentityServer,
    provider: IdentityProvider,
    signed_in: SignedIn,
    session: Session,
) -> None:
    member = signed_in(tenant.user)
    member.get(link(member, server, provider, "s-out"))
    browser = Browser(app.test_client())
    sign_in(browser, server, tenant, provider, "s-out")
    columns = (PortalSession.factor, PortalSession.provider_id, PortalSession.provider_sid_hash)
    query = select(*columns).where(PortalSession.provider_id.is_not(None))
    before = session.execute(query).one()
    new = "four unrelated quiet words"
    typed = {"current_password": PASSWORD, "password": new, "again": new}
    assert browser.post("/account/password", typed, page="/account").location == "/account"
    assert session.execute(select(*columns)).all() == [before]
    assert before.provider_sid_hash is not None
