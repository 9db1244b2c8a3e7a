"""The kept mails of an installation without a mail server, and who may look at them."""

from collections.abc import Callable
from dataclasses import replace
from uuid import uuid4

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import Role
from app.gateways.mailers import MailAttachment, OutgoingMail, open_outbox
from app.models import MailKind, User
from app.services.mail_queue import enqueue
from tests.fixtures.mails import path_in, send_waiting
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]


@pytest.fixture
def mail_ids(
    session: Session, settings: Settings, tenant: Tenant, other_tenant: Tenant
) -> list[str]:
    """A mail of each of the two partners, and one of the operator's: their ids."""
    operator = User(email="op@ops.example", email_key="op@ops.example", user_type=Role.OPERATOR)
    session.add(operator)
    session.flush()
    for user in (tenant.user, other_tenant.user, operator):
        enqueue(session, MailKind.RESET_PASSWORD, partner_id=user.partner_id, user_id=user.id)
    outbox = open_outbox(settings)
    for letter in send_waiting(session, settings):
        outbox.send(letter)
    kept = {mail.partner_id: str(mail.id) for mail in outbox.mails()}
    return [kept[tenant.partner.id], kept[other_tenant.partner.id], kept[None]]


def pages(mail_id: str) -> tuple[str, ...]:
    return (f"/outbox/{mail_id}", f"/outbox/{mail_id}?form=text", f"/outbox/{mail_id}/html")


def test_a_partner_admin_finds_the_mails_of_the_own_partner_alone(
    tenant: Tenant, other_tenant: Tenant, signed_in: SignedIn, mail_ids: list[str]
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    listed = browser.get("/outbox").text
    assert [mail_id for mail_id in mail_ids if mail_id in listed] == mail_ids[:1]
    assert tenant.user.email in listed
    assert other_tenant.user.email not in listed
    seen = [[browser.get(page).status_code for page in pages(mail_id)] for mail_id in mail_ids]
    assert seen == [[200] * 3, [404] * 3, [404] * 3]


def test_the_page_of_a_mail_has_its_attached_files(
    settings: Settings, tenant: Tenant, other_tenant: Tenant, signed_in: SignedIn
) -> None:
    file = MailAttachment("report-2026-09.pdf", "application/pdf", b"%PDF-1.7")
    letter = OutgoingMail(
        uuid4(), tenant.partner.id, "ann@example.com", None, "Northwind", None, "Report", "x", "x"
    )
    open_outbox(settings).send(replace(letter, attachments=(file,)))
    (kept,) = open_outbox(settings).mails()
    address = f"/outbox/{kept.id}/files/0"
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    page = browser.get(f"/outbox/{kept.id}").text
    assert f'href="{address}"' in page
    assert "Answers go to" not in page  # it has no address for them
    sent = browser.get(address)
    named = 'attachment; filename="report-2026-09.pdf"'
    assert (sent.data, sent.headers["Content-Disposition"]) == (file.content, named)
    assert browser.get(f"/outbox/{kept.id}/files/1").status_code == 404
    assert signed_in(other_tenant.staff[Role.PARTNER_ADMIN]).get(address).status_code == 404


def test_a_mail_to_an_address_with_letters_outside_ascii_is_shown(
    settings: Settings, tenant: Tenant, signed_in: SignedIn
) -> None:
    email, words = "jürgen@example.com", "Grüße 😀"
    open_outbox(settings).send(
        OutgoingMail(uuid4(), tenant.partner.id, email, "Jürgen", "Nord", None, words, words, words)
    )
    (kept,) = open_outbox(settings).mails()
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    for page, shown in (
        ("/outbox", email),
        (f"/outbox/{kept.id}", email),
        (f"/outbox/{kept.id}?form=text", words),
        (f"/outbox/{kept.id}/html", words),
    ):
        assert shown in browser.get(page).text.replace("<wbr>", ""), page


def test_operators_find_every_mail(
    session: Session, tenant: Tenant, other_tenant: Tenant, signed_in: SignedIn, mail_ids: list[str]
) -> None:
    operator = session.scalars(select(User).where(User.user_type == Role.OPERATOR)).one()
    browser = signed_in(operator)
    listed = browser.get("/outbox").text
    assert [mail_id for mail_id in mail_ids if mail_id not in listed] == []
    for mail_id, address in zip(
        mail_ids, (tenant.user.email, other_tenant.user.email, operator.email), strict=True
    ):
        answer = browser.get(f"/outbox/{mail_id}")
        assert answer.status_code == 200
        assert address in answer.text.replace("<wbr>", "")


@pytest.mark.parametrize("role", [Role.PARTNER_EDITOR, Role.ADMIN])
def test_other_roles_find_no_outbox(
    tenant: Tenant, signed_in: SignedIn, mail_ids: list[str], role: Role
) -> None:
    browser = signed_in(tenant.staff[role])
    assert browser.get("/outbox").status_code == 404
    assert [browser.get(page).status_code for page in pages(mail_ids[0])] == [404] * 3


def test_strangers_are_sent_to_sign_in(browser: Browser, mail_ids: list[str]) -> None:
    for page in pages(mail_ids[0]):
        answer = browser.get(page)
        to_sign_in = f"/sign-in?next={page.replace('=', '%3D')}"
        assert (answer.status_code, answer.location) == (303, to_sign_in)


@pytest.mark.parametrize(
    "changes",
    [
        {"env": "production", "public_url": "https://portal.example"},
        {"smtp_url": "smtp://127.0.0.1"},
    ],
)
def test_there_is_no_outbox_where_mails_are_sent(
    make_app: Callable[..., Flask],
    tenant: Tenant,
    mail_ids: list[str],
    signed_in: SignedIn,
    changes: dict[str, str],
) -> None:
    cookie = signed_in(tenant.staff[Role.PARTNER_ADMIN]).client.get_cookie("portal_session")
    assert cookie is not None
    client = make_app(**changes).test_client()
    client.set_cookie("portal_session", cookie.value)
    assert client.get("/").status_code == 200
    assert [client.get(page).status_code for page in ("/outbox", *pages(mail_ids[0]))] == [404] * 4


def test_a_mail_is_shown_in_a_frame_that_runs_nothing(
    tenant: Tenant, signed_in: SignedIn, mail_ids: list[str]
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    page = browser.get(f"/outbox/{mail_ids[0]}").text
    assert 'sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox"' in page
    framed = browser.get(f"/outbox/{mail_ids[0]}/html")
    policy = framed.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "frame-ancestors 'self'" in policy
    assert policy.endswith("sandbox allow-same-origin allow-popups allow-popups-to-escape-sandbox")
    assert 'target="_blank"' in framed.text


def test_the_link_of_a_kept_mail_works(
    tenant: Tenant, signed_in: SignedIn, settings: Settings, mail_ids: list[str], browser: Browser
) -> None:
    text = signed_in(tenant.staff[Role.PARTNER_ADMIN]).get(f"/outbox/{mail_ids[0]}?form=text").text
    kept = next(m for m in open_outbox(settings).mails() if str(m.id) == mail_ids[0])
    path = path_in(kept.read())
    assert f'<a href="http://localhost{path}"' in text
    assert browser.get(path).status_code == 200
