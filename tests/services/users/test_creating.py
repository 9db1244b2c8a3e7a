"""New users and what is created with them."""

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import Role, Tier, UserStatus
from app.errors import NotFound, ValidationFailed
from app.models import Assistant, AuditEntry, Organization, User, new_id
from app.schemas.parsing import read
from app.schemas.users import CreateAdminInput, CreatePartialUserInput
from app.services import users
from tests.fixtures.tenants import STAFF, make_partner, make_tenant, make_user, organization_of


def test_a_standard_user_comes_with_an_organization_and_an_assistant(session: Session) -> None:
    partner = make_partner(session, defaultAgentLimit=4, defaultAgentName="Nora")
    user = make_user(
        session,
        partner.id,
        "Ada@Hillside.example",
        businessName="Hillside Dental",
        tier=Tier.BASIC.value,
        service="dentist",
        agentTimezone="Europe/London",
    )
    organization = organization_of(session, user)
    assistant = session.scalars(select(Assistant)).one()
    assert (user.email, user.email_key, user.user_type, user.status, user.admin_owned) == (
        "Ada@Hillside.example",
        "ada@hillside.example",
        Role.STANDARD,
        UserStatus.ACTIVE,
        False,
    )
    assert (
        organization.name,
        organization.payment_tier,
        organization.assistant_limit,
        organization.user_limit,
    ) == ("Hillside Dental", Tier.BASIC, 4, 1)
    assert organization.tier_since == organization.created_at
    assert (assistant.organization_id, assistant.name, assistant.service, assistant.timezone) == (
        organization.id,
        "Nora",
        "dentist",
        "Europe/London",
    )
    actions = select(AuditEntry.action).order_by(AuditEntry.id)
    assert session.scalars(actions).all() == [
        "partner.created",
        "organization.created",
        "user.created",
        "agent.created",
    ]


@pytest.mark.parametrize("business", [None, "", "   "])
def test_without_a_business_name_the_address_names_the_organization(
    session: Session, business: str | None
) -> None:
    partner = make_partner(session, defaultService="plumber")
    user = make_user(session, partner.id, "ada.l@hillside.example", businessName=business)
    organization = organization_of(session, user)
    assistant = session.scalars(select(Assistant)).one()
    assert (organization.name, organization.payment_tier) == ("ada.l", Tier.FREE)
    assert (assistant.name, assistant.service, assistant.timezone) == ("Assistant", "plumber", None)


@pytest.mark.parametrize("user_type", STAFF)
def test_staff_has_no_organization(session: Session, user_type: Role) -> None:
    partner = make_partner(session)
    user = make_user(
        session,
        partner.id,
        "ada@hillside.example",
        user_type,
        businessName="Ignored",
        tier=Tier.PLUS.value,
        service="ignored",
        agentTimezone="Europe/London",
    )
    assert (user.organization_id, user.admin_owned) == (None, user_type is Role.ADMIN)
    assert session.scalar(select(func.count()).select_from(Organization)) == 0


def test_an_address_is_taken_within_one_partner_only(session: Session) -> None:
    tenant, other_tenant = make_tenant(session), make_tenant(session, "Southbank")
    make_user(session, other_tenant.partner.id, "OLGA@northwind.example")
    with pytest.raises(ValidationFailed) as refused:
        make_user(session, tenant.partner.id, "OLGA@northwind.example", businessName="Second")
    assert refused.value.code == "email_exists"
    names = select(Organization.name).where(Organization.partner_id == tenant.partner.id)
    assert "Second" not in session.scalars(names).all()


def test_an_address_that_grows_in_lower_case_is_refused_not_cut(session: Session) -> None:
    partner = make_partner(session)
    long = f"{'İ' * 60}@{'İ' * 60}.{'İ' * 60}.{'İ' * 60}.example"
    with pytest.raises(ValidationFailed) as refused:
        make_user(session, partner.id, long)
    assert [(p.field, p.code) for p in refused.value.problems] == [("email", "too_long")]


def test_a_partial_user_is_invited_into_an_organization_of_the_caller(session: Session) -> None:
    tenant, other_tenant = make_tenant(session), make_tenant(session, "Southbank")
    tenant.organization.user_limit = 2
    caller = tenant.caller(Role.ADMIN)

    def invite(organization_id: object) -> User:
        sent = {"email": "new@x.example", "orgId": str(organization_id), "name": "New"}
        return users.create_partial(session, caller, read(CreatePartialUserInput, sent))

    refusals = []
    for unknown in (other_tenant.organization.id, new_id()):
        with pytest.raises(NotFound) as refused:
            invite(unknown)
        refusals.append((refused.value.code, refused.value.message))
    assert refusals == [("organization_not_found", "There is no such organization.")] * 2
    made = invite(tenant.organization.id)
    assert (made.organization_id, made.name, made.status, made.user_type) == (
        tenant.organization.id,
        "New",
        UserStatus.INVITED,
        Role.STANDARD,
    )


def test_an_admin_made_by_its_own_operation_is_active_and_owned_by_admins(
    session: Session,
) -> None:
    tenant = make_tenant(session)
    made = users.create_admin(
        session,
        tenant.caller(Role.PARTNER_ADMIN),
        read(CreateAdminInput, {"email": "boss@northwind.example"}),
    )
    assert (made.user_type, made.status, made.admin_owned, made.organization_id) == (
        Role.ADMIN,
        UserStatus.ACTIVE,
        True,
        None,
    )
