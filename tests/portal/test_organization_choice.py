"""Staff choose the organization of what they create in its form."""

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import NumberSource
from app.models import ApiKey, Assistant, Campaign, PhoneNumber, User, Webhook
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]
Form = tuple[type[Any], dict[str, Any]]
FORMS: dict[str, Form] = {
    "/assistants/new": (Assistant, {"name": "Robin", "active": "y"}),
    "/campaigns/new": (Campaign, {"name": "Robin", "who": "all"}),
    "/api-access/keys/new": (
        *(ApiKey, {"name": "Robin", "kind": "test", "scopes": ["contacts:read"]}),
    ),
    "/api-access/webhooks/new": (
        *(Webhook, {"url": "https://robin.example/hooks", "events": ["call.completed"]}),
    ),
}
of_every_form = pytest.mark.parametrize("path", FORMS)


@pytest.fixture(autouse=True)
def room_for_assistants(session: Session, tenant: Tenant) -> None:
    for organization in (tenant.organization, tenant.plus):
        organization.assistant_limit = 9
    session.commit()


def owners(session: Session, path: str) -> list[Any]:
    """The organizations of what the form created."""
    model, _typed = FORMS[path]
    rows = select(model.organization_id).where(
        model.url.contains("robin") if model is Webhook else model.name == "Robin"
    )
    return list(session.scalars(rows).all())


def sent(browser: Browser, path: str, organization: str | None, **more: Any) -> Any:
    typed = {**FORMS[path.partition("?")[0]][1], **more}
    if organization is not None:
        typed["organization"] = organization
    return browser.post(path, typed, page=path)


def field_of(page: str) -> str:
    [value] = re.findall(r'<input[^>]*name="organization"[^>]*value="([^"]*)"', page)
    return unescape(value)


@of_every_form
def test_the_organization_is_chosen_by_its_name(
    session: Session, tenant: Tenant, admin: Browser, path: str
) -> None:
    assert field_of(admin.get(path).text) == ""
    answer = sent(admin, path, f" {tenant.plus.name.upper()} ")
    assert answer.status_code in (200, 303)
    assert owners(session, path) == [tenant.plus.id]


@of_every_form
def test_a_missing_or_unknown_name_is_refused_and_the_form_keeps_its_values(
    session: Session, tenant: Tenant, other_tenant: Tenant, admin: Browser, path: str
) -> None:
    misspelt = tenant.organization.name[:-1]
    expected = {
        " ": "Enter the organization.",
        misspelt: f"Did you mean “{tenant.organization.name}”?",
        other_tenant.plus.name: f"There is no organization called “{other_tenant.plus.name}”.",
    }
    for name, words in expected.items():
        answer = sent(admin, path, name)
        assert (answer.status_code, unescape(answer.text).count(words)) == (422, 2)
        assert "obin" in answer.text
    assert owners(session, path) == []


def test_a_new_key_shows_the_problems_of_all_its_fields_at_once(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    path = "/api-access/keys/new"
    blank = sent(admin, path, "", name=" ", scopes=[]).text
    for words in ("Enter the organization.", "Enter a name of 1", "Choose at least one permission"):
        assert blank.count(words) == 2, words
    assert owners(session, path) == []


def test_a_new_assistant_without_an_organization_shows_the_problem_of_its_number(
    admin: Browser,
) -> None:
    page = sent(admin, "/assistants/new", "", name=" ", phone_number="+1 12").text
    assert all(f'id="{field}-error"' in page for field in ("organization", "name", "phone_number"))


def test_a_new_webhook_without_an_organization_shows_its_other_problems(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    path = "/api-access/webhooks/new"
    blank = sent(admin, path, "", url=" ", events=[]).text
    for words in ("Enter the organization.", "Enter an address like", "Choose at least one event."):
        assert blank.count(words) == 2, words
    assert owners(session, path) == []


@of_every_form
def test_the_organization_of_the_address_is_filled_in_and_another_can_be_typed(
    session: Session, tenant: Tenant, admin: Browser, path: str
) -> None:
    there = f"{path}?organization={tenant.organization.id}"
    assert field_of(admin.get(there).text) == tenant.organization.name
    sent(admin, there, tenant.plus.name, once="a1")
    sent(admin, there, None, once="a2")
    assert set(owners(session, path)) == {tenant.plus.id, tenant.organization.id}


@of_every_form
def test_the_organization_of_the_address_is_chosen_among_those_of_the_same_name(
    session: Session, tenant: Tenant, admin: Browser, path: str
) -> None:
    tenant.plus.name = tenant.organization.name
    session.commit()
    refused = sent(admin, path, tenant.plus.name)
    assert refused.status_code == 422
    assert "Several organizations are called" in refused.text
    sent(admin, f"{path}?organization={tenant.plus.id}", tenant.plus.name)
    assert owners(session, path) == [tenant.plus.id]


def test_the_organization_of_a_new_assistant_shows_its_use_of_the_limit(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    page = f"/assistants/new?organization={tenant.organization.id}"
    tenant.organization.assistant_limit = 0
    session.commit()
    assert "1 assistant, no limit" in admin.get(page).text
    tenant.organization.assistant_limit = 2
    session.commit()
    assert "1 of 2 assistants" in admin.get(page).text


def test_members_always_create_in_their_own_organization(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.user)
    sent(browser, "/campaigns/new", tenant.plus.name)
    assert owners(session, "/campaigns/new") == [tenant.user.organization_id]


def test_a_choice_shows_what_depends_on_it_and_creates_nothing(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    ids = {"partner_id": tenant.partner.id, "organization_id": tenant.plus.id}
    number = PhoneNumber(number="+12025550161", source=NumberSource.ASSIGNED, **ids)
    number.confirmed_by = ""
    session.add(number)
    session.commit()
    assert "+12025550161" not in admin.get("/assistants/new").text
    page = sent(admin, "/assistants/new", tenant.plus.name, refresh="yes")
    assert page.status_code == 200
    assert "+12025550161" in page.text
    assert re.search(r"\d of 9 assistants", page.text)
    assert "local to the person called" in page.text or "Calls at any hour" in page.text
    assert field_of(page.text) == tenant.plus.name
    assert owners(session, "/assistants/new") == []


def test_a_new_assistant_names_the_problems_of_all_its_fields_at_once(admin: Browser) -> None:
    refused = sent(admin, "/assistants/new", "", name=" ", timezone="Mars")
    assert refused.status_code == 422
    for words in ("Enter the organization.", "Enter a name.", "time zone"):
        assert words in refused.text.partition('role="alert"')[2].partition("</div>")[0], words
    again = sent(admin, "/assistants/new", "", name=" ", refresh="yes")
    assert again.status_code == 200
    assert "Enter a name." not in again.text


def test_a_campaign_offers_the_assistants_of_the_chosen_organization(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    path, some = "/campaigns/new", {"who": "some"}
    theirs = session.scalars(
        select(Assistant).where(Assistant.organization_id == tenant.organization.id)
    ).all()
    box = f'value="{theirs[0].id}"'
    assert "Enter the organization to see its assistants." in admin.get(path).text
    assert box in sent(admin, path, tenant.organization.name, refresh="yes", **some).text
    assert box not in sent(admin, path, tenant.plus.name, refresh="yes", **some).text
    refused = sent(admin, path, tenant.organization.name, **some)
    assert refused.status_code == 422
    assert box in refused.text
    assert refused.text.count("Select at least one assistant") == 2
    blank = sent(admin, path, "", name=" ", **some).text
    for words in ("Enter the organization.", "Enter a name.", "Select at least one"):
        assert blank.count(words) == 2, words
    of_others = sent(admin, path, tenant.plus.name, assistants=[str(theirs[0].id)], **some)
    assert (of_others.status_code, owners(session, path)) == (422, [])
    made = sent(admin, path, tenant.organization.name, assistants=[str(theirs[0].id)], **some)
    assert (made.status_code, owners(session, path)) == (303, [tenant.organization.id])
