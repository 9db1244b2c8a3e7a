"""Every cookie that every flow has set opens nothing after its session has ended.

The cookies and forms of all flows are recorded. After a sign-out, a new password and a removal each
cookie is sent with each form of a public route.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import Role, UserStatus
from app.models import LinkPurpose, PortalSession, User, utcnow
from app.policy import ROUTES, OpenAccess
from app.services import users
from app.services.auth import email_changes, one_time_links
from app.services.auth.email_changes import AddressSide
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.matrix import rotating
from tests.portal.conftest import PASSWORD, PASSWORD_HASH, Browser

COOKIE = "portal_session"
NEW_PASSWORD = "staple battery horse correct"
Form = dict[str, str]


class Recorder:
    """Walks through the flows and keeps each value of the session cookie and each form."""

    def __init__(self, app: Flask, session: Session, tenant: Tenant, other_tenant: Tenant):
        self.app, self.session, self.tenant = app, session, tenant
        self.cookies: set[str] = set()
        self.forms: set[tuple[str, tuple[tuple[str, str], ...]]] = set()
        other_tenant.user.email = other_tenant.user.email_key = tenant.user.email
        tenant.user.last_sign_in = utcnow()
        session.commit()

    def browser(self) -> Browser:
        client = self.app.test_client()
        self._watch(client)
        return Browser(client)

    def _watch(self, client: FlaskClient) -> None:
        original = client.open

        def watching(*args: Any, **more: Any) -> Any:
            answer = original(*args, **more)
            for line in answer.headers.getlist("Set-Cookie"):
                found = re.match(rf"{COOKIE}=([^;]+)", line)
                if found:
                    self.cookies.add(found.group(1))
            path = args[0] if args and isinstance(args[0], str) else ""
            data = more.get("data")
            if more.get("method") == "POST" and isinstance(data, dict):
                self.forms.add((path, tuple(sorted(data.items()))))
            return answer

        client.open = watching  # type: ignore[method-assign]  # records what it does

    def walk(self) -> None:
        """Sign-in, choice, reset, invitation, confirmed address, new password, sign-outs."""
        slug, user = self.tenant.partner.slug, self.tenant.user
        page = f"/p/{slug}/sign-in"
        for path in (page, "/sign-in"):
            browser = self.browser()
            asked = browser.sign_in(user.email, path=path)
            if path == "/sign-in":
                [token] = re.findall(r'name="token" value="([^"]+)"', asked.text)
                browser.post("/sign-in/choose", {"account": str(user.id), "token": token})
            browser.post(
                "/account/password", {"current_password": "wrong", "password": "x", "again": "x"}
            )
            browser.post("/sign-out", page="/account")
        unused = self.browser().sign_in(user.email)
        [token] = re.findall(r'name="token" value="([^"]+)"', unused.text)
        choice = {"account": str(user.id), "token": token}
        self.forms.add(("/sign-in/choose", tuple(sorted(choice.items()))))
        reset = one_time_links.create(self.session, user.id, LinkPurpose.RESET_PASSWORD)
        invited = users.invite(
            self.session,
            self.tenant.caller(Role.PARTNER_ADMIN),
            email="ida@northwind.example",
            user_type=Role.ADMIN,
            partner_id=self.tenant.partner.id,
        )
        invitation = one_time_links.create(self.session, invited.id, LinkPurpose.INVITATION)
        change = email_changes.create(
            self.session, user.id, "olga2@northwind.example", requested_by="x", requested_by_id=None
        )
        made = [email_changes.new_token(self.session, change.id, side) for side in AddressSide]
        self.session.commit()
        typed = {"password": NEW_PASSWORD, "again": NEW_PASSWORD}
        for path in (f"/p/{slug}/password/{reset}", f"/p/{slug}/invitation/{invitation}"):
            browser = self.browser()
            browser.post(path, typed, page=path)
            browser.get("/")
        for link in made:
            assert link is not None
            path = f"/p/{slug}/email/{link[0]}"
            self.browser().post(path, page=path)

    def public_forms(self) -> Iterator[tuple[str, Form]]:
        """Each recorded form of a public route, and each public route with a plain one."""
        adapter = self.app.url_map.bind("localhost")
        slug = self.tenant.partner.slug
        for path, data in sorted(self.forms):
            if ROUTES[adapter.match(path, "POST")[0]] is OpenAccess.PUBLIC:
                yield path, dict(data)
        for rule in self.app.url_map.iter_rules():
            is_public = ROUTES[rule.endpoint] is OpenAccess.PUBLIC
            if is_public and "POST" in (rule.methods or ()) and rule.endpoint.startswith("portal."):
                yield rule.rule.replace("<slug>", slug).replace("<token>", "x" * 43), {}


def end_by(how: str, session: Session, people: list[User]) -> None:
    for user in people:
        if how == "password":
            users.set_password(session, OPERATOR, user, PASSWORD_HASH)
        elif user.status is not UserStatus.DEACTIVATED:
            users.deactivate(session, OPERATOR, user.id)


@pytest.mark.parametrize("how", rotating("way a session ends", ["sign-out", "password", "removal"]))
def test_a_recorded_cookie_never_opens_an_ended_session(
    make_app: Callable[..., Flask],
    session: Session,
    settings: Settings,
    tenant: Tenant,
    other_tenant: Tenant,
    how: str,
) -> None:
    app = make_app(failed_sign_ins=100_000)
    recorder = Recorder(app, session, tenant, other_tenant)
    recorder.walk()
    people = list(session.scalars(select(User).where(User.partner_id == tenant.partner.id)))
    forms = list(recorder.public_forms())
    if how == "sign-out":
        for cookie in sorted(recorder.cookies):
            client = app.test_client()
            client.set_cookie(COOKIE, cookie)
            csrf = _csrf(client)
            client.post("/sign-out", data={"csrf_token": csrf})
    else:
        end_by(how, session, [user for user in people if user.user_type is not Role.PARTNER_ADMIN])
        session.commit()
    before = session.scalar(select(func.count()).select_from(PortalSession))
    opened = []
    for cookie in sorted(recorder.cookies):
        client = app.test_client()
        client.set_cookie(COOKIE, cookie)
        csrf = _csrf(client)  # a cookie without a token for forms gets one
        kept = client.get_cookie(COOKIE)
        assert kept is not None
        if client.get("/account").status_code == 200:
            opened.append(cookie)
        for path, data in forms:
            if PASSWORD in data.values() or path.endswith("/sign-out"):
                continue  # knows the password, or ends what there is
            client.set_cookie(COOKIE, kept.value)
            client.post(path, data={**data, "csrf_token": csrf})
    after = session.scalar(select(func.count()).select_from(PortalSession))
    assert (opened, after) == ([], before)
    assert len(recorder.cookies) >= 10
    assert len(forms) >= 15


def _csrf(client: FlaskClient) -> str:
    shown = client.get("/sign-in", follow_redirects=True).text
    found = re.search(r'name="csrf_token" value="([^"]+)"', shown)
    return found.group(1) if found else ""
