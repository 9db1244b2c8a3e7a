"""The contacts of a campaign as a file."""

from collections.abc import Callable
from uuid import uuid4

import pytest
from sqlalchemy.orm import Session

from app.enums import ContactAction, Role
from app.models import Campaign, User
from app.services import campaigns, contacts
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser, user_of

SignedIn = Callable[[User], Browser]
ROLES = (Role.PARTNER_ADMIN, Role.PARTNER_EDITOR, Role.ADMIN, Role.STANDARD)

pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)


def make_campaign(session: Session, tenant: Tenant) -> Campaign:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    made = campaigns.create(session, caller, tenant.organization.id, name="Wintér, recall")
    person = {"phone": "+12025550101", "firstName": "=Ann", "contactMetadata": {"City": "Hove"}}
    contacts.apply(session, made, [person], ContactAction.UPSERT)
    session.commit()
    return made


@pytest.mark.parametrize("role", ROLES)
def test_every_user_who_sees_a_campaign_can_export_its_contacts(
    session: Session, tenant: Tenant, signed_in: SignedIn, role: Role
) -> None:
    campaign = make_campaign(session, tenant)
    browser = signed_in(user_of(tenant, role))
    path = f"/campaigns/{campaign.id}/contacts.csv"
    assert f'href="{path}"' in browser.get(f"/campaigns/{campaign.id}").text
    answer = browser.get(path)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"] == (
        'attachment; filename="contacts-of-winter-recall.csv"'
    )
    assert answer.text == (
        "\ufefffirstName,lastName,email,phone,status,City,contactJson\r\n"
        "'=Ann,,,'+12025550101,,Hove,\r\n"
    )


def test_a_campaign_of_another_tenant_is_answered_like_a_missing_one(
    session: Session, tenant: Tenant, other_tenant: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    theirs = make_campaign(session, other_tenant)
    answers = [browser.get(f"/campaigns/{each}/contacts.csv") for each in (theirs.id, uuid4())]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert "12025550101" not in answers[0].text


def test_a_campaign_without_contacts_offers_no_file(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    made = campaigns.create(session, caller, tenant.organization.id, name="Empty")
    session.commit()
    page = signed_in(tenant.staff[Role.PARTNER_ADMIN]).get(f"/campaigns/{made.id}")
    assert "Empty</h1>" in page.text
    assert "contacts.csv" not in page.text
