"""How often pages may be asked for, and how much a form may send before it is refused unread."""

import io
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import EnvironBuilder, TestResponse, run_wsgi_app

from app.enums import Role
from app.models import User
from tests.fixtures.tenants import Tenant
from tests.fixtures.unread import Unread
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]
PUBLIC_FORMS = (
    "/sign-in",
    "/sign-in/again",
    "/sign-out",
    "/forgot-password",
    "/p/northwind/sign-in",
    "/p/northwind/chat",
    "/oauth2/token",
    "/absent",
)


class EndlessBody(io.RawIOBase):
    """A chunked body, with how much of it was read."""

    taken = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self.taken += len(buffer)
        buffer[:] = b"a" * len(buffer)
        return len(buffer)


def environ_of(path: str, kind: str, body: io.RawIOBase, **more: Any) -> dict[str, Any]:
    built = EnvironBuilder(path=path, method="POST", content_type=kind).get_environ()
    return {**built, "wsgi.input": body, "HTTP_SEC_FETCH_SITE": "same-origin", **more}


@pytest.mark.parametrize("path", PUBLIC_FORMS)
@pytest.mark.parametrize("kind", ["multipart/form-data; boundary=x", "application/octet-stream"])
def test_a_large_body_without_a_credential_is_refused_unread(
    app: Flask, path: str, kind: str
) -> None:
    environ = environ_of(path, kind, Unread(), CONTENT_LENGTH=str(250 * 1024 * 1024))
    status = int(run_wsgi_app(app, environ)[1][:3])
    assert status in ({400, 404} if path in ("/oauth2/token", "/absent") else {404, 413})


@pytest.mark.parametrize("path", ["/sign-in", "/sign-out", "/forgot-password"])
def test_a_body_without_a_length_is_read_up_to_the_limit(app: Flask, path: str) -> None:
    body = EndlessBody()
    head = 'x\r\nContent-Disposition: form-data; name="a"; filename="a"\r\n\r\n'
    more = {"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
    kind = f"multipart/form-data; boundary={head[0]}"
    status = int(run_wsgi_app(app, environ_of(path, kind, body, **more))[1][:3])
    assert status == 413
    assert body.taken <= 1024 * 1024 + 128 * 1024


def test_a_large_upload_without_a_session_leads_to_the_sign_in_page_unread(app: Flask) -> None:
    path = "/campaigns/00000000-0000-4000-8000-000000000000/upload"
    environ = environ_of(path, "multipart/form-data", Unread(), CONTENT_LENGTH="99999999")
    assert int(run_wsgi_app(app, environ)[1][:3]) == 303


def statuses(browser: Browser, count: int) -> list[int]:
    return [browser.get("/account").status_code for _turn in range(count)]


@pytest.fixture
def slow_app(make_app: Callable[..., Flask]) -> Flask:
    """Three pages at once, and a stopped clock."""
    app = make_app(page_rate_per_second=1, page_rate_burst=3)
    app.extensions["page_rate_limit"]._clock = lambda: 0.0
    return app


def with_session_of(app: Flask, browser: Browser) -> Browser:
    cookie = browser.client.get_cookie("portal_session")
    assert cookie is not None
    client = app.test_client()
    client.set_cookie("portal_session", cookie.value)
    return Browser(client)


def test_each_user_has_a_rate_and_the_page_says_when_to_continue(
    slow_app: Flask, tenant: Tenant, other_tenant: Tenant, signed_in: SignedIn
) -> None:
    mine = with_session_of(slow_app, signed_in(tenant.staff[Role.PARTNER_ADMIN]))
    theirs = with_session_of(slow_app, signed_in(other_tenant.staff[Role.PARTNER_ADMIN]))
    assert statuses(mine, 5) == [200, 200, 200, 429, 429]
    assert statuses(theirs, 3) == [200, 200, 200]
    refused = mine.get("/account")
    assert refused_page(refused) == (429, "text/html", "1", True)
    assert "More than 1 pages per second were requested. Wait 1 s and try again." in refused.text


def test_each_address_without_a_user_has_a_rate(slow_app: Flask) -> None:
    def ask(address: str) -> TestResponse:
        return slow_app.test_client().get("/sign-in", environ_overrides={"REMOTE_ADDR": address})

    first = [ask("192.0.2.1") for _turn in range(4)]
    assert [answer.status_code for answer in first] == [200, 200, 200, 429]
    assert refused_page(first[-1]) == (429, "text/html", "1", True)
    assert ask("192.0.2.2").status_code == 200


def refused_page(answer: TestResponse) -> tuple[int, str | None, str | None, bool]:
    wait = answer.headers.get("Retry-After")
    return answer.status_code, answer.mimetype, wait, "<h1>Too many requests</h1>" in answer.text


@pytest.mark.usefixtures("clock")
def test_a_form_that_was_tried_too_often_says_when_to_try_again(
    make_app: Callable[..., Flask], tenant: Tenant
) -> None:
    browser = Browser(make_app(failed_sign_ins=1).test_client())
    path = f"/p/{tenant.partner.slug}/sign-in"
    answers = [browser.sign_in("owner@northwind.example", "wrong", path) for _turn in range(2)]
    assert [answer.status_code for answer in answers] == [422, 429]
    assert answers[1].mimetype == "text/html"
    assert answers[1].headers["Retry-After"] == "1"
