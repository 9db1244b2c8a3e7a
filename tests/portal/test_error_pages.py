"""Refusals as pages: in the brand, with a reference, never an API's JSON."""

import re
from collections.abc import Callable

import pytest
from flask import Flask

from app.enums import Role
from app.models import User
from tests.fixtures.cast import Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]


def test_a_page_that_is_not_there_says_so_in_the_partners_brand(
    own: Tenant, signed_in: SignedIn
) -> None:
    answer = signed_in(own.staff[Role.PARTNER_ADMIN]).get("/nowhere")
    assert answer.status_code == 404
    assert "<h1>This page is not here</h1>" in answer.text
    assert f'<span class="logo-name">{own.partner.name}</span>' in answer.text
    reference = answer.headers["X-Request-Id"]
    assert f"<code>{reference}</code>" in answer.text


@pytest.mark.parametrize("path", ["/people/not-an-id", "/usage/", "/p/no-such-partner/sign-in"])
def test_addresses_that_mean_nothing_are_404(browser: Browser, path: str) -> None:
    assert browser.get(path).status_code == 404


def test_a_wrong_method_names_the_right_ones(browser: Browser) -> None:
    answer = browser.client.delete("/sign-in")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD, OPTIONS, POST")


@pytest.mark.parametrize(
    "query",
    ["q=%00", "cursor=x", "cursor=%F0%9F", "sort=;drop", "tier=x", "status=%FF", "trail=..."],
)
def test_no_filter_of_a_list_breaks_it(own: Tenant, signed_in: SignedIn, query: str) -> None:
    browser = signed_in(own.staff[Role.PARTNER_ADMIN])
    for page in ("/organizations", "/people", "/campaigns", "/report", "/calls"):
        assert browser.get(f"{page}?{query}").status_code in (200, 400)


@pytest.mark.parametrize(
    "query",
    ["start=x&end=y", "start=2026-11-02&end=2026-11-01", "start=2020-01-01&end=2026-01-01",
     "start=0001-01-01&end=0001-01-02", "start=2026-11-01"],
)  # fmt: skip
def test_a_range_that_can_t_be_counted_is_explained(
    own: Tenant, signed_in: SignedIn, query: str
) -> None:
    answer = signed_in(own.staff[Role.PARTNER_ADMIN]).get(f"/usage?{query}")
    assert answer.status_code == 422
    assert "The last 30 days are shown instead." in answer.text


def test_a_failure_is_a_page_with_its_reference_and_tells_nothing_else(
    make_app: Callable[..., Flask], own: Tenant
) -> None:
    app = make_app()
    app.config.update(TESTING=False, PROPAGATE_EXCEPTIONS=False)

    def fail() -> str:
        return str(1 // 0)

    app.view_functions["portal.sign_in"] = fail
    answer = app.test_client().get("/sign-in")
    assert answer.status_code == 500
    assert "<h1>Something failed on our side</h1>" in answer.text
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
