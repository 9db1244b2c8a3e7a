"""The chat bubble: offered where the partner wants it; what is written is mailed to support."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import Mail, MailKind, User
from app.services import chat
from app.services.branding.chat_colours import chat_sheet
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]

FORM = {"message": "Can I move my appointment?", "email": "ada@example.com", "name": "Ada"}


@pytest.fixture
def tenant_with_chat(tenant: Tenant, session: Session) -> Tenant:
    """The partner, offering the chat."""
    tenant.partner.show_embedded_chat = True
    tenant.partner.chat_assistant_id = "an-assistant"
    tenant.partner.support_email = "support@northwind.example"
    session.commit()
    return tenant


def page_of(tenant: Tenant) -> str:
    return f"/p/{tenant.partner.slug}/chat"


def mails(session: Session) -> list[tuple[str | None, dict[str, Any]]]:
    query = select(Mail).where(Mail.kind == MailKind.CHAT_MESSAGE.value).order_by(Mail.id)
    return [(mail.to, dict(mail.details)) for mail in session.scalars(query)]


def test_a_visitors_message_becomes_a_mail_to_support(
    browser: Browser, tenant_with_chat: Tenant, session: Session
) -> None:
    page = page_of(tenant_with_chat)
    answer = browser.post(page, FORM, page=page)
    assert (answer.status_code, answer.location) == (303, f"{page}?sent=1")
    assert mails(session) == [
        (
            "support@northwind.example",
            {"name": "Ada", "email": "ada@example.com", "message": "Can I move my appointment?"},
        )
    ]
    assert "answers by email" in browser.get(answer.location).text


def test_a_user_who_is_signed_in_is_asked_only_for_the_message(
    tenant_with_chat: Tenant, signed_in: SignedIn, session: Session
) -> None:
    member = signed_in(tenant_with_chat.user)
    page = member.get("/chat").text
    assert 'name="email"' not in page
    assert "The answer is sent to olga@northwind.example." in page
    answer = member.post("/chat", {**FORM, "email": "forged@example.com"}, page="/chat")
    assert answer.location == "/chat?sent=1"
    [(_to, details)] = mails(session)
    assert details["email"] == "olga@northwind.example"


def test_the_chat_says_that_a_person_answers(browser: Browser, tenant_with_chat: Tenant) -> None:
    assert "A person answers by email." in browser.get(page_of(tenant_with_chat)).text


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("message", " \n ", "Enter a message."),
        ("message", "x" * 2001, "2,001 characters are too many. Use at most 2,000."),
        ("email", "", "Enter your email address for the answer"),
        ("email", "nobody", "Enter an email like"),
        ("email", "ada@example.com\r\nBcc: all@example.com", "Enter an email like"),
    ],
)
def test_a_message_that_can_not_be_answered_is_refused_and_kept_in_its_field(
    browser: Browser, tenant_with_chat: Tenant, session: Session, field: str, value: str, words: str
) -> None:
    page = page_of(tenant_with_chat)
    answer = browser.post(page, {**FORM, field: value}, page=page)
    assert answer.status_code == 422
    assert words in answer.text.partition(f'id="chat-{field}-error"')[2].partition("</p>")[0]
    assert 'value="Ada"' in answer.text
    assert mails(session) == []


def test_the_same_message_sent_twice_is_one_mail(
    browser: Browser, tenant_with_chat: Tenant, session: Session
) -> None:
    page = page_of(tenant_with_chat)
    for _sending in range(2):
        assert browser.post(page, FORM, page=page).status_code == 303
    assert len(mails(session)) == 1


@pytest.mark.usefixtures("clock")
def test_many_messages_from_one_address_are_stopped_with_the_time_to_wait(
    browser: Browser, tenant_with_chat: Tenant, session: Session
) -> None:
    page = page_of(tenant_with_chat)
    for number in range(chat.MAX_FROM_ONE_SENDER):
        browser.post(page, {**FORM, "message": f"Question {number}"}, page=page)
    answer = browser.post(page, {**FORM, "message": "One more"}, page=page)
    assert answer.status_code == 429
    assert answer.headers["Retry-After"] == "120"
    assert "Send it again in 2 minutes." in answer.text
    assert "One more</textarea>" in answer.text
    assert len(mails(session)) == chat.MAX_FROM_ONE_SENDER


@pytest.mark.usefixtures("clock")
def test_colleagues_in_one_office_may_each_write_as_much_as_one_person(
    browser: Browser, tenant_with_chat: Tenant, signed_in: SignedIn, session: Session
) -> None:
    page = page_of(tenant_with_chat)
    for number in range(chat.MAX_FROM_ONE_SENDER):
        browser.post(page, {**FORM, "message": f"Question {number}"}, page=page)
    olga, another = signed_in(tenant_with_chat.user), signed_in(tenant_with_chat.plus_user)
    answers = [
        olga.post("/chat", {"message": f"My question {number}"}, page="/chat").status_code
        for number in range(chat.MAX_FROM_ONE_SENDER + 1)
    ]
    assert answers == [*[303] * chat.MAX_FROM_ONE_SENDER, 429]
    assert another.post("/chat", {"message": "And mine"}, page="/chat").status_code == 303
    assert len(mails(session)) == 2 * chat.MAX_FROM_ONE_SENDER + 1


@pytest.mark.parametrize("lacking", ["show_embedded_chat", "chat_assistant_id", "support_email"])
def test_no_chat_is_offered_if_messages_could_not_be_delivered(
    browser: Browser, tenant_with_chat: Tenant, session: Session, lacking: str
) -> None:
    slug = tenant_with_chat.partner.slug
    assert f'href="/p/{slug}/chat"' in browser.get(f"/p/{slug}/sign-in").text
    setattr(tenant_with_chat.partner, lacking, False if lacking == "show_embedded_chat" else None)
    session.commit()
    assert "chat-button" not in browser.get(f"/p/{slug}/sign-in").text
    assert browser.get(page_of(tenant_with_chat)).status_code == 404
    assert browser.post(page_of(tenant_with_chat), FORM).status_code == 404
    assert mails(session) == []


def test_the_neutral_portal_and_other_partners_have_no_chat(
    browser: Browser, tenant_with_chat: Tenant, other_tenant: Tenant
) -> None:
    assert browser.get("/chat").status_code == 404
    assert browser.get(page_of(other_tenant)).status_code == 404
    assert browser.get("/p/nobody/chat").status_code == 404


def test_the_bubble_is_in_the_portal_in_the_partners_chat_colours(
    tenant_with_chat: Tenant, signed_in: SignedIn, session: Session
) -> None:
    tenant_with_chat.partner.chat_template_colors = {
        "header": "rebeccapurple",
        "visitor": "#ffd400",
    }
    session.commit()
    member = signed_in(tenant_with_chat.staff[Role.ADMIN])
    page = member.get("/").text
    assert '<a class="chat-button" href="/chat"' in page
    address = re.search(r'href="(/brand/chat/[^"]+\.css)"', page)
    assert address
    sheet = member.get(address.group(1))
    assert sheet.text == chat_sheet("#3f4a5a", {"header": "#663399", "visitor": "#ffd400"}).css
    assert "--chat-header: light-dark(#663399, #663399);" in sheet.text
    assert "--chat-visitor-on: light-dark(#1e1b18, #1e1b18);" in sheet.text
    assert sheet.headers["Cache-Control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize("address", ["x", "7a2e6b.x.x.x", "zzzzzz.x.x.x.x", "7a2e6b.x.x.x.red;"])
def test_a_style_sheet_has_only_one_address(browser: Browser, address: str) -> None:
    assert browser.get(f"/brand/chat/{address}-0000000000000000.css").status_code == 404
