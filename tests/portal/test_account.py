"""One's own account: details, password, browsers, mails."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from babel.dates import format_date
from flask import Flask
from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import AuditEntry, PortalSession, User, utcnow
from app.portal.account.devices import device_label
from app.services.auth import passwords
from tests.fixtures.mails import waiting
from tests.fixtures.places_file import KNOWN, write_places
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import PASSWORD, Browser, in_conflict

SignedIn = Callable[[User], Browser]

NEW = "a long way to the sea"
PAGE = "/account"


def version(browser: Browser) -> str:
    found = re.search(r'name="version" value="(\d+)"', browser.get(PAGE).text)
    assert found
    return found[1]


def test_the_time_zones_are_offered_by_their_present_names(admin: Browser) -> None:
    page = admin.get(PAGE).text
    named = set(re.findall(r'<option[^>]* value="([A-Z][a-z]+/[^"]+)"', page))
    assert {"Asia/Kolkata", "Europe/Kyiv", "America/Argentina/Buenos_Aires"} <= named
    assert named & {"Asia/Calcutta", "Europe/Kiev", "America/Buenos_Aires"} == set()


def test_every_role_has_an_account_page_that_the_menu_leads_to(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    for user in (*tenant.staff.values(), tenant.user):
        page = signed_in(user).get("/").text
        assert 'href="/account"' in page
        assert user.email in signed_in(user).get(PAGE).text


def test_name_and_zone_are_saved_and_times_follow(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    browser = signed_in(tenant.user)
    typed = {"name": " Olga Łódź ", "timezone": "Asia/Tokyo", "version": version(browser)}
    answer = browser.post(PAGE, typed, page=PAGE)
    assert (answer.status_code, answer.location) == (303, PAGE)
    shown = browser.get(PAGE).text
    assert "Details saved." in shown
    assert "Times are in Asia/Tokyo." in shown
    assert '<option selected value="Asia/Tokyo">Asia/Tokyo</option>' in shown
    session.refresh(tenant.user)
    assert (tenant.user.name, tenant.user.timezone) == ("Olga Łódź", "Asia/Tokyo")
    entry = session.scalars(
        select(AuditEntry)
        .where(AuditEntry.target_id == str(tenant.user.id))
        .order_by(AuditEntry.id.desc())
    ).first()
    assert entry is not None
    assert (entry.action, entry.actor, entry.after) == (
        "user.updated",
        tenant.user.email,
        {"name": "Olga Łódź", "timezone": "Asia/Tokyo"},
    )


def test_a_new_language_alone_changes_no_time_zone(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    browser = signed_in(tenant.user)
    typed = {"name": tenant.user.name or "", "language": "de", "version": version(browser)}
    assert browser.post(PAGE, {**typed, "timezone": ""}, page=PAGE).status_code == 303
    session.refresh(tenant.user)
    assert (tenant.user.language, tenant.user.timezone) == ("de", None)


def test_a_new_language_is_confirmed_in_that_language(tenant: Tenant, signed_in: SignedIn) -> None:
    browser = signed_in(tenant.user)
    typed = {"timezone": "Asia/Tokyo", "language": "de", "version": version(browser)}
    assert browser.post(PAGE, typed, page=PAGE).status_code == 303
    shown = browser.get(PAGE).text
    assert "Angaben gespeichert." in shown
    assert "Details saved." not in shown
    signed_in_on = format_date(datetime.now(ZoneInfo("Asia/Tokyo")), "long", locale="de")
    assert signed_in_on in shown  # with its month in full


def test_a_refusal_is_shown_as_an_alert(admin: Browser) -> None:
    assert admin.post("/account/timezone", {"timezone": "Moon"}, page=PAGE).status_code == 303
    alert = admin.get(PAGE).text.partition('class="result result-danger" role="alert"')[2]
    assert "Unknown time zone." in alert.partition("</div>")[0]


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"name": "x" * 201, "timezone": ""}, "at most 200 characters"),
        ({"name": "Olga", "timezone": "Mars/Olympus"}, "Not a valid choice"),
    ],
)
def test_invalid_details_stay_as_they_were_typed(
    tenant: Tenant, signed_in: SignedIn, typed: dict[str, str], words: str
) -> None:
    answer = signed_in(tenant.user).post(PAGE, typed, page=PAGE)
    assert answer.status_code == 422
    assert words in answer.text
    assert f'value="{typed["name"]}"' in answer.text


def test_details_changed_meanwhile_are_not_overwritten_unseen(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    first, second = signed_in(tenant.user), signed_in(tenant.user)
    seen = version(first)
    second.post(PAGE, {"name": "Second", "timezone": "", "version": seen}, page=PAGE)
    answer = first.post(PAGE, {"name": "First", "timezone": "", "version": seen}, page=PAGE)
    assert answer.status_code == 409
    assert "changed this" in answer.text
    assert in_conflict(answer.text) == {"Name": ("Second", "First")}
    session.refresh(tenant.user)
    assert tenant.user.name == "Second"
    again = re.search(r'name="version" value="(\d+)"', answer.text)
    assert again
    final = first.post(PAGE, {"name": "First", "timezone": "", "version": again[1]}, page=PAGE)
    assert final.status_code == 303


def test_a_new_password_keeps_this_browser_and_signs_out_the_others(
    app: Flask, tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    browser, elsewhere = signed_in(tenant.user), signed_in(tenant.user)
    before = browser.client.get_cookie("portal_session")
    typed = {"current_password": PASSWORD, "password": NEW, "again": NEW}
    answer = browser.post("/account/password", typed, page=PAGE)
    assert (answer.status_code, answer.location) == (303, PAGE)
    assert "Password changed" in browser.get(PAGE).text
    assert elsewhere.get(PAGE).status_code == 303
    assert before is not None
    elsewhere.client.set_cookie("portal_session", before.value)
    assert elsewhere.get(PAGE).status_code == 303  # the old cookie of this browser too
    session.refresh(tenant.user)
    assert passwords.verify(tenant.user.password_hash, NEW)
    assert waiting(session) == [("password_changed", tenant.user.id, None)]


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"current_password": "wrong", "password": NEW, "again": NEW}, "not your current password"),
        ({"current_password": "", "password": NEW, "again": NEW}, "Enter your current password."),
        ({"current_password": PASSWORD, "password": NEW, "again": "x"}, "Passwords don’t match."),
        ({"current_password": PASSWORD, "password": "short", "again": "short"}, "Too short"),
        (
            {"current_password": "wrong", "password": "short", "again": "short"},
            "2 things need changing",
        ),
        ({"current_password": "wrong", "password": NEW, "again": "x"}, "2 things need changing"),
    ],
)
def test_a_password_is_changed_only_with_the_current_one_and_a_good_new_one(
    tenant: Tenant, signed_in: SignedIn, session: Session, typed: dict[str, str], words: str
) -> None:
    browser = signed_in(tenant.user)
    answer = browser.post("/account/password", typed, page=PAGE)
    form = answer.text.partition('id="change-password"')[2]
    assert answer.status_code == 422
    assert words in form
    assert NEW not in answer.text
    session.refresh(tenant.user)
    assert passwords.verify(tenant.user.password_hash, PASSWORD)


@pytest.mark.usefixtures("clock")
def test_guesses_of_the_current_password_are_limited(
    make_app: Callable[..., Flask], tenant: Tenant, signed_in: SignedIn
) -> None:
    cookie = signed_in(tenant.user).client.get_cookie("portal_session")
    assert cookie is not None
    browser = Browser(make_app(failed_sign_ins=2).test_client())
    browser.client.set_cookie("portal_session", cookie.value)
    typed = {"current_password": "wrong", "password": NEW, "again": NEW}
    answers = [
        browser.post("/account/password", typed | {"current_password": word}, page=PAGE).status_code
        for word in ("wrong", "wrong", PASSWORD)
    ]
    assert answers == [422, 422, 429]


def test_browsers_are_named_and_signed_out_one_by_one(
    tenant: Tenant, other_tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    browser, elsewhere, stranger = (
        signed_in(tenant.user),
        signed_in(tenant.user),
        signed_in(other_tenant.user),
    )
    row = session.scalars(
        select(PortalSession)
        .where(PortalSession.user_id == tenant.user.id)
        .order_by(PortalSession.created_at.desc())
    ).first()
    assert row is not None
    row.user_agent = "Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0"
    row.ip = "203.0.113.9"
    session.commit()
    page = browser.get(PAGE).text
    assert "Firefox on Windows" in page
    assert "203.0.113.9" in page
    assert page.count("This browser") == 1
    (path,) = re.findall(r'action="(/account/sessions/[0-9a-f]+/end)"', page)
    assert row.token_hash not in page
    assert stranger.post(path, page=PAGE).status_code == 303  # it names none of theirs
    assert elsewhere.get(PAGE).status_code == 200
    assert browser.post(path, page=PAGE).status_code == 303
    assert "Browser signed out." in browser.get(PAGE).text
    assert elsewhere.get(PAGE).status_code == 303
    browser.post(path, page=PAGE)
    assert "already signed out" in browser.get(PAGE).text


def test_the_places_of_browsers_are_shown_where_the_operator_provides_them(
    tenant: Tenant,
    signed_in: SignedIn,
    session: Session,
    make_app: Callable[..., Flask],
    tmp_path: Path,
) -> None:
    cookie = signed_in(tenant.user).client.get_cookie("portal_session")
    assert cookie is not None
    session.execute(update(PortalSession).values(ip=KNOWN))
    session.commit()
    browser = Browser(make_app(places_file=write_places(tmp_path / "places.mmdb")).test_client())
    browser.client.set_cookie("portal_session", cookie.value)
    assert "Berlin, Germany (203.0.113.9), since" in browser.get(PAGE).text


def test_all_other_browsers_are_signed_out_together(tenant: Tenant, signed_in: SignedIn) -> None:
    browser, *others = (signed_in(tenant.user) for _ in range(3))
    colleague = signed_in(tenant.plus_user)
    answer = browser.post("/account/sessions/end-others", page=PAGE)
    assert answer.status_code == 303
    assert "2 other browsers signed out." in browser.get(PAGE).text
    assert [one.get(PAGE).status_code for one in others] == [303, 303]
    assert colleague.get(PAGE).status_code == 200


def test_the_choice_of_mails_is_kept(tenant: Tenant, signed_in: SignedIn, session: Session) -> None:
    browser = signed_in(tenant.user)
    assert tenant.user.unsubscribe is True
    browser.post("/account/mails", {"news": "y"}, page=PAGE)
    session.refresh(tenant.user)
    assert (tenant.user.notifications, tenant.user.unsubscribe) == (
        {"importFinished": False},
        False,
    )
    browser.post("/account/mails", {"import_finished": "y"}, page=PAGE)
    session.refresh(tenant.user)
    assert (tenant.user.notifications, tenant.user.unsubscribe) == ({"importFinished": True}, True)


def test_mails_that_can_never_come_are_not_offered(session: Session, signed_in: SignedIn) -> None:
    operator = User(email="op@ops.example", email_key="op@ops.example", user_type=Role.OPERATOR)
    session.add(operator)
    session.flush()
    page = signed_in(operator).get(PAGE).text
    assert "op@ops.example" in page
    assert "/account/mails" not in page


CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0"
SAFARI = "AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (f"Mozilla/5.0 (X11; Linux x86_64) {CHROME} Safari/537.36", "Chrome on Linux"),
        (f"Mozilla/5.0 (Windows NT 10.0) {CHROME} Safari/537.36 Edg/142.0", "Edge on Windows"),
        (f"Mozilla/5.0 (iPhone; like Mac OS X) {SAFARI} Mobile Safari/604.1", "Safari on iPhone"),
        (f"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) {SAFARI} Safari/605", "Safari on macOS"),
        (f"Mozilla/5.0 (Linux; Android 15) {CHROME} Mobile Safari/537.36", "Chrome on Android"),
        ("<script>alert(1)</script>", "An unknown browser"),
        (None, "An unknown browser"),
    ],
)
def test_a_browser_is_named_by_its_user_agent(message: str | None, expected: str) -> None:
    assert device_label(message) == expected


def test_ten_thousand_browsers_are_shown_a_page_at_a_time(
    session: Session, tenant: Tenant, signed_in: Callable[[User], Browser]
) -> None:
    admin = tenant.staff[Role.PARTNER_ADMIN]
    now = utcnow()
    session.execute(
        insert(PortalSession),
        [
            {
                "token_hash": f"{number:064x}",
                "user_id": admin.id,
                "host": "localhost",
                "data": {},
                "ip": f"192.0.2.{number % 250}",
                "created_at": now - timedelta(days=1),
                "seen_at": now - timedelta(seconds=60 + number / 10),
                "expires_at": now + timedelta(hours=1),
            }
            for number in range(10_000)
        ],
    )
    session.commit()
    browser = signed_in(admin)
    pages = [browser.get(f"/account?page={page}").text for page in (1, 2, 401, "a", -3)]
    counts = [re.findall(r"([\d,]+) browsers", page) for page in pages]
    assert counts == [["10,001"]] * 5
    sections = [page.partition("<main")[2] for page in pages]
    of_each = [each.count(">Sign out</button>") for each in sections]
    assert [each.count(">Sign out here</button>") for each in sections] == [1, 0, 0, 1, 1]
    assert of_each == [25, 25, 0, 25, 25]
    assert ["This browser</span>" in page for page in pages] == [True, False, False, True, True]
    assert 'href="/account?page=2" rel="next"' in pages[0]
    assert 'href="/account?page=1" rel="prev"' in pages[1]
    [last] = re.findall(r"/account/sessions/(\w+)/end", browser.get("/account?page=400").text)[-1:]
    browser.post(f"/account/sessions/{last}/end", page="/account")
    assert "10,000 browsers" in browser.get("/account").text


def test_the_language_automatic_says_which_language_mails_about_events_have(
    tenant: Tenant, session: Session, signed_in: Callable[[User], Browser]
) -> None:
    browser = signed_in(tenant.user)
    words = "Emails about events, such as alerts, are then in English."
    assert words in browser.get("/account").text
    tenant.partner.language = "de"
    session.commit()
    assert "Deutsch." in browser.get("/account").text
