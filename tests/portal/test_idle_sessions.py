"""A session without requests of its user ends; pages that refresh themselves don't count."""

import re
from collections.abc import Callable
from datetime import datetime
from uuid import uuid4

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import ROOT
from app.models import PortalSession, User
from app.portal.auth.login_manager import REFRESHED
from tests.fixtures.clock import SetClock
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]


@pytest.fixture
def long_session_browser(
    app: Flask, session: Session, tenant: Tenant, signed_in: SignedIn, clock: SetClock
) -> Browser:
    """A browser whose session lasts for longer than the idle limit."""
    browser = signed_in(tenant.user)
    record = session.scalars(select(PortalSession)).one()
    record.expires_at = datetime.fromisoformat("2026-10-16T00:00+00:00")
    session.commit()
    return browser


def test_an_hour_without_a_request_signs_out(
    long_session_browser: Browser, clock: SetClock
) -> None:
    clock.pass_by(minutes=59)
    assert long_session_browser.get("/account").status_code == 200
    clock.pass_by(minutes=59)
    assert long_session_browser.get("/account").status_code == 200
    clock.pass_by(minutes=61)
    answer = long_session_browser.get("/account")
    assert (answer.status_code, answer.location) == (303, "/sign-in?next=/account")


def test_a_page_that_refreshes_itself_does_not_keep_the_session_open(
    long_session_browser: Browser, clock: SetClock
) -> None:
    answers = []
    for _ in range(4):
        clock.pass_by(minutes=20)
        answers.append(long_session_browser.get(f"/calls/{uuid4()}/live").status_code)
    assert answers == [404, 404, 303, 303]


def test_sessions_that_were_idle_for_too_long_are_not_listed(
    long_session_browser: Browser,
    tenant: Tenant,
    session: Session,
    signed_in: SignedIn,
    clock: SetClock,
) -> None:
    clock.pass_by(minutes=61)
    page = signed_in(tenant.user).get("/account").text
    assert page.count("This browser") == 1
    assert "/account/sessions/" not in page


def test_every_part_that_refreshes_itself_is_known() -> None:
    refreshed = set()
    for template in (ROOT / "templates").rglob("*.html"):
        for tag in re.findall(r'<\w[^<]*hx-trigger="every [^<]*', template.read_text()):
            is_form = "hx-post" in tag  # sent until it is saved: someone waits for it
            if not is_form:
                found = re.search(r"""hx-get="\{\{ url_for\(['"]([\w.]+)""", tag)
                assert found, f"{template}: the tag names no endpoint"
                refreshed.add(found[1])
    assert refreshed == REFRESHED
