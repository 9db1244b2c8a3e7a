"""Two people in the studio at once, and rows in their order: nothing typed is lost."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.enums import Role
from app.models import User
from app.services import partners
from app.services.branding import drafts
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.portal.conftest import Browser, in_conflict
from tests.portal.test_branding import picture

SignedIn = Callable[[User], Browser]

PAGE = "/branding"
LINKS = [
    {"label": label, "url": f"https://{label.lower()}.northwind.example/"}
    for label in ("Help", "Status", "Contact")
]


def form(**changes: str) -> dict[str, str]:
    typed = {"product_name": "Northwind Voice", "colour": "#1c7a4d", "chat_assistant_id": ""}
    for place, link in enumerate(LINKS):
        typed |= {f"header_links-{place}-{name}": value for name, value in link.items()}
    return {**typed, **changes}


def hidden(html: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]+)"', html)
    assert found
    return found.group(1)


def send(
    browser: Browser, opened: str, path: str, data: Mapping[str, Any], *, typing: bool = False
) -> TestResponse:
    """A form as it was filled from the page ``opened``."""
    marks = {name: hidden(opened, name) for name in ("csrf_token", "version")}
    headers = {"HX-Request": "true"} if typing else {}
    return browser.client.post(path, data={**marks, **data}, headers=headers)


def draft(session: Session, tenant: Tenant) -> dict[str, Any]:
    session.expire_all()
    partner = partners.get(session, OPERATOR, tenant.partner.id)
    return drafts.content_of(session, OPERATOR, partner)


def labels(session: Session, tenant: Tenant) -> list[str]:
    return [link["label"] for link in draft(session, tenant)["customHeaderLinks"] or []]


@pytest.fixture
def editor(tenant: Tenant, signed_in: SignedIn) -> Browser:
    return signed_in(tenant.staff[Role.PARTNER_EDITOR])


def test_the_second_user_to_save_sees_who_was_first_and_what_differs(
    editor: Browser, admin: Browser, tenant: Tenant, session: Session
) -> None:
    opened = editor.get(PAGE).text
    send(admin, admin.get(PAGE).text, PAGE, form(product_name="The admin’s"))
    answer = send(editor, opened, PAGE, form(product_name="The editor’s"))
    assert answer.status_code == 409
    assert "partnerAdmin@northwind.example changed this" in answer.text
    assert in_conflict(answer.text) == {"Product name": ("The admin’s", "The editor’s")}
    assert 'value="The editor’s"' in answer.text
    assert draft(session, tenant)["productName"] == "The admin’s"
    again = send(editor, answer.text, PAGE, form(product_name="The editor’s"))
    assert again.status_code == 303
    assert draft(session, tenant)["productName"] == "The editor’s"


def test_typing_over_another_users_changes_saves_nothing_and_reports_it(
    editor: Browser, admin: Browser, tenant: Tenant, session: Session
) -> None:
    opened = editor.get(PAGE).text
    send(admin, admin.get(PAGE).text, PAGE, form(product_name="The admin’s"))
    answer = send(editor, opened, PAGE, form(product_name="The editor’s"), typing=True)
    assert answer.status_code == 200
    assert "changed this" in answer.text
    assert 'id="studio-version"' not in answer.text
    assert draft(session, tenant)["productName"] == "The admin’s"


def test_typing_continues_from_the_last_saved_draft(editor: Browser) -> None:
    opened = editor.get(PAGE).text
    first = send(editor, opened, PAGE, form(product_name="N"), typing=True)
    token, seen = hidden(opened, "csrf_token"), hidden(first.text, "version")
    second = editor.client.post(
        PAGE,
        data={**form(product_name="No"), "csrf_token": token, "version": seen},
        headers={"HX-Request": "true"},
    )  # fmt: skip
    assert "changed this" not in second.text
    assert 'value="No"' in editor.get(PAGE).text


def test_sending_the_same_draft_twice_is_harmless(
    editor: Browser, tenant: Tenant, session: Session
) -> None:
    opened = editor.get(PAGE).text
    for _sending in range(2):
        send(editor, opened, PAGE, form())
    assert draft(session, tenant)["productName"] == "Northwind Voice"


def test_a_review_includes_unsaved_changes(
    editor: Browser, tenant: Tenant, session: Session
) -> None:
    send(editor, editor.get(PAGE).text, PAGE, form())
    typed = form(product_name="Typed")
    answer = send(editor, editor.get(PAGE).text, "/branding/review", typed)
    assert (answer.status_code, answer.location) == (303, "/branding/review")
    answer = send(editor, editor.get("/branding/review").text, "/branding/publish", {})
    assert (answer.status_code, answer.location) == (303, "/branding?published=1")
    session.expire_all()
    assert partners.get(session, OPERATOR, tenant.partner.id).product_name == "Typed"


def test_a_picture_chosen_after_another_users_change_is_refused_at_its_field(
    editor: Browser, admin: Browser, tenant: Tenant, session: Session
) -> None:
    opened = editor.get(PAGE).text
    send(admin, admin.get(PAGE).text, PAGE, form(product_name="The admin’s"))
    logo = {"picture": (picture(), "logo.png")}
    answer = send(editor, opened, "/branding/images/logo", logo, typing=True)
    assert answer.status_code == 200
    assert 'id="logo-error"' in answer.text
    assert hidden(answer.text, "version") == hidden(opened, "version")
    assert draft(session, tenant)["logoImgUrl"] is None


def test_a_draft_that_changed_since_it_was_looked_at_is_not_published(
    editor: Browser, admin: Browser, tenant: Tenant, session: Session
) -> None:
    send(editor, editor.get(PAGE).text, PAGE, form())
    opened = editor.get("/branding/review").text
    send(admin, admin.get(PAGE).text, PAGE, form(product_name="The admin’s"))
    answer = send(editor, opened, "/branding/publish", {})
    assert answer.status_code == 409
    assert "The admin’s" in answer.text
    session.expire_all()
    assert partners.get(session, OPERATOR, tenant.partner.id).product_name == "AI Receptionist"


@pytest.mark.parametrize(
    ("path", "order"),
    [
        ("1/up", ["Status", "Help", "Contact"]),
        ("1/down", ["Help", "Contact", "Status"]),
        ("0/up", ["Help", "Status", "Contact"]),
        ("2/down", ["Help", "Status", "Contact"]),
        ("0/remove", ["Status", "Contact"]),
        ("77/remove", ["Help", "Status", "Contact"]),
    ],
)
def test_rows_are_moved_by_buttons_and_unsaved_changes_are_kept(
    editor: Browser, tenant: Tenant, session: Session, path: str, order: list[str]
) -> None:
    opened = editor.get(PAGE).text
    answer = send(editor, opened, f"/branding/rows/header_links/{path}", form(product_name="Typed"))
    assert answer.status_code == 303
    assert answer.location == "/branding?saved=1#header_links"
    assert labels(session, tenant) == order
    assert draft(session, tenant)["productName"] == "Typed"


def test_a_row_is_not_moved_if_the_form_has_a_problem(
    editor: Browser, tenant: Tenant, session: Session
) -> None:
    opened = editor.get(PAGE).text
    answer = send(editor, opened, "/branding/rows/header_links/1/up", form(colour="greenish"))
    assert answer.status_code == 422
    assert answer.text.index('value="Help"') < answer.text.index('value="Status"')
    assert labels(session, tenant) == []


def test_a_wrong_row_is_named_in_the_summary(editor: Browser) -> None:
    answer = send(
        editor, editor.get(PAGE).text, PAGE, form(**{"header_links-1-url": "javascript:alert(1)"})
    )
    assert answer.status_code == 422
    assert '<a href="#header_links-1-url">Header link 2, address: ' in answer.text


def test_the_colours_of_the_chat_are_checked_and_the_names_of_others_are_kept(
    editor: Browser, tenant: Tenant, session: Session
) -> None:
    tenant.partner.chat_template_colors = {"ours": "#123456", "header": "#fff"}
    session.commit()
    wrong = send(editor, editor.get(PAGE).text, PAGE, form(chat_visitor="reddish"))
    assert wrong.status_code == 422
    assert 'id="chat_visitor-error"' in wrong.text
    send(editor, editor.get(PAGE).text, PAGE, form(chat_visitor="red", chat_header=""))
    assert draft(session, tenant)["chatTemplateColors"] == {"ours": "#123456", "visitor": "red"}


def test_only_an_offered_shade_can_be_chosen(
    editor: Browser, tenant: Tenant, session: Session
) -> None:
    answer = editor.post("/branding/shade", {"shade": "#00ff00"}, page=PAGE)
    assert answer.status_code == 404
    assert draft(session, tenant)["brandUIColors"] is None
