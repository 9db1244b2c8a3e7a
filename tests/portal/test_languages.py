"""Pages and mails are in the language of who reads them; the JSON is always English."""

import re
from collections.abc import Callable

import pytest
from flask import Flask
from sqlalchemy.orm import Session

from app import languages
from app.enums import Role, UserStatus
from app.models import LinkPurpose, Mail, MailKind, User, utcnow
from app.services import mail_queue
from app.services.auth import one_time_links
from app.services.mails import sending
from tests.fixtures.tenants import Tenant, bearer
from tests.portal.conftest import PASSWORD, Browser

SignedIn = Callable[[User], Browser]

NEW_PASSWORD = "a long way to the sea"
GERMAN = {"Accept-Language": "de-CH,de;q=0.9,en;q=0.5"}


def language_of(html: str) -> str:
    found = re.search(r'<html lang="([^"]+)"', html)
    assert found is not None
    return found[1]


def test_the_language_is_that_of_the_user_then_the_partner_then_the_browser(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    admin = tenant.staff[Role.PARTNER_ADMIN]
    browser = signed_in(admin)
    seen = [language_of(browser.get("/account").text)]
    seen.append(language_of(browser.get("/account", headers=GERMAN).text))
    tenant.partner.language = "fr"
    session.commit()
    seen.append(language_of(browser.get("/account", headers=GERMAN).text))
    admin.language = "es"
    session.commit()
    seen.append(language_of(browser.get("/account", headers=GERMAN).text))
    assert seen == ["en", "de", "fr", "es"]


def test_a_visitor_chooses_on_the_sign_in_page(tenant: Tenant, browser: Browser) -> None:
    page = f"/p/{tenant.partner.slug}/sign-in"
    answer = browser.client.post(
        "/language",
        data=language_form(browser.get(page).text, "es"),
    )
    assert (answer.status_code, answer.location) == (303, page)
    assert language_of(browser.get(page, headers=GERMAN).text) == "es"


@pytest.mark.parametrize(
    ("purpose", "place"),
    [(LinkPurpose.INVITATION, "invitation"), (LinkPurpose.RESET_PASSWORD, "password")],
)
def test_the_page_of_a_link_in_a_mail_stays_in_the_chosen_language(
    tenant: Tenant, browser: Browser, session: Session, purpose: LinkPurpose, place: str
) -> None:
    if purpose is LinkPurpose.INVITATION:
        tenant.user.status, tenant.user.password_hash = UserStatus.INVITED, None
    token = one_time_links.create(session, tenant.user.id, purpose)
    session.commit()
    page = f"/p/{tenant.partner.slug}/{place}/{token}"
    shown = browser.get(page)
    answer = browser.client.post("/language", data=language_form(shown.text, "es"))
    assert (shown.status_code, answer.status_code, answer.location) == (200, 303, page)
    assert language_of(browser.get(page).text) == "es"


def test_the_second_step_is_in_the_language_chosen_there(
    tenant: Tenant, browser: Browser, session: Session
) -> None:
    page = "/sign-in/second-step"
    tenant.user.language, tenant.user.second_factor_at = "fr", utcnow()
    session.commit()
    browser.sign_in(tenant.user.email)
    shown = browser.get(page).text
    browser.client.post("/language", data=language_form(shown, "es"))
    assert (language_of(shown), language_of(browser.get(page).text)) == ("fr", "es")


def test_choosing_a_language_never_leads_to_another_site(browser: Browser) -> None:
    form = language_form(browser.get("/sign-in").text, "de") | {"next": "https://example.com/"}
    assert browser.client.post("/language", data=form).location == "/"


def language_form(html: str, code: str) -> dict[str, str]:
    """Return what the button of a language sends."""
    form = html.partition('class="language-choice"')[2].partition("</form>")[0]
    place = re.search(r'name="next" value="([^"]+)"', form)
    assert place is not None
    return {"language": code, "csrf_token": token_of(form), "next": place[1]}


def token_of(html: str) -> str:
    found = re.search(r'name="csrf_token" value="([^"]+)"', html)
    assert found is not None
    return found[1]


def test_an_unknown_language_is_refused_and_nothing_is_saved(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    admin = tenant.staff[Role.PARTNER_ADMIN]
    browser = signed_in(admin)
    sent = {"name": "Ada", "timezone": "", "language": "tlh", "version": admin.version}
    answer = browser.post("/account", sent, page="/account")
    assert answer.status_code == 422
    assert "Unknown language. Choose one of the list." in answer.text
    session.expire_all()
    assert (admin.language, admin.name) != ("tlh", "Ada")


def test_the_partner_sets_the_language_of_its_users(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    form = {"language": "de", "partner_name": "Northwind", "default_assistant_limit": "1"}
    form["version"] = str(tenant.partner.version)
    assert browser.post("/settings", form, page="/settings").status_code == 303
    session.expire_all()
    assert tenant.partner.language == "de"
    assert language_of(signed_in(tenant.user).get("/").text) == "de"


def test_json_is_always_in_english(
    app: Flask, session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    tenant.partner.language = "de"
    session.commit()
    client = app.test_client()
    headers = bearer(session, app.extensions["settings"], Role.PARTNER_ADMIN, tenant.partner.id)
    assert language_of(signed_in(tenant.user).get("/").text) == "de"  # in the same thread before
    answer = client.get(
        f"/api/partners/{tenant.partner.id}/organizations?page=0", headers={**headers, **GERMAN}
    )
    assert answer.status_code == 400
    assert answer.json is not None
    assert answer.json["message"].isascii()
    assert languages.language() == "en"


def subject_of(session: Session, app: Flask, kind: MailKind) -> str:
    """Return the subject of the one mail of the kind."""
    mail = session.query(Mail).filter_by(kind=kind.value).one()
    letter = sending.begin(session, mail.id, 1, app.extensions["settings"])
    assert letter is not None
    return letter.subject


def test_mails_about_what_a_user_does_are_in_the_language_of_the_page(
    session: Session, tenant: Tenant, app: Flask, browser: Browser
) -> None:
    typed = {"email": tenant.user.email, "password": PASSWORD}
    answer = browser.post("/sign-in", typed, page="/sign-in", headers=GERMAN)
    assert answer.status_code == 303
    changed = {"current_password": PASSWORD, "password": NEW_PASSWORD, "again": NEW_PASSWORD}
    answer = browser.post("/account/password", changed, page="/account", headers=GERMAN)
    assert answer.status_code == 303
    product = tenant.partner.product_name
    with languages.using_language("de"):
        expected = [
            languages.gettext("New sign-in to %(product)s", product=product),
            languages.gettext("Your password for %(product)s was changed", product=product),
        ]
    kinds = (MailKind.NEW_BROWSER, MailKind.PASSWORD_CHANGED)
    assert [subject_of(session, app, kind) for kind in kinds] == expected


@pytest.mark.parametrize(("chosen", "expected"), [(None, "de"), ("es", "es"), ("en", "en")])
def test_a_mail_is_in_the_language_of_its_reader(
    session: Session, tenant: Tenant, app: Flask, chosen: str | None, expected: str
) -> None:
    tenant.partner.language = "de"
    tenant.user.language = chosen
    mail_queue.enqueue(
        session, MailKind.PASSWORD_CHANGED, partner_id=tenant.partner.id, user_id=tenant.user.id
    )
    session.flush()
    mail = session.query(Mail).filter_by(kind=MailKind.PASSWORD_CHANGED.value).one()
    letter = sending.begin(session, mail.id, 1, app.extensions["settings"])
    assert letter is not None
    with languages.using_language(expected):
        subject = languages.gettext(
            "Your password for %(product)s was changed", product=tenant.partner.product_name
        )
    assert letter.subject == subject
    assert language_of(letter.html) == expected


def test_the_time_zone_is_asked_once(tenant: Tenant, signed_in: SignedIn, session: Session) -> None:
    browser = signed_in(tenant.user)
    assert "data-zone-prompt" in browser.get("/").text
    answer = browser.client.post(
        "/account/timezone",
        data={"timezone": "Europe/Berlin", "csrf_token": token_of(browser.get("/").text)},
        headers={"Referer": "http://localhost/calls?status=busy"},
    )
    assert (answer.status_code, answer.location) == (303, "/calls?status=busy")
    session.expire_all()
    assert tenant.user.timezone == "Europe/Berlin"
    assert "data-zone-prompt" not in browser.get("/").text


def test_a_name_that_ends_in_a_full_stop_ends_its_sentence(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    tenant.organization.name = "Kowalczyk & Daughters Roofing Inc."
    session.commit()
    page = f"/organizations/{tenant.organization.id}/do-not-call/add"
    read = signed_in(tenant.staff[Role.PARTNER_ADMIN]).get(page).text
    assert "list of Kowalczyk &amp; Daughters Roofing Inc. Numbers already" in read


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("Linia Sp. z o.o.", "You are a member of Linia Sp. z o.o."),
        ("<a>Roofing Inc.</a>", "You are a member of <a>Roofing Inc.</a>"),
        ("Castell", "You are a member of Castell."),
    ],
)
def test_no_second_full_stop_follows_a_name(name: str, sentence: str) -> None:
    assert languages.gettext("You are a member of %(name)s.", name=name) == sentence
    assert languages.gettext("%(name)s.csv", name=name) == f"{name}.csv"
