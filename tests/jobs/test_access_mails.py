"""Mails about access, from the act in a browser to what a real mail server receives."""

from collections.abc import Callable
from datetime import timedelta
from email.message import EmailMessage

import pytest
from flask import Flask
from sqlalchemy import select

from app.database import Database
from app.enums import Role
from app.models import User, utcnow
from app.services import credential_ends
from app.services.credentials import api_keys
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.mail_server import SmtpServer
from tests.fixtures.tenants import Tenant, make_tenant, make_user
from tests.fixtures.worker import Worker, wait_until
from tests.matrix import rotating
from tests.portal.conftest import PASSWORD_HASH, Browser

ADMIN, ZOE, NEW = (
    "partnerAdmin@northwind.example",
    "zoe@northwind.example",
    "new@northwind.example",
)


backend = runs_on(rotating("database of mails about access", BACKENDS))


@pytest.fixture
def database(fresh_database: Database) -> Database:
    """The worker is a separate process: it sees only committed rows."""
    return fresh_database


@pytest.fixture
def tenant(database: Database) -> Tenant:
    """With two administrators who can sign in."""
    with database.transaction() as session:
        tenant = make_tenant(session)
        make_user(session, tenant.partner.id, ZOE, Role.PARTNER_ADMIN)
        for user in session.scalars(select(User)):
            user.password_hash = PASSWORD_HASH
        return tenant


def text_of(message: EmailMessage) -> str:
    part = message.get_body(("plain",))
    assert part is not None
    return " ".join(part.get_content().split())


def test_mails_announce_a_new_browser_a_new_administrator_and_a_key_about_to_end(
    app: Flask, database: Database, tenant: Tenant, make_worker: Callable[..., Worker]
) -> None:
    smtp_server = SmtpServer()

    def received(count: int) -> list[EmailMessage]:
        wait_until(lambda: len(smtp_server.kept) >= count)
        return sorted(smtp_server.messages, key=lambda message: str(message["To"]))[-count:]

    with smtp_server.open() as port:
        make_worker(
            PORTAL_SMTP_URL=f"smtp://127.0.0.1:{port}", PORTAL_MAIL_FROM="no-reply@mail.example"
        ).start()

        browser = Browser(app.test_client())
        assert browser.sign_in(ADMIN).status_code == 303
        (message,) = received(1)
        assert (message["To"], message["Subject"]) == (ADMIN, "New sign-in to AI Receptionist")
        assert "127.0.0.1" in text_of(message)

        browser.post("/sign-out", page="/account")
        assert browser.sign_in(ADMIN).status_code == 303  # no news from a known browser
        smtp_server.kept.clear()
        wanted = {"email": NEW, "role": Role.PARTNER_ADMIN.value}
        assert browser.post("/users/invite", wanted, page="/users/invite").status_code == 303
        invitation, *announced = received(3)
        assert (invitation["To"], [each["To"] for each in announced]) == (NEW, [ADMIN, ZOE])
        assert {str(each["Subject"]) for each in announced} == {
            f"{NEW} was invited as a partner admin"
        }
        assert all(f"Done by {ADMIN}" in text_of(each) for each in announced)

        smtp_server.kept.clear()
        with database.transaction() as session:
            made = api_keys.create(
                session,
                tenant.caller(Role.PARTNER_ADMIN),
                organization_id=tenant.organization.id,
                name="CRM",
                expires_at=timedelta(days=13),
            )
            made.key.created_at -= timedelta(days=90)
        assert [str(each["Subject"]) for each in received(2)] == ["New API key: CRM"] * 2
        smtp_server.kept.clear()
        with database.transaction() as session:
            credential_ends.announce(session, utcnow())
        messages = received(2)
        assert [each["To"] for each in messages] == [ADMIN, ZOE]
        assert {str(each["Subject"]) for each in messages} == {"API key expires soon: CRM"}
