"""Verifying a number to call from, on the portal's screens."""

from collections.abc import Callable
from uuid import UUID

import pytest
from flask import Flask, g
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import NumberSource, Role, UserStatus
from app.errors import Unauthenticated
from app.extensions import transaction
from app.models import Assistant, Call, Organization, PhoneNumber, User, VerifiedNumber
from app.services import phone_numbers
from app.services.verified_numbers.codes import code_of
from tests.fixtures.settings import SECRET_KEY
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.portal.conftest import Browser
from tests.portal.page_text import body_text

SignIn = Callable[[User], Browser]
NUMBER = "+12125551000"
LIST = "/numbers"
BUTTON = 'href="/numbers/verify'


@pytest.fixture
def organization(session: Session, tenant: Tenant) -> Organization:
    """It has an assistant that can call."""
    query = select(Assistant).where(Assistant.organization_id == tenant.plus.id)
    assistant = session.scalars(query).one()
    assistant.phone_number, assistant.phone_enabled = "+12025550199", True
    assistant.phone_configured = True
    session.commit()
    return tenant.plus


@pytest.fixture
def page(organization: Organization) -> str:
    return f"/numbers/verify?organization={organization.id}"


def code_for(session: Session, path: str) -> str:
    session.expire_all()
    number = session.get_one(VerifiedNumber, UUID(path.rpartition("/")[2]))
    return code_of(number.call_id, SECRET_KEY)


def owner_of(session: Session) -> list[tuple[UUID | None, NumberSource]]:
    session.expire_all()
    rows = session.scalars(select(PhoneNumber).where(PhoneNumber.number == NUMBER))
    return [(row.organization_id, row.source) for row in rows]


def test_the_code_of_the_call_confirms_the_number(
    session: Session, organization: Organization, page: str, admin: Browser
) -> None:
    assert BUTTON in admin.get(LIST).text
    assert organization.name in body_text(admin.get("/numbers/verify"))
    sent = admin.post(page, {"number": "+1 212 555 1000"}, page=page)
    assert sent.status_code == 303
    assert "Waiting for the code" in body_text(admin.get(page))
    code = code_for(session, sent.location)
    wrong = admin.post(sent.location, {"code": f"{(int(code) + 1) % 10**6:06}"}, page=sent.location)
    assert "This code is wrong. You have 4 more tries." in body_text(wrong)
    assert owner_of(session) == []
    right = admin.post(sent.location, {"code": code}, page=sent.location)
    assert (right.status_code, right.location) == (303, f"{LIST}?organization={organization.id}")
    assert owner_of(session) == [(organization.id, NumberSource.VERIFICATION_CALL)]
    listed = body_text(admin.get(right.location)).replace("\u00a0", " ")
    for text in ("+1 212 555 1000 is confirmed.", "Verification call", "Ready to call"):
        assert text in listed
    assert "Calls over a carrier account can come from it." in body_text(admin.get(sent.location))
    refused = admin.post(page, {"number": NUMBER}, page=page)
    assert refused.status_code == 422
    assert "This number is already confirmed for the organization." in body_text(refused)


def test_calling_again_starts_another_call_for_the_same_purpose(
    session: Session, page: str, admin: Browser
) -> None:
    sent = admin.post(page, {"number": NUMBER}, page=page)
    assert f'action="{page}"' in admin.get(sent.location).text
    again = admin.post(page, {"number": NUMBER}, page=sent.location)
    assert again.location == sent.location
    assert len(session.scalars(select(Call.id)).all()) == 2


def test_a_number_of_another_tenant_is_refused_even_with_the_right_code(
    session: Session, other_tenant: Tenant, page: str, admin: Browser
) -> None:
    phone_numbers.assign(session, OPERATOR, other_tenant.plus.id, [NUMBER])
    session.commit()
    sent = admin.post(page, {"number": NUMBER}, page=page)
    typed = {"code": code_for(session, sent.location)}
    refused = admin.post(sent.location, typed, page=sent.location)
    assert refused.status_code == 422
    assert str(phone_numbers.NOT_ASSIGNED).replace("'", "’") in body_text(refused)
    assert owner_of(session) == [(other_tenant.plus.id, NumberSource.ASSIGNED)]


def test_a_number_that_another_tenant_only_simulated_gives_way(
    session: Session, other_tenant: Tenant, organization: Organization, page: str, admin: Browser
) -> None:
    session.add(
        PhoneNumber(
            number=NUMBER,
            partner_id=other_tenant.partner.id,
            organization_id=other_tenant.plus.id,
            source=NumberSource.SIMULATED,
            confirmed_by="tests",
        )
    )
    session.commit()
    sent = admin.post(page, {"number": NUMBER}, page=page)
    typed = {"code": code_for(session, sent.location)}
    assert admin.post(sent.location, typed, page=sent.location).status_code == 303
    assert owner_of(session) == [(organization.id, NumberSource.VERIFICATION_CALL)]


def test_removing_the_entry_of_the_call_keeps_the_number(
    session: Session, organization: Organization, page: str, admin: Browser
) -> None:
    sent = admin.post(page, {"number": NUMBER}, page=page)
    admin.post(sent.location, {"code": code_for(session, sent.location)}, page=sent.location)
    asked = body_text(admin.get(f"{sent.location}/remove"))
    assert f"A number that {organization.name} can call from stays confirmed." in asked
    assert admin.post(f"{sent.location}/remove", page=page).location == page
    assert session.scalars(select(VerifiedNumber.id)).all() == []
    assert owner_of(session) == [(organization.id, NumberSource.VERIFICATION_CALL)]


def test_an_organization_without_a_number_is_referred_to_the_operator(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    page = f"/numbers/verify?organization={tenant.organization.id}"
    refused = admin.post(page, {"number": NUMBER}, page=page)
    assert refused.status_code == 422
    assert "Ask the platform operator to assign your first number" in body_text(refused)
    assert session.scalars(select(Call.id)).all() == []


def test_a_user_who_lost_the_role_sees_no_form_and_confirms_nothing(
    session: Session, tenant: Tenant, page: str, admin: Browser
) -> None:
    sent = admin.post(page, {"number": NUMBER}, page=page)
    code = code_for(session, sent.location)
    tenant.staff[Role.PARTNER_ADMIN].user_type = Role.PARTNER_EDITOR
    session.commit()
    assert 'name="code"' not in admin.get(sent.location).text
    answer = admin.post(sent.location, {"code": code}, page="/account")
    assert (answer.status_code, owner_of(session)) == (404, [])


def test_a_transaction_over_all_tenants_checks_its_author_when_it_commits(
    app: Flask, session: Session, tenant: Tenant
) -> None:
    tenant.staff[Role.PARTNER_ADMIN].status = UserStatus.SUSPENDED
    session.commit()
    with app.test_request_context("/numbers/verify", method="POST"):
        g.caller = tenant.caller(Role.PARTNER_ADMIN)
        with pytest.raises(Unauthenticated), transaction(all_tenants=True):
            pass


def test_only_those_who_may_call_and_change_organizations_verify_numbers(
    session: Session,
    tenant: Tenant,
    other_tenant: Tenant,
    page: str,
    admin: Browser,
    signed_in: SignIn,
) -> None:
    sent = admin.post(page, {"number": NUMBER}, page=page)
    posts = (page, sent.location, f"{sent.location}/remove")
    typed = {"number": NUMBER, "code": code_for(session, sent.location)}
    for user in (
        tenant.staff[Role.PARTNER_EDITOR],
        tenant.plus_user,
        other_tenant.staff[Role.PARTNER_ADMIN],
    ):
        browser = signed_in(user)
        assert browser.get(page).status_code == 404
        assert {browser.post(path, typed, page="/account").status_code for path in posts} == {404}
    assert BUTTON not in signed_in(tenant.staff[Role.PARTNER_EDITOR]).get(LIST).text
    assert owner_of(session) == []


def test_the_operator_assigns_numbers_instead(page: str, operator: Browser) -> None:
    assert BUTTON not in operator.get(LIST).text
    assert operator.get(page).status_code == 404
