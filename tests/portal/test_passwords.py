"""Forgotten passwords and the links of mails: once, for a while, for one person only."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import OrganizationStatus, Role, UserStatus
from app.models import AuditEntry, LinkPurpose, OneTimeLink, Partner, User, utcnow
from app.schemas.parsing import read
from app.schemas.users import CreatePartialUserInput
from app.services import users
from app.services.auth import one_time_links, passwords
from tests.fixtures.clock import SetClock
from tests.fixtures.mails import path_in, send_waiting, waiting
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]

NEW = "a long way to the sea"
BOTH = {"password": NEW, "again": NEW}
ENDED = "<h1>This link has expired</h1>"


def link(session: Session, user: User, purpose: LinkPurpose) -> str:
    """The path of a fresh link of a user of a partner."""
    token = one_time_links.create(session, user.id, purpose)
    session.commit()
    word = "invitation" if purpose is LinkPurpose.INVITATION else "password"
    if user.partner_id is None:
        return f"/{word}/{token}"
    return f"/p/{session.get_one(Partner, user.partner_id).slug}/{word}/{token}"


def invited(session: Session, tenant: Tenant) -> User:
    tenant.plus.user_limit = 0
    session.flush()
    data = read(CreatePartialUserInput, {"email": "ada@hill.example", "orgId": str(tenant.plus.id)})
    return users.create_partial(session, tenant.caller(Role.PARTNER_ADMIN), data)


def without_marks(html: str) -> str:
    return re.sub(r'name="csrf_token" value="[^"]+"|req_[\w-]+', "", html)


def test_a_user_who_forgot_the_password_sets_a_new_one_and_is_signed_in(
    browser: Browser, tenant: Tenant, session: Session, settings: Settings, signed_in: SignedIn
) -> None:
    elsewhere = signed_in(tenant.user)
    page = f"/p/{tenant.partner.slug}/forgot-password"
    assert f'href="{page}"' in browser.get(f"/p/{tenant.partner.slug}/sign-in").text
    asked = browser.post(page, {"email": tenant.user.email.upper()}, page=page)
    assert (asked.status_code, asked.location) == (303, f"{page}?sent")
    assert "<h1>Check your email</h1>" in browser.get(asked.location).text
    (letter,) = send_waiting(session, settings)
    path = path_in(letter)
    assert (letter.to, letter.subject) == (
        tenant.user.email,
        "Set a new password for AI Receptionist",
    )
    answer = browser.post(path, BOTH, page=path)
    assert (answer.status_code, answer.location) == (303, "/")
    shown = browser.get("/").text
    assert "Password set. You are signed in." in shown
    assert tenant.user.email in shown
    assert elsewhere.get("/").status_code == 303  # every other session has ended
    session.expire_all()
    assert passwords.verify(session.get_one(User, tenant.user.id).password_hash, NEW)
    assert waiting(session) == [("password_changed", tenant.user.id, None)]


def test_the_mail_is_in_the_language_of_the_page_unless_the_user_has_chosen_another(
    browser: Browser, tenant: Tenant, session: Session, settings: Settings
) -> None:
    page, subjects = f"/p/{tenant.partner.slug}/forgot-password", []
    for chosen in (None, "es"):
        tenant.user.language = chosen
        session.commit()
        german = {"Accept-Language": "de"}
        browser.post(page, {"email": tenant.user.email}, page=page, headers=german)
        (letter,) = send_waiting(session, settings)
        subjects.append(letter.subject)
    assert subjects == [
        "Neues Passwort für AI Receptionist festlegen",
        "Establezca una contraseña nueva para AI Receptionist",
    ]


def test_an_unknown_address_is_answered_like_a_known_one(
    browser: Browser, tenant: Tenant, session: Session, settings: Settings
) -> None:
    page = f"/p/{tenant.partner.slug}/forgot-password"
    known = browser.post(page, {"email": tenant.user.email}, page=page)
    known_page = browser.get(known.location).text
    unknown = browser.post(page, {"email": "nobody@hill.example"}, page=page)
    unknown_page = browser.get(unknown.location).text
    assert (known.status_code, known.location) == (unknown.status_code, unknown.location)
    assert without_marks(known_page) == without_marks(unknown_page)
    assert [kind for kind, _user, _to in waiting(session)] == ["recovery", "recovery"]
    assert [letter.to for letter in send_waiting(session, settings)] == [tenant.user.email]
    assert waiting(session) == []


def test_the_neutral_page_mails_every_account_with_the_address(
    browser: Browser, tenant: Tenant, other_tenant: Tenant, session: Session, settings: Settings
) -> None:
    twin, page = other_tenant.user, "/forgot-password"
    twin.email = twin.email_key = tenant.user.email
    session.commit()
    browser.post(page, {"email": tenant.user.email}, page=page)
    letters = send_waiting(session, settings)
    assert {letter.partner_id for letter in letters} == {tenant.partner.id, other_tenant.partner.id}
    assert {path_in(letter).split("/")[2] for letter in letters} == {
        tenant.partner.slug,
        other_tenant.partner.slug,
    }


def test_the_page_of_another_partner_sends_no_mail(
    browser: Browser, tenant: Tenant, other_tenant: Tenant, session: Session, settings: Settings
) -> None:
    page = f"/p/{other_tenant.partner.slug}/forgot-password"
    browser.post(page, {"email": tenant.user.email}, page=page)
    assert send_waiting(session, settings) == []


@pytest.mark.parametrize("status", [UserStatus.SUSPENDED, UserStatus.DEACTIVATED])
def test_users_who_can_not_sign_in_get_no_recovery_link(
    browser: Browser, tenant: Tenant, session: Session, settings: Settings, status: UserStatus
) -> None:
    tenant.user.status = status
    session.commit()
    browser.post("/forgot-password", {"email": tenant.user.email}, page="/forgot-password")
    assert send_waiting(session, settings) == []


def test_a_network_that_asks_often_waits_for_known_and_unknown_accounts(
    browser: Browser, tenant: Tenant, clock: SetClock
) -> None:
    page = "/forgot-password"
    known = [browser.post(page, {"email": tenant.user.email}, page=page) for _ in range(11)]
    clock.pass_by(hours=1)
    unknown = [browser.post(page, {"email": "no@hill.example"}, page=page) for _ in range(11)]
    expected = [303] * 10 + [429]
    assert [answer.status_code for answer in known] == expected
    assert [answer.status_code for answer in unknown] == expected
    assert without_marks(known[10].text).replace(tenant.user.email, "no@hill.example") == (
        without_marks(unknown[10].text)
    )


def test_an_invalid_email_is_refused_at_its_field(browser: Browser, session: Session) -> None:
    empty = browser.post("/forgot-password", {"email": " "}, page="/forgot-password")
    assert empty.status_code == 422
    assert "Enter your email address." in empty.text
    for text in ("nix", "a\0b@", "ann@host"):
        refused = browser.post("/forgot-password", {"email": text}, page="/forgot-password")
        assert refused.status_code == 422
        assert "Enter an email like name@example.com." in refused.text
    assert waiting(session) == []
    spaced = browser.post("/forgot-password", {"email": " ann@x.example "}, page="/forgot-password")
    assert spaced.status_code == 303


def test_an_invitation_is_accepted_with_a_password_and_a_name(
    browser: Browser, tenant: Tenant, session: Session, settings: Settings
) -> None:
    user = invited(session, tenant)
    (letter,) = send_waiting(session, settings)
    path = path_in(letter)
    for _ in range(2):  # a mail scanner looked before
        page = browser.get(path)
        assert page.status_code == 200
        assert "<h1>Welcome to AI Receptionist</h1>" in page.text
    answer = browser.post(path, BOTH | {"name": " Ada Byron "}, page=path)
    assert (answer.status_code, answer.location) == (303, "/")
    welcome = "Welcome, Ada Byron. You are a member of Northwind Dental."
    assert welcome in browser.get("/").text
    session.expire_all()
    joined = session.get_one(User, user.id)
    assert (joined.status, joined.name) == (UserStatus.ACTIVE, "Ada Byron")
    assert joined.last_sign_in is not None
    actions = session.scalars(
        select(AuditEntry.action)
        .where(AuditEntry.target_id == str(user.id))
        .order_by(AuditEntry.id)
    )
    assert list(actions) == [
        "user.invited",
        "user.joined",
        "user.password_set",
        "user.signed_in",
    ]
    assert waiting(session) == []  # no mail about the first password


def test_an_invited_user_can_ask_for_the_invitation_again(
    browser: Browser, tenant: Tenant, session: Session, settings: Settings
) -> None:
    user = invited(session, tenant)
    send_waiting(session, settings)
    page = f"/p/{tenant.partner.slug}/forgot-password"
    browser.post(page, {"email": user.email}, page=page)
    (again,) = send_waiting(session, settings)
    path = path_in(again)
    answer = browser.post(path, BOTH, page=path)
    assert (answer.status_code, answer.location) == (303, "/")
    assert (user.email in browser.get("/account").text) is True


@pytest.mark.parametrize("purpose", LinkPurpose)
def test_a_link_works_once(
    browser: Browser, tenant: Tenant, session: Session, purpose: LinkPurpose
) -> None:
    user = invited(session, tenant) if purpose is LinkPurpose.INVITATION else tenant.user
    path = link(session, user, purpose)
    assert browser.post(path, BOTH, page=path).status_code == 303
    again = browser.get(path)
    assert again.status_code == 410
    assert ENDED in again.text
    assert f"/p/{tenant.partner.slug}/forgot-password" in again.text
    sent = browser.post(path, BOTH, page="/forgot-password")
    assert sent.status_code == 410
    assert ENDED in sent.text


@pytest.mark.parametrize("purpose", LinkPurpose)
def test_a_link_expires(
    browser: Browser, tenant: Tenant, session: Session, purpose: LinkPurpose
) -> None:
    user = invited(session, tenant) if purpose is LinkPurpose.INVITATION else tenant.user
    path = link(session, user, purpose)
    assert 'type="password"' in browser.get(path).text
    session.execute(update(OneTimeLink).values(expires_at=utcnow() - timedelta(seconds=1)))
    session.commit()
    expired = browser.get(path)
    assert expired.status_code == 410
    assert "This link has expired" in expired.text
    assert 'type="password"' not in expired.text


def test_a_link_serves_no_other_purpose_and_no_other_partner(
    browser: Browser, tenant: Tenant, other_tenant: Tenant, session: Session
) -> None:
    path = link(session, tenant.user, LinkPurpose.RESET_PASSWORD)
    token = path.rpartition("/")[2]
    wrong = (
        f"/p/{tenant.partner.slug}/invitation/{token}",
        f"/p/{other_tenant.partner.slug}/password/{token}",
        f"/password/{token}",
        f"/p/{tenant.partner.slug}/password/{token}x",
    )
    assert [browser.get(place).status_code for place in wrong] == [410] * 4
    sent = [browser.post(place, BOTH, page="/forgot-password").status_code for place in wrong]
    assert sent == [410] * 4
    assert browser.get(f"/p/nobody/password/{token}").status_code == 404
    assert browser.get(path).status_code == 200  # none of that used it up


@pytest.mark.parametrize("who", ["user", "organization", "partner"])
def test_a_link_does_not_work_for_suspended_users(
    browser: Browser, tenant: Tenant, session: Session, who: str
) -> None:
    path = link(session, tenant.user, LinkPurpose.RESET_PASSWORD)
    match who:
        case "user":
            tenant.user.status = UserStatus.SUSPENDED
        case "organization":
            tenant.organization.status = OrganizationStatus.SUSPENDED
        case _:
            tenant.partner.suspended_at = utcnow()
    session.commit()
    answer = browser.get(path)
    assert answer.status_code == (403 if who == "partner" else 410)
    assert 'type="password"' not in answer.text


def test_an_operators_link_is_neutral(browser: Browser, session: Session) -> None:
    operator = User(email="op@ops.example", email_key="op@ops.example", user_type=Role.OPERATOR)
    session.add(operator)
    session.flush()
    path = link(session, operator, LinkPurpose.RESET_PASSWORD)
    assert path.startswith("/password/")
    assert browser.post(path, BOTH, page=path).status_code == 303


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"password": "", "again": ""}, "Enter a new password."),
        ({"password": NEW, "again": f"{NEW}!"}, "Passwords don’t match."),
        (
            {"password": "fourteen chars", "again": "fourteen chars"},
            "Too short: 14 characters. Use at least 15",
        ),
        ({"password": "fourteen chars", "again": ""}, "Too short: 14 characters. Use at least 15"),
        ({"password": "Password12345678", "again": "Password12345678"}, "too common"),
        ({"password": "x" * 1001, "again": "x" * 1001}, "at most 1000 characters"),
    ],
)
def test_a_bad_password_is_explained_and_the_link_stays_valid(
    browser: Browser, tenant: Tenant, session: Session, typed: dict[str, str], words: str
) -> None:
    path = link(session, tenant.user, LinkPurpose.SET_PASSWORD)
    answer = browser.post(path, typed, page=path)
    assert answer.status_code == 422
    assert words in answer.text
    if typed["password"]:
        assert typed["password"] not in answer.text
    assert browser.get(path).status_code == 200


def test_the_address_of_a_link_is_sent_to_no_other_site(
    browser: Browser, tenant: Tenant, session: Session
) -> None:
    path = link(session, tenant.user, LinkPurpose.RESET_PASSWORD)
    headers = [
        browser.get(path).headers,
        browser.post(path, {}, page=path).headers,
        browser.post(path, BOTH, page=path).headers,
        browser.get(path).headers,
    ]
    assert [h["Referrer-Policy"] for h in headers] == ["no-referrer"] * 4
    assert {h["Cache-Control"] for h in headers} == {"no-store"}


def test_the_log_of_a_failure_holds_no_token(
    app: Flask,
    tenant: Tenant,
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    path = link(session, tenant.user, LinkPurpose.RESET_PASSWORD)

    def fail(**_values: str) -> None:
        message = "a fault of ours"
        raise RuntimeError(message)

    monkeypatch.setitem(app.view_functions, "portal.auth.show_password", fail)
    monkeypatch.setitem(app.config, "TESTING", False)
    assert app.test_client().get(path).status_code == 500
    logged = [record.getMessage() for record in caplog.records]
    assert [re.sub(r"[\d.]+ ms", "… ms", line) for line in logged] == [
        "GET /p/<slug>/password/<token> 500 in … ms"
    ]


def test_a_form_without_a_referrer_is_accepted_over_https(
    browser: Browser, tenant: Tenant, session: Session
) -> None:
    path = link(session, tenant.user, LinkPurpose.RESET_PASSWORD)
    secure = {"base_url": "https://localhost"}
    shown = browser.get(path, **secure).text
    token = re.search(r'name="csrf_token" value="([^"]+)"', shown)
    assert token
    answer = browser.client.post(path, data={"csrf_token": token[1]} | BOTH, **secure)
    assert answer.status_code == 303


def test_pages_of_a_link_have_the_brand_of_its_partner(
    tenant: Tenant, other_tenant: Tenant, session: Session, signed_in: SignedIn
) -> None:
    tenant.partner.product_name, other_tenant.partner.product_name = (
        "Northwind Voice",
        "Southgate Voice",
    )
    path = link(session, tenant.user, LinkPurpose.RESET_PASSWORD)
    browser = signed_in(other_tenant.user)
    for page in (browser.get(path), browser.get(f"{path}x")):
        assert "Northwind" in page.text
        assert "Southgate" not in page.text
        assert "Partner portal" not in page.text


def test_accepting_an_invitation_ends_the_session_of_another_user(
    tenant: Tenant, session: Session, signed_in: SignedIn
) -> None:
    path = link(session, tenant.plus_user, LinkPurpose.RESET_PASSWORD)
    browser = signed_in(tenant.user)
    before = browser.client.get_cookie("portal_session")
    assert before is not None
    browser.post(path, BOTH, page=path)
    assert tenant.plus_user.email in browser.get("/").text
    browser.client.set_cookie("portal_session", before.value)
    assert browser.get("/").status_code == 303


def test_the_old_password_no_longer_works(
    browser: Browser, tenant: Tenant, session: Session, app: Flask
) -> None:
    path = link(session, tenant.user, LinkPurpose.RESET_PASSWORD)
    browser.post(path, BOTH, page=path)
    stranger = Browser(app.test_client())
    refused = stranger.sign_in(tenant.user.email)
    assert refused.status_code == 422
    assert "Email or password is wrong." in refused.text
    assert stranger.sign_in(tenant.user.email, NEW).location == "/"
