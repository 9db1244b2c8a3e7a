"""Browsers of users: a tenant next to another one, signed in or not."""

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from flask import session as browser_session
from flask.testing import FlaskClient
from flask_wtf.csrf import generate_csrf
from sqlalchemy import Engine
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.database import Database
from app.enums import Role
from app.jobs.check_account import check_account
from app.models import User
from app.services import pdf
from app.services.auth import passwords, sessions
from app.services.users import operators
from tests.fixtures.browser_session import give_session
from tests.fixtures.statements import counted
from tests.fixtures.tenants import OPERATOR, Tenant, make_tenant
from tests.portal.page_text import PageResponse
from tests.portal.uploader import Uploader, make_campaign

PASSWORD = "correct horse battery"
PASSWORD_HASH = passwords.hash_password(PASSWORD)


def in_conflict(page: str) -> dict[str, tuple[str, str]]:
    """Return what another user saved, according to the page, and what the form has, by the field's
    label."""
    row = r'<th scope="row"[^>]*>(.*?)</th>\s*<td[^>]*>(.*?)</td>\s*<td[^>]*>(.*?)</td>'
    table = page.partition('class="table table-changes"')[2].partition("</table>")[0]
    return {label: (saved, typed) for label, saved, typed in re.findall(row, table, re.DOTALL)}


class Browser:
    """A browser without script: keeps cookies, and sends forms with the page's own token."""

    def __init__(self, client: FlaskClient):
        self.client = client
        if not issubclass(client.response_wrapper, PageResponse):
            kinds = (PageResponse, client.response_wrapper)
            client.response_wrapper = type("PageResponse", kinds, {})
        self._tokens: dict[str, str] = {}
        """CSRF tokens by the part of the session cookie that they depend on."""

    def get(self, path: str, **more: Any) -> TestResponse:
        # A file that is not read to its end would leave its request's context to later tests.
        return self.client.get(path, **{"buffered": True, **more})

    def post(
        self,
        path: str,
        data: Mapping[str, Any] | None = None,
        *,
        page: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> TestResponse:
        """Send a form as it is on ``page``, or as any page of this session has it."""
        sent = {"csrf_token": self._csrf_token(page), **(data or {})}
        return self.client.post(path, data=sent, headers=headers)

    def _csrf_token(self, page: str | None) -> str:
        """Return the token of the session, which all its pages have; without a ``page``, none is
        opened."""
        with self.client.session_transaction() as kept:
            known = self._tokens.get(kept.get("csrf_token", ""))
        if known is None:
            known = self._of_page(page) if page else self._made()
            with self.client.session_transaction() as kept:
                self._tokens[kept.get("csrf_token", "")] = known
        return known

    def _of_page(self, page: str) -> str:
        shown = self.client.get(page, follow_redirects=True).text
        found = re.search(r'name="csrf_token" value="([^"]+)"', shown)
        assert found, f"{page} holds no form"
        return found.group(1)

    def _made(self) -> str:
        with (
            self.client.session_transaction() as kept,
            self.client.application.test_request_context(),
        ):
            browser_session.update(kept)
            token: str = generate_csrf()
            kept["csrf_token"] = browser_session["csrf_token"]
        return token

    def sign_in(self, email: str, password: str = PASSWORD, path: str = "/sign-in") -> TestResponse:
        return self.post(path, {"email": email, "password": password}, page=path)


@pytest.fixture
def printed_pdfs(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The data of each PDF that the typesetter has made, in their order."""
    made: list[dict[str, Any]] = []
    render = pdf.render

    def rendering(template: str, data: dict[str, Any]) -> bytes:
        made.append(data)
        return render(template, data)

    monkeypatch.setattr(pdf, "render", rendering)
    return made


@pytest.fixture
def tenant(session: Session) -> Tenant:
    tenant = make_tenant(session, "Northwind")
    for user in (*tenant.staff.values(), tenant.user, tenant.plus_user):
        user.password_hash = PASSWORD_HASH
    session.commit()
    return tenant


@pytest.fixture
def other_tenant(session: Session) -> Tenant:
    tenant = make_tenant(session, "Southgate")
    for user in (*tenant.staff.values(), tenant.user, tenant.plus_user):
        user.password_hash = PASSWORD_HASH
    session.commit()
    return tenant


@pytest.fixture
def browser(app: Flask) -> Browser:
    return Browser(app.test_client())


@pytest.fixture
def signed_in(app: Flask, session: Session) -> Callable[[User], Browser]:
    """Return a browser in which the user has signed in."""

    def sign_in(user: User) -> Browser:
        token = sessions.create(session, user, lifetime=timedelta(hours=1), host="localhost")
        session.commit()
        client = app.test_client()
        give_session(client, token)
        return Browser(client)

    return sign_in


@pytest.fixture
def operator(session: Session, signed_in: Callable[[User], Browser]) -> Browser:
    """Return a user of the platform, who belongs to no partner."""
    made = operators.create(
        session, OPERATOR, email="root@platform.example", name=None, password_hash=PASSWORD_HASH
    )
    return signed_in(made)


@pytest.fixture
def admin(tenant: Tenant, signed_in: Callable[[User], Browser]) -> Browser:
    return signed_in(tenant.staff[Role.PARTNER_ADMIN])


@pytest.fixture
def uploader(
    app: Flask,
    database: Database,
    session: Session,
    tenant: Tenant,
    admin: Browser,
) -> Uploader:
    """A partner's administrator with a campaign."""
    return Uploader(app, database, admin, make_campaign(session, tenant))


@pytest.fixture
def run_account_test(app: Flask, database: Database, admin: Browser) -> Callable[[UUID], str]:
    """Run a test of a carrier account like the worker; return the list of accounts afterwards."""

    def work(account_id: UUID) -> str:
        assert "Testing…" in admin.get("/carriers/accounts").text
        check_account(database, app.extensions["settings"], account_id)
        return admin.get("/carriers/accounts").text

    return work


def statements_of_page(engine: Engine, browser: Browser, path: str) -> int:
    """Return how many statements the page sends."""
    with counted(engine) as found:
        assert browser.get(path).status_code == 200
    return len(found)


def fresh(session: Session, user: User) -> User:
    """Return the user as stored."""
    session.expire_all()
    return session.get_one(User, user.id)


def user_of(tenant: Tenant, role: Role) -> User:
    return tenant.user if role is Role.STANDARD else tenant.staff[role]
