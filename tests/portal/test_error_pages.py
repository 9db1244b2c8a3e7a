"""Refusals as pages: in the brand, with a reference, never an API's JSON."""

import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask
from flask_wtf.csrf import CSRFError
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.database import Database, make_engine
from app.enums import Role
from app.errors import (
    Conflict,
    Forbidden,
    NotFound,
    RateLimited,
    TooLarge,
    Unauthenticated,
    ValidationFailed,
)
from app.factory import create_app
from app.http.brown_out import WAITED
from app.models import User
from app.schemas.parsing import read
from app.schemas.partners import UpdatePartnerInput
from app.services import partners
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.portal.conftest import Browser
from tests.portal.test_screens_by_role import screens

SignedIn = Callable[[User], Browser]


def test_a_missing_page_is_shown_in_the_brand_of_the_partner(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    answer = signed_in(tenant.staff[Role.PARTNER_ADMIN]).get("/nowhere")
    assert answer.status_code == 404
    assert "<h1>Page not found</h1>" in answer.text
    assert f'<span class="logo-name">{tenant.partner.name}</span>' in answer.text
    reference = answer.headers["X-Request-Id"]
    assert f"<code>{reference}</code>" in answer.text


def test_a_document_without_an_icon_gets_that_of_the_brand(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    letter = browser.get("/favicon.ico")
    assert (letter.status_code, letter.mimetype) == (200, "image/svg+xml")
    assert ">A</text></svg>" in letter.text
    picture = f"/brand/images/{'b' * 64}"
    images = {"siteImages": [{"type": "favicon", "imageUrl": f"https://portal.example{picture}"}]}
    partners.update(session, OPERATOR, tenant.partner.id, read(UpdatePartnerInput, images))
    session.commit()
    assert browser.get("/favicon.ico").location == picture


def test_a_visitor_under_a_partners_address_sees_its_brand_and_its_sign_in(
    tenant: Tenant, browser: Browser
) -> None:
    answer = browser.get(f"/p/{tenant.partner.slug}/no-such-page")
    assert titled(answer, tenant) == (404, "Page not found")
    assert f'href="/p/{tenant.partner.slug}/sign-in">Go to the sign-in page</a>' in answer.text


def test_a_place_that_cannot_be_read_leads_to_the_start_of_the_list(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    answer = browser.get("/organizations?q=a%26b&cursor=x&trail=y")
    assert titled(answer, tenant) == (400, "This request can’t be read")
    assert 'href="/organizations?q=a%26b">Go to the start of the list</a>' in answer.text


@pytest.mark.parametrize("path", ["/users/not-an-id", "/usage/", "/p/no-such-partner/sign-in"])
def test_unknown_addresses_get_404(browser: Browser, path: str) -> None:
    assert browser.get(path).status_code == 404


def test_a_wrong_method_names_the_right_ones(browser: Browser) -> None:
    answer = browser.client.delete("/sign-in")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD, OPTIONS, POST")


def status_and_heading(answer: TestResponse) -> tuple[int, list[str]]:
    return answer.status_code, re.findall(r"<h1>(.*?)</h1>", answer.text)


LISTS = ("/organizations", "/users", "/campaigns", "/report", "/calls")


@pytest.mark.parametrize("query", ["q=%00", "sort=;drop", "tier=x", "status=%FF", "trail=..."])
def test_no_filter_of_a_list_breaks_it(tenant: Tenant, signed_in: SignedIn, query: str) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    for page in LISTS:
        plain = status_and_heading(browser.get(page))
        assert status_and_heading(browser.get(f"{page}?{query}")) == plain
        assert (plain[0], len(plain[1])) == (200, 1)


@pytest.mark.parametrize("query", ["cursor=x", "cursor=%F0%9F"])
def test_an_invalid_cursor_is_refused(tenant: Tenant, signed_in: SignedIn, query: str) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    for page in LISTS:
        answer = browser.get(f"{page}?{query}")
        assert status_and_heading(answer) == (400, ["This request can’t be read"])


def test_no_screen_fails_at_an_invalid_cursor(
    app: Flask, tenant: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    answers = {browser.get(f"{screen.rule}?cursor=x").status_code for screen in screens(app)}
    assert answers == {200, 400, 404}


def titled(answer: TestResponse, tenant: Tenant) -> tuple[int, str]:
    """Status and heading of a page that wears the partner's brand, with reference and time."""
    assert f"· {tenant.partner.product_name}</title>" in answer.text
    assert f"<code>{answer.headers['X-Request-Id']}</code>" in answer.text
    assert re.search(r"</code>, \d+ \w+ \d{4}, \d\d:\d\d\xa0UTC</p>", answer.text)
    heading = re.search(r"<h1>(.*?)</h1>", answer.text)
    assert heading
    return answer.status_code, heading.group(1)


@pytest.mark.parametrize(
    ("error", "page"),
    [
        (NotFound(), (404, "Page not found")),
        (Forbidden("No.", "role_too_low"), (404, "Page not found")),
        (Unauthenticated("No.", "no_session"), (401, "You are signed out")),
        (Conflict("Another user was first.", "first"), (409, "This has changed")),
        (TooLarge("Over the limit.", "too_large"), (413, "Too large")),
        (RateLimited("Slowly.", 30), (429, "Too many requests")),
        (ValidationFailed("No.", "wrong"), (400, "This request can’t be read")),
        (CSRFError("No."), (403, "This form was not accepted")),
        (OperationalError("SELECT", {}, Exception()), (503, "The portal is not available")),
        (ZeroDivisionError(), (500, "Something went wrong on our side")),
    ],
)
def test_each_refusal_has_a_page_in_the_brand_of_the_partner(
    monkeypatch: pytest.MonkeyPatch,
    make_app: Callable[..., Flask],
    tenant: Tenant,
    error: Exception,
    page: tuple[int, str],
) -> None:
    app = make_app()
    monkeypatch.setitem(app.config, "TESTING", False)
    monkeypatch.setitem(app.config, "PROPAGATE_EXCEPTIONS", False)

    def fail(slug: str) -> str:
        raise error

    monkeypatch.setitem(app.view_functions, "portal.auth.sign_in", fail)
    answer = app.test_client().get(f"/p/{tenant.partner.slug}/sign-in")
    assert titled(answer, tenant) == page


def test_too_many_requests_are_answered_with_the_time_to_wait(
    monkeypatch: pytest.MonkeyPatch, make_app: Callable[..., Flask], tenant: Tenant
) -> None:
    app = make_app()

    def fail(slug: str) -> str:
        raise RateLimited("That is too much at once.", 600)

    monkeypatch.setitem(app.view_functions, "portal.auth.sign_in", fail)
    path = f"/p/{tenant.partner.slug}/sign-in"
    answer = app.test_client().get(path)
    assert answer.headers["Retry-After"] == "600"
    assert re.search(r"You can try again from \d+ \w+ \d{4}, \d\d:\d\d\xa0UTC on", answer.text)
    assert f'<a class="btn btn-primary" href="{path}">Try again</a>' in answer.text


def test_a_file_over_the_limit_is_answered_with_the_limit(
    make_app: Callable[..., Flask], tenant: Tenant
) -> None:
    app = make_app(max_body_bytes=1024)
    client = app.test_client()
    client.get(f"/p/{tenant.partner.slug}/sign-in")
    answer = client.post("/sign-out", data={"file": (io.BytesIO(b"x" * 100_000), "big.csv")})
    assert titled(answer, tenant) == (413, "Too large")
    assert "The request is over the limit of 1.0\xa0kB. Nothing was changed." in answer.text
    assert "Go back in your browser to see what you typed." in answer.text


def test_a_refused_download_keeps_the_partners_brand(tenant: Tenant, admin: Browser) -> None:
    answer = admin.get("/usage.csv", headers={WAITED: "30"})
    assert titled(answer, tenant) == (503, "The download can’t start now")


def test_without_a_database_there_is_still_a_page(tmp_path: Path) -> None:
    nowhere = Database(make_engine(f"sqlite:///{tmp_path}/no/such/folder/portal.db"))
    app = create_app(settings_for(url_of(nowhere), tmp_path), nowhere)
    app.config.update(TESTING=False, PROPAGATE_EXCEPTIONS=False)
    answer = app.test_client().get("/")
    assert answer.status_code == 503
    assert "<h1>The portal is not available</h1>" in answer.text
    sheet = re.search(r'href="(/brand/[0-9a-f]{6}-[0-9a-f]{16}\.css)"', answer.text)
    assert sheet
    assert app.test_client().get(sheet.group(1)).status_code == 200


def test_a_failure_is_a_page_with_its_reference_and_no_details(
    monkeypatch: pytest.MonkeyPatch, make_app: Callable[..., Flask], tenant: Tenant
) -> None:
    app = make_app()
    monkeypatch.setitem(app.config, "TESTING", False)
    monkeypatch.setitem(app.config, "PROPAGATE_EXCEPTIONS", False)

    def fail() -> str:
        return str(1 // 0)

    monkeypatch.setitem(app.view_functions, "portal.auth.sign_in", fail)
    answer = app.test_client().get("/sign-in")
    assert answer.status_code == 500
    assert "<h1>Something went wrong on our side</h1>" in answer.text
    assert "ZeroDivision" not in answer.text
    assert re.search(r"<code>req_[\w-]{22}</code>", answer.text)


def test_every_answer_carries_the_headers_that_protect_it(browser: Browser) -> None:
    headers = browser.get("/sign-in").headers
    assert headers["Content-Security-Policy"] == (
        "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none';"
        " form-action 'self'; frame-ancestors 'none'"
    )
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
